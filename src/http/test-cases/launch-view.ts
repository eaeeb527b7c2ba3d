// The documented shapes of launches and manual runs, and how each is answered.
import { z } from "zod";
import type { Launch, RunTurn } from "../../model/run/launch.ts";
import type { Result } from "../../model/run/run.ts";
import { assertionTypes } from "../../model/test-case/assertion.ts";
import { decodeDetail } from "../../store/runs/detail.ts";
import type { ComparedRun } from "../../store/runs/launches.ts";
import { RunDetail, reasonParts, runFields } from "../traces/schemas.ts";
import { runDetailView, runView } from "../traces/view.ts";
import { Id } from "../validate.ts";

const time = z.iso.datetime();

export const LaunchShape = z
  .object({
    id: Id,
    agentId: Id,
    createdAt: time,
    createdBy: z.object({ id: z.string(), name: z.string() }).nullable(),
    source: z.enum(["dashboard", "api", "cli"]),
    state: z.enum(["queued", "running", "completed", "cancelled"]),
    testCount: z.number(),
    finishedAt: time.nullable(),
    counts: z
      .object({
        passed: z.number(),
        failed: z.number(),
        skipped: z.number(),
        missing_instrumentation: z.number(),
        error: z.number(),
        cancelled: z.number(),
        open: z.number(),
      })
      .describe("Of its runs, by how they ended; open: those that have not."),
  })
  .meta({ id: "Launch" });

const compared = {
  testId: Id,
  testName: z.string().describe("As it was when the run was made."),
  testDeleted: z.boolean().describe("The test case is not there any more, so it cannot be run again."),
  turnCount: z.number(),
  turnsEnded: z.number(),
  change: z
    .enum(["broke", "mended", "same", "new"])
    .nullable()
    .describe("Against the run before it of the same test; null where there is nothing to compare."),
  reason: z.string().nullable().describe("The result in a sentence."),
  telling: z
    .object({ type: z.enum(assertionTypes), reason: z.string(), ...reasonParts })
    .nullable()
    .describe("The first check with the run's outcome; null if it passed."),
  flaky: z.boolean().describe("Its last ten runs of this version went back and forth."),
  notices: z.array(z.string()).describe("no_trace_arrived: of some turn the agent sent no trace."),
};

const LaunchedRun = z
  .object({
    ...runFields,
    ...compared,
  })
  .meta({ id: "LaunchedRun" });

export const LaunchDetail = LaunchShape.extend({ runs: z.array(LaunchedRun) }).meta({ id: "LaunchDetail" });

const Turn = z
  .object({
    turn: z.number(),
    input: z.string(),
    requestId: z.string().describe("Sent as x-request-id."),
    w3cTraceId: z.string().describe("Sent in traceparent."),
    startedAt: time,
    status: z.number().nullable(),
    ms: z.number().nullable().describe("Null while the reply is awaited."),
    text: z.string().nullable(),
    error: z.object({ code: z.string(), reason: z.string() }).nullable(),
    arrived: z
      .boolean()
      .nullable()
      .describe("Whether the agent sent a trace of it; null while it is awaited."),
    traceId: Id.nullable(),
  })
  .meta({ id: "RunTurn" });

/** A run of either kind; what only manual runs have is left out of others. */
export const AnyRunDetail = RunDetail.extend(
  z.object({ ...compared, turns: z.array(Turn) }).partial().shape,
).meta({ id: "AnyRunDetail" });

/** With the turns so far. */
export function manualRunView(run: ComparedRun, turns: RunTurn[]) {
  return { ...runDetailView(run), ...comparedView(run), turns };
}

export function launchView(launch: Launch) {
  const { createdAt, finishedAt, ...rest } = launch;
  return { ...rest, createdAt: createdAt.toISOString(), finishedAt: finishedAt?.toISOString() ?? null };
}

export function launchDetailView(launch: Launch, runs: ComparedRun[]) {
  return {
    ...launchView(launch),
    runs: runs.map(run => ({ ...runView(run), ...comparedView(run) })),
  };
}

function tellingOf({ outcome, checks }: Result) {
  const check = outcome === "passed" ? undefined : checks.find(one => one.outcome === outcome);
  if (!check) return null;
  const { type, reason, reasonCode, reasonData } = check;
  return { type, reason, ...(reasonCode && { reasonCode }), ...(reasonData && { reasonData }) };
}

function comparedView(run: ComparedRun) {
  const { launchId, testId, test, testDeleted, turnsEnded, change, flaky, unseen } = run;
  const [result] = decodeDetail(run.detail).results;
  return {
    launchId,
    testId,
    testName: test.name,
    testDeleted,
    turnCount: test.turns.length,
    turnsEnded,
    change,
    reason: result?.reason ?? null,
    telling: result ? tellingOf(result) : null,
    flaky,
    notices: unseen ? ["no_trace_arrived"] : [],
  };
}
