// The tabs of a test's results: evaluations by outcome, and test runs.
import { Link } from "@tanstack/react-router";
import type { Outcome } from "../../../src/model/run/run.ts";
import { outcomes } from "../../labels.ts";
import type { Within } from "../../queries/test-insights.ts";

const order: Outcome[] = ["failed", "missing_instrumentation", "passed", "skipped"];

/** The outcome in the URL; undefined for all. */
export function outcomeOf(text: string | undefined): Outcome | undefined {
  return order.find(outcome => outcome === text);
}

type OutcomeTabsProps = {
  params: { projectId: string; agentId: string; testId: string };
  outcome: Outcome | undefined;
  period: Within | undefined;
  isManual: boolean;
};

export function OutcomeTabs({ params, outcome, period, isManual }: OutcomeTabsProps) {
  return (
    <nav className="tabs tests-outcomes" aria-label="Results by outcome">
      {[undefined, ...order].map(one => (
        <Link
          key={one ?? "all"}
          to="/projects/$projectId/agents/$agentId/tests/$testId/results"
          params={params}
          search={{ ...period, outcome: one }}
          resetScroll={false}
          className="tab"
          aria-current={one === outcome && !isManual ? "page" : undefined}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          {one ? outcomes[one].text : "All results"}
        </Link>
      ))}
      <Link
        to="/projects/$projectId/agents/$agentId/tests/$testId/results"
        params={params}
        search={{ kind: "manual" }}
        resetScroll={false}
        className="tab"
        aria-current={isManual ? "page" : undefined}
        activeOptions={{ exact: true, includeSearch: true }}
      >
        Test runs
      </Link>
    </nav>
  );
}
