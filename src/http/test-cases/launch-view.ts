// Maps stored launches and manual runs to API responses.
import type { RunTurn } from "../../model/run/launch.ts";
import type { ReasonFields } from "../../model/run/reason-text.ts";
import type { Result } from "../../model/run/run.ts";
import { decodeDetail } from "../../store/runs/detail.ts";
import type { ComparedRun } from "../../store/runs/launched-runs.ts";
import { runDetailView, runView } from "../traces/view.ts";
import type { LaunchedRun, ManualRun } from "./launch-schemas.ts";

/** With the turns so far. */
export function manualRunView(run: ComparedRun, turns: RunTurn[]): ManualRun {
  return { ...runDetailView(run), ...comparedView(run), turns };
}

export function launchedRunView(run: ComparedRun): LaunchedRun {
  return { ...runView(run), ...comparedView(run) };
}

function tellingOf({ outcome, checks, reasonCode }: Result) {
  const isTold = outcome === "passed" || reasonCode === "agent_error";
  const check = isTold ? undefined : checks.find(one => one.outcome === outcome);
  if (!check) return null;
  return { type: check.type, ...reasonOf(check) };
}

function reasonOf({ reason, reasonCode, reasonData }: ReasonFields) {
  return { reason, reasonCode, ...(reasonData && { reasonData }) };
}

function comparedView(run: ComparedRun) {
  const { launchId, testId, testName, testDeleted, row, repeat, input, turnCount, turnsEnded } = run;
  const { change, firstRun, flaky, unseen, differs, changedSince, waitedMs } = run;
  const [result] = decodeDetail(run.detail).results;
  return {
    launchId,
    testId,
    testName,
    testDeleted,
    row,
    repeat,
    input,
    turnCount,
    turnsEnded,
    checkCounts: result?.counts ?? null,
    change,
    firstRun,
    ...(result ? reasonOf(result) : { reason: null }),
    telling: result ? tellingOf(result) : null,
    flaky,
    waitedMs,
    notices: [
      ...(unseen ? ["no_trace_arrived"] : []),
      ...(differs ? ["trace_differs"] : []),
      ...(changedSince ? ["judged_earlier_revision"] : []),
    ],
  };
}
