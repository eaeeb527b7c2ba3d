// The runs of a launch, a row each: what came of it, why, and against the run before.
import { Link } from "@tanstack/react-router";
import { durationText } from "../../format.ts";
import { checkTypes, counted } from "../../labels.ts";
import type { LaunchedRun } from "../../queries/launches.ts";
import { Compared, RunOutcome } from "./RunOutcome.tsx";

type RunTableProps = {
  runs: readonly LaunchedRun[];
  params: { projectId: string; agentId: string; launchId: string };
};

export function RunTable({ runs, params }: RunTableProps) {
  return (
    <div className="table-wrap">
      <table className="table runs-table">
        <thead>
          <tr>
            <th scope="col">Test case</th>
            <th scope="col" className="runs-outcome-column">
              Outcome
            </th>
            <th scope="col">Reason</th>
            <th scope="col" className="runs-figure-column">
              Turns
            </th>
            <th scope="col" className="runs-figure-column">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map(run => (
            <RunRow key={run.id} run={run} params={params} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run, params }: { run: LaunchedRun; params: RunTableProps["params"] }) {
  const { startedAt, finishedAt } = run;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
          params={{ ...params, runId: run.id }}
        >
          <bdi>{run.testName}</bdi>
        </Link>
      </th>
      <td data-label="Outcome">
        <span className="runs-cell">
          <RunOutcome run={run} />
          <Compared run={run} />
        </span>
      </td>
      <td data-label="Reason">
        <span className="runs-cell">
          <span className="break">
            <Reason run={run} />
          </span>
          {run.telling && <span className="runs-under">{run.reason}</span>}
          {run.notices.includes("no_trace_arrived") && (
            <span className="runs-under">The agent sent no trace of it.</span>
          )}
          {run.testDeleted && <span className="runs-under">The test case is deleted.</span>}
        </span>
      </td>
      <td data-label="Turns">
        {run.turnsEnded === run.turnCount
          ? counted(run.turnCount, "turn")
          : `${run.turnsEnded} of ${counted(run.turnCount, "turn")}`}
      </td>
      <td data-label="Took">
        {startedAt && finishedAt ? durationText(Date.parse(finishedAt) - Date.parse(startedAt)) : "–"}
      </td>
    </tr>
  );
}

function Reason({ run: { state, error, telling, reason, waiting } }: { run: LaunchedRun }) {
  if (error !== null) return error;
  if (telling) return `${checkTypes[telling.type]}: ${telling.reason}`;
  if (reason !== null) return reason;
  if (state === "cancelled") return <span className="quiet">None: it was cancelled</span>;
  return <span className="quiet">{waiting ? waiting.reason : "Not yet"}</span>;
}
