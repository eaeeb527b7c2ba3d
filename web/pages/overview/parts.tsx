// Parts of the overview's sections: a titled card, a number that opens its list, and a test with its number.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useId } from "react";
import type { Overview } from "../../../src/http/projects/overview-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import { resultsIn } from "./lists.ts";

export type Params = { projectId: string; agentId: string };
export type SectionProps = { overview: Overview; params: Params };

export function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className="card stack-tight" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** A link to the traces that a number counts. */
export function CountLink({
  params,
  search,
  children,
}: {
  params: Params;
  search: TraceSearch;
  children: ReactNode;
}) {
  return (
    <Link to="/projects/$projectId/agents/$agentId/traces" params={params} search={search}>
      {children}
    </Link>
  );
}

type TestRowProps = {
  test: { testId: string; name: string };
  params: Params;
  within: { from: string; to: string };
  outcome: Outcome;
  /** The number with its noun. */
  count: ReactNode;
  children?: ReactNode;
};

/** A test, linked to its editor, and a number, linked to the results that it counts. */
export function TestRow({ test: { testId, name }, params, within, outcome, count, children }: TestRowProps) {
  const to = { ...params, testId };
  return (
    <li>
      <div className="overview-row">
        <Link
          className="overview-name"
          title={name}
          to="/projects/$projectId/agents/$agentId/tests/$testId"
          params={to}
        >
          <bdi>{name}</bdi>
        </Link>
        <Link
          className="overview-number"
          to="/projects/$projectId/agents/$agentId/tests/$testId/results"
          params={to}
          search={resultsIn(within, outcome)}
        >
          {count}
        </Link>
      </div>
      {children}
    </li>
  );
}
