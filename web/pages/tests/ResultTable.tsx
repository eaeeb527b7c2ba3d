// The results of one test case, newest first, each leading to its evaluation in the trace.

import { Link } from "@tanstack/react-router";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { RunDetail } from "../../../src/http/traces/schemas.ts";
import type { Result } from "../../../src/model/run/run.ts";
import type { TestCaseDocument } from "../../../src/model/test-case/test-case.ts";
import { JudgeAgain } from "../../forms/JudgeAgain.tsx";
import { documentOf } from "../../forms/test-changes.ts";
import { checkTypes, counted, outcomes } from "../../labels.ts";
import { Badge } from "../../ui/Badge.tsx";
import { RelativeTime } from "../../ui/Time.tsx";

type ResultTableProps = {
  runs: readonly RunDetail[];
  test: ListedTest;
  params: { projectId: string; agentId: string };
};

export function ResultTable({ runs, test, params }: ResultTableProps) {
  const present = judgingPart(test);
  return (
    <div className="table-wrap">
      <table className="table tests-results">
        <thead>
          <tr>
            {["Judged", "Outcome", "Reason", "Trace"].map(heading => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.flatMap(run =>
            run.results.map(result => (
              <ResultRow
                key={run.id}
                run={run}
                result={result}
                isChanged={judgingPart(result.test) !== present}
                params={params}
              />
            )),
          )}
        </tbody>
      </table>
    </div>
  );
}

type ResultRowProps = {
  run: RunDetail;
  result: Result;
  /** The test has been changed since. */
  isChanged: boolean;
  params: ResultTableProps["params"];
};

function ResultRow({ run, result, isChanged, params }: ResultRowProps) {
  const { counts } = result;
  const counting = counts.passed + counts.failed;
  // The first check that made it so; of one that passed there is nothing to say of a single check.
  const telling =
    result.outcome === "passed" ? undefined : result.checks.find(({ outcome }) => outcome === result.outcome);
  const { traceId } = run;
  return (
    <tr>
      <th scope="row">
        <RelativeTime at={run.finishedAt ?? run.createdAt} />
        {run.kind === "manual" && <span className="tests-under">Manual run</span>}
        {run.cause === "again" && <span className="tests-under">Judged again</span>}
      </th>
      <td data-label="Outcome">
        <span className="tests-cell">
          <Badge word={outcomes[result.outcome]} />
          <span className="tests-under">
            {counting === 0 ? "Nothing counted" : `${counts.passed} of ${counted(counting, "check")} passed`}
          </span>
        </span>
      </td>
      <td data-label="Reason" className="tests-reason">
        <span className="tests-cell">
          <span className="break">
            {telling ? `${checkTypes[telling.type]}: ${telling.reason}` : result.reason}
          </span>
          {telling && <span className="tests-under">{result.reason}</span>}
          {run.outage && isOutage(result) && traceId !== null && (
            <span>
              <JudgeAgain projectId={params.projectId} agentId={run.agentId} traceId={traceId} />
            </span>
          )}
          {isChanged && <span className="tests-under">The test case has been changed since.</span>}
        </span>
      </td>
      <td data-label="Trace">
        {traceId !== null && (
          <Link
            to="/projects/$projectId/agents/$agentId/traces/$traceId"
            params={{ ...params, traceId }}
            search={{ test: result.testId, run: run.id }}
          >
            Open trace<span className="unseen"> {traceId}</span>
          </Link>
        )}
      </td>
    </tr>
  );
}

/** Whether it was this test of the run that an outage left unjudged. */
function isOutage({ checks }: Result): boolean {
  return checks.some(({ skipped }) => skipped === "judge_unavailable" || skipped === "judge_unusable");
}

/** All of a test that its outcome depends on, as a text. */
function judgingPart(test: TestCaseDocument): string {
  const { name: _, status: __, passiveBehavior: ___, ...judging } = documentOf(test);
  return JSON.stringify(judging);
}
