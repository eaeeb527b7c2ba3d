// The tests that did not run on the trace, each with why.
import { Link } from "@tanstack/react-router";
import { counted, type Why, whys } from "../../../labels.ts";
import type { ListedTest } from "../../../shapes.ts";
import { useTrace } from "./context.ts";
import { Scenario } from "./Scenario.tsx";

export type NotRunTest = { testId: string; name: string; why: Why; reason?: string };

type NotRunProps = { tests: NotRunTest[]; nowOf: (testId: string) => ListedTest | null | undefined };

export function NotRun({ tests, nowOf }: NotRunProps) {
  const { params } = useTrace();
  if (tests.length === 0) return null;
  return (
    <section className="not-run" aria-label="Tests that did not run">
      <h3>{counted(tests.length, "test")} did not run</h3>
      <ul className="tests">
        {tests.map(({ testId, name, ...applicability }) => {
          const now = nowOf(testId);
          return (
            <li key={testId} className="test">
              <h4>
                {now === null ? (
                  <bdi>{name}</bdi>
                ) : (
                  <Link
                    to="/projects/$projectId/agents/$agentId/tests/$testId"
                    params={{ ...params, testId }}
                  >
                    <bdi>{name}</bdi>
                  </Link>
                )}
              </h4>
              <p>{whys[applicability.why]}</p>
              <Scenario scenario={now?.scenario} applicability={applicability} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}
