// The response schemas of launches and manual runs.
import { z } from "zod";
import type { RunTurn } from "../../model/run/launch.ts";
import { assertionTypes } from "../../model/test-case/assertion.ts";
import { Id, Time, typed } from "../schemas.ts";
import { Run, RunDetail, reasonParts } from "../traces/schemas.ts";

export const Launch = z
  .object({
    id: Id,
    agentId: Id,
    createdAt: Time,
    createdBy: z.object({ id: z.string(), name: z.string() }).nullable(),
    source: z.enum(["dashboard", "api", "cli"]),
    state: z.enum(["queued", "running", "completed", "cancelled"]),
    testCount: z.number(),
    finishedAt: Time.nullable(),
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
      .describe("Its runs by result; open: not finished yet."),
    notFullyEvaluated: z
      .number()
      .describe("Runs with checks that were skipped because the judge was unavailable."),
  })
  .meta({ id: "Launch" });
export type Launch = z.output<typeof Launch>;

const manualRunFields = {
  testId: Id,
  testName: z.string().describe("The name of the test when the run was created."),
  testDeleted: z.boolean().describe("The test case was deleted and cannot be run again."),
  turnCount: z.number(),
  turnsEnded: z.number(),
  fullyEvaluated: z
    .boolean()
    .nullable()
    .describe(
      "False: checks were skipped because the judge was unavailable; they can be evaluated again. Null until the run has completed.",
    ),
  change: z
    .enum(["broke", "mended", "same", "new"])
    .nullable()
    .describe("Compared with the previous run of the same test; null if there is nothing to compare."),
  reason: z.string().nullable().describe("The result in one sentence."),
  ...reasonParts,
  telling: z
    .object({ type: z.enum(assertionTypes), reason: z.string(), ...reasonParts })
    .nullable()
    .describe("The first check with the run's outcome; null if it passed, or if the agent's call failed."),
  flaky: z.boolean().describe("The last ten runs of this version alternated between passed and failed."),
  notices: z
    .array(z.string())
    .describe(
      "no_trace_arrived: the agent sent no trace for some turn. trace_differs: the trace of some turn has another status or reply than the call answered.",
    ),
};

export const LaunchedRun = z
  .object({ ...Run.shape, launchId: Id, ...manualRunFields })
  .meta({ id: "LaunchedRun" });
export type LaunchedRun = z.output<typeof LaunchedRun>;

export const LaunchDetail = Launch.extend({ runs: z.array(LaunchedRun) }).meta({ id: "LaunchDetail" });
export type LaunchDetail = z.output<typeof LaunchDetail>;

const Turn = z.object({
  turn: z.number(),
  input: z.string(),
  requestId: z.string().describe("Sent as x-request-id."),
  w3cTraceId: z.string().describe("Sent in traceparent."),
  startedAt: Time,
  status: z.number().nullable(),
  ms: z.number().nullable().describe("Null until the reply is complete."),
  text: z.string().nullable(),
  error: z.object({ code: z.string(), reason: z.string() }).nullable(),
  arrived: z
    .boolean()
    .nullable()
    .describe("Whether the agent sent a trace for the turn; null while waiting for it."),
  traceId: Id.nullable(),
  replyFrom: z
    .literal("trace")
    .optional()
    .describe("The connection reads the reply from the trace; absent: text is what the call answered."),
  statusInTrace: z.number().optional().describe("Set if the trace has another HTTP status than the call."),
  replyInTrace: z.string().optional().describe("Set if the trace has another reply than the call."),
});

const manual = { ...manualRunFields, turns: z.array(typed<RunTurn>()(Turn.meta({ id: "RunTurn" }))) };

const ManualRun = RunDetail.extend({ launchId: Id, ...manual });
export type ManualRun = z.output<typeof ManualRun>;

/** A run of either kind; passive runs have no manual fields. */
export const AnyRunDetail = RunDetail.extend(z.object(manual).partial().shape).meta({ id: "AnyRunDetail" });
