// The tests that did not run on the trace and why, and those still to run.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../../src/http/test-cases/schemas.ts";
import type { RunDetail } from "../../../../src/http/traces/run-schemas.ts";
import type { TraceOutline } from "../../../../src/http/traces/schemas.ts";
import { counted, type Why, whys } from "../../../labels.ts";
import { Button } from "../../../ui/Button.tsx";
import { useTrace } from "./context.ts";
import { Scenario } from "./Scenario.tsx";

type NotRunTest = Omit<RunDetail["tests"][number], "why" | "applied"> & { why: Why };
type GroupProps = { tests: NotRunTest[]; heading: string; nowOf: NowOf; isEvaluated: boolean };
type NowOf = (testId: string) => ListedTest | null | undefined;

const shownMax = 20;

export function NotRun({ run, nowOf }: { run: RunDetail | undefined; nowOf: NowOf }) {
  const { trace } = useTrace();
  // A manual run is of one test only.
  if (trace.kind === "test_run") return null;
  const tests = testsWithoutResult(run, trace.tests);
  const isToCome = ({ why }: NotRunTest) => why === "pending" || why === "routing_waiting";
  const toCome = tests.filter(isToCome);
  const others = tests.filter(test => !isToCome(test));
  const shared = { nowOf, isEvaluated: run?.state === "completed" };
  return (
    <>
      <Group tests={toCome} heading={`${counted(toCome.length, "test")} still to run`} {...shared} />
      <Group tests={others} heading={`${counted(others.length, "test")} did not run`} {...shared} />
    </>
  );
}

function Group({ tests, heading, nowOf, isEvaluated }: GroupProps) {
  const [all, setAll] = useState(false);
  if (tests.length === 0) return null;
  const shown = all ? tests : tests.slice(0, shownMax);
  return (
    <section className="not-run" aria-label={heading}>
      <h3>{heading}</h3>
      <ul className="judged-tests">
        {shown.map(test => (
          <li key={test.testId} className="test">
            <Item test={test} now={nowOf(test.testId)} isEvaluated={isEvaluated} />
          </li>
        ))}
      </ul>
      {shown.length < tests.length && <Button onClick={() => setAll(true)}>Show all {tests.length}</Button>}
    </section>
  );
}

function Item({
  test: { testId, name, ...applicability },
  now,
  isEvaluated,
}: {
  test: NotRunTest;
  now: ReturnType<NowOf>;
  isEvaluated: boolean;
}) {
  const { params } = useTrace();
  return (
    <>
      <h4>
        {now === null ? (
          <bdi>{name}</bdi>
        ) : (
          <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={{ ...params, testId }}>
            <bdi>{name}</bdi>
          </Link>
        )}
      </h4>
      <p>
        {isEvaluated && applicability.why === "not_evaluated"
          ? "It was created or changed after this evaluation."
          : whys[applicability.why]}
      </p>
      <Scenario testId={testId} name={name} scenario={now?.scenario} applicability={applicability} />
    </>
  );
}

/** Reasons that hold for every run; others, found by another run, say nothing about this one. */
const forEveryRun: readonly Why[] = ["disabled", "manual_only", "multi_turn", "pending", "not_evaluated"];

function testsWithoutResult(run: RunDetail | undefined, tests: TraceOutline["tests"]): NotRunTest[] {
  const known = run?.tests ?? [];
  const isOpen = run?.state === "pending" || run?.state === "running";
  const unknown = tests
    .filter(({ testId }) => !known.some(test => test.testId === testId))
    .map(({ testId, name, why }): NotRunTest => {
      if (forEveryRun.includes(why)) return { testId, name, why };
      return { testId, name, why: isOpen ? "pending" : "not_evaluated" };
    });
  return [...known, ...unknown].filter(
    ({ testId }) => !run?.results.some(result => result.testId === testId),
  );
}
