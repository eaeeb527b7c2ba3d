// Table of test runs: outcome, change since the previous run, reason and turns.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LaunchedRun } from "../../../src/http/test-cases/launch-schemas.ts";
import { durationText, numberText } from "../../format.ts";
import { checkTypes, counted } from "../../labels.ts";
import { reasonText } from "../../reasons.ts";
import { useRowKeys } from "../../shell/row-keys.ts";
import { Button } from "../../ui/Button.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { Compared, RunOutcome } from "./RunOutcome.tsx";

/** Rows beyond this number are shown on request. */
const shownMax = 200;

type RunTableProps = {
  runs: readonly LaunchedRun[];
  params: { projectId: string; agentId: string };
  /** The first column: the test, or the time if all rows are of one test. */
  by?: "test" | "time";
};

export function RunTable({ runs, params, by = "test" }: RunTableProps) {
  const table = useRowKeys("test run");
  const [all, setAll] = useState(false);
  const shown = all ? runs : runs.slice(0, shownMax);
  return (
    <>
      <div className="table-wrap">
        <table className="table runs-table" ref={table}>
          <thead>
            <tr>
              <th scope="col" className="runs-name-column">
                {by === "test" ? "Test case" : "Test run"}
              </th>
              <th scope="col" className="runs-outcome-column">
                Outcome
              </th>
              <th scope="col">Reason</th>
              <th scope="col" className="runs-figure-column">
                Turns
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(run => (
              <RunRow key={run.id} run={run} params={params} by={by} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < runs.length && (
        <div className="more">
          <Button onClick={() => setAll(true)}>Show all {runs.length}</Button>
        </div>
      )}
    </>
  );
}

type RunRowProps = { run: LaunchedRun; params: RunTableProps["params"]; by: "test" | "time" };

function RunRow({ run, params, by }: RunRowProps) {
  const { startedAt, finishedAt, waitedMs } = run;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
          params={{ ...params, launchId: run.launchId, runId: run.id }}
        >
          {by === "test" ? <bdi>{run.testName}</bdi> : <RelativeTime at={run.createdAt} />}
        </Link>
      </th>
      <td>
        <span className="runs-cell-line">
          <RunOutcome run={run} />
          <Compared run={run} />
        </span>
      </td>
      <td>
        <span className="runs-cell">
          <span className="break">
            <Reason run={run} />
          </span>
          {run.row !== null && (
            <span className="runs-under">
              Input {numberText(run.row)}
              {run.repeat !== null && `, repeat ${run.repeat}`}: <bdi>{run.input}</bdi>
            </span>
          )}
          {run.row === null && run.repeat !== null && <span className="runs-under">Repeat {run.repeat}</span>}
          {run.testDeleted && <span className="runs-under">Test case deleted</span>}
        </span>
      </td>
      <td>
        <span className="runs-cell-line">
          {run.turnsEnded === run.turnCount
            ? counted(run.turnCount, "turn")
            : `${run.turnsEnded} of ${counted(run.turnCount, "turn")}`}
          {startedAt && finishedAt && (
            <span className="quiet small">
              {durationText(Date.parse(finishedAt) - Date.parse(startedAt) - (waitedMs ?? 0))}
            </span>
          )}
          {waitedMs !== null && run.notices.includes("no_trace_arrived") && (
            <span className="quiet small">+ {durationText(waitedMs)} waiting for a trace</span>
          )}
        </span>
      </td>
    </tr>
  );
}

export function Reason({ run }: { run: LaunchedRun }) {
  const { state, error, telling, reason, waiting } = run;
  if (error !== null) return error;
  if (telling) return `${checkTypes[telling.type]}: ${reasonText(telling)}`;
  if (reason !== null) return reasonText({ ...run, reason });
  if (state === "cancelled") return <span className="quiet">Cancelled</span>;
  return <span className="quiet">{waiting ? waiting.reason : "Not finished"}</span>;
}
