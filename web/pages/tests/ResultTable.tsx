// The results of one test case, newest first, each with a link to its evaluation in the trace.

import { Link } from "@tanstack/react-router";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { RunDetail } from "../../../src/http/traces/run-schemas.ts";
import type { Result } from "../../../src/model/run/run.ts";
import type { TestCaseDocument } from "../../../src/model/test-case/document.ts";
import { passedText } from "../../format.ts";
import { Reevaluate } from "../../forms/Reevaluate.tsx";
import { checkTypes, outcomeWord } from "../../labels.ts";
import { reasonText } from "../../reasons.ts";
import { Badge } from "../../ui/Badge.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { TraceText } from "../../ui/TraceText.tsx";

type ResultTableProps = {
  runs: readonly RunDetail[];
  test: ListedTest;
  params: { projectId: string; agentId: string };
};

export function ResultTable({ runs, test, params }: ResultTableProps) {
  const current = evaluatedPart(test);
  return (
    <div className="table-wrap">
      <table className="table tests-results">
        <thead>
          <tr>
            {["Evaluated", "Outcome", "Reason", "Trace"].map(heading => (
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
                isChanged={evaluatedPart(result.test) !== current}
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
  /** The test was changed after this evaluation. */
  isChanged: boolean;
  params: ResultTableProps["params"];
};

function ResultRow({ run, result, isChanged, params }: ResultRowProps) {
  const { counts } = result;
  // The first check with the outcome of the test. A passed test has no single check to point out.
  const decisive =
    result.outcome === "passed" ? undefined : result.checks.find(({ outcome }) => outcome === result.outcome);
  const { traceId } = run;
  return (
    <tr>
      <th scope="row">
        <RelativeTime at={run.finishedAt ?? run.createdAt} />
        {run.kind === "manual" && <span className="tests-under">Test run</span>}
        {run.cause === "again" && <span className="tests-under">Re-evaluated</span>}
      </th>
      <td data-label="Outcome">
        <span className="tests-cell">
          <Badge word={outcomeWord(result.outcome, result.fullyEvaluated)} />
          <span className="tests-under">{passedText(counts, "check") ?? "No check passed or failed"}</span>
        </span>
      </td>
      <td data-label="Reason" className="tests-reason">
        <span className="tests-cell">
          <span className="break">
            <TraceText
              text={decisive ? `${checkTypes[decisive.type]}: ${reasonText(decisive)}` : result.reason}
            />
          </span>
          {decisive && <span className="tests-under">{result.reason}</span>}
          {run.outage && hasUnjudgedChecks(result) && traceId !== null && (
            <span>
              <Reevaluate projectId={params.projectId} agentId={run.agentId} what={{ traceIds: [traceId] }} />
            </span>
          )}
          {isChanged && <span className="tests-under">Test changed since</span>}
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

/** Whether checks of this test, not of another one in the run, were skipped because the judge was unavailable. */
function hasUnjudgedChecks({ checks }: Result): boolean {
  return checks.some(({ skipped }) => skipped === "judge_unavailable" || skipped === "judge_unusable");
}

/** The fields that affect the outcome, as text. */
function evaluatedPart(test: TestCaseDocument): string {
  const { scenario, threshold, turns, assertions } = test;
  return JSON.stringify({ scenario, threshold, turns, assertions });
}
