// The tests that are failing on live traffic, those that began last first.
import { Link } from "@tanstack/react-router";
import { numberText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { FailingSince } from "../tests/Failing.tsx";
import { Section, type SectionProps, TestRow } from "./parts.tsx";

export function FailingTests({ overview: { failing, results, eligibleTests }, params }: SectionProps) {
  return (
    <Section title="Failing tests">
      {failing.tests.length === 0 ? (
        <p className="quiet">
          {eligibleTests === 0
            ? "No test evaluates live traffic."
            : "No test is failing. That takes three failures in a row."}
        </p>
      ) : (
        <ul className="overview-list">
          {failing.tests.map(({ since, traceId, failures, ...test }) => (
            <TestRow
              key={test.testId}
              test={test}
              params={params}
              within={results.now}
              outcome="failed"
              count={counted(failures, "failure")}
            >
              <span className="line">
                <FailingSince failing={{ since, traceId }} />
                {traceId && (
                  <Link
                    className="small"
                    to="/projects/$projectId/agents/$agentId/traces/$traceId"
                    params={{ ...params, traceId }}
                    search={{ test: test.testId }}
                  >
                    First failing trace
                  </Link>
                )}
              </span>
            </TestRow>
          ))}
        </ul>
      )}
      {failing.total > failing.tests.length && (
        <Link
          className="small"
          to="/projects/$projectId/agents/$agentId/tests"
          params={params}
          search={{ last: "failing" }}
        >
          All {numberText(failing.total)} failing tests
        </Link>
      )}
    </Section>
  );
}
