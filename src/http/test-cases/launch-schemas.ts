// The response schemas of launches and manual runs.
import { z } from "zod";
import { launchChanges, type RunTurn } from "../../model/run/launch.ts";
import { assertionTypes } from "../../model/test-case/assertion.ts";
import { Id, Time, typed } from "../frame/schemas.ts";
import { Redactions } from "../privacy-schemas.ts";
import { Counts, reasonParts } from "../traces/result-schemas.ts";
import { Run, RunDetail } from "../traces/run-schemas.ts";

const counts = z
  .object({
    passed: z.number(),
    failed: z.number(),
    skipped: z.number(),
    missing_instrumentation: z.number(),
    error: z.number(),
    cancelled: z.number(),
    open: z.number(),
  })
  .describe("Runs by result; open: not finished yet.");

export const PassRate = z
  .object({
    passed: z.number(),
    of: z
      .number()
      .describe("The fully evaluated runs that passed or failed; failed calls of the agent are failed."),
    share: z.number().describe("From 0 to 1."),
    low: z.number().describe("Lower limit of the 95 % Wilson interval."),
    high: z.number().describe("Upper limit of the 95 % Wilson interval."),
  })
  .meta({ id: "PassRate" });
export type PassRate = z.output<typeof PassRate>;

const passRate = PassRate.nullable().describe(
  "Share of passed runs. Not counted: runs that were skipped, lack instrumentation, ended without a result, were canceled, are open, or are not fully evaluated. Null if no run counts.",
);

const notFullyEvaluated = z
  .number()
  .describe("Runs, of any outcome, with checks that should have been judged and were not.");

const RunSummary = z
  .object({ runs: z.number(), counts, notFullyEvaluated, passRate })
  .meta({ id: "RunSummary" });
export type RunSummary = z.output<typeof RunSummary>;

export const Launch = z
  .object({
    id: Id,
    agentId: Id,
    createdAt: Time,
    createdBy: z.object({ id: z.string(), name: z.string() }).nullable(),
    source: z.enum(["dashboard", "api", "cli"]),
    state: z.enum(["queued", "running", "completed", "cancelled"]),
    testCount: z.number(),
    runCount: z.number().describe("Of each test: inputs × repeats."),
    finishedAt: Time.nullable(),
    counts,
    passRate,
    notFullyEvaluated,
    outages: z
      .number()
      .describe("Those of them for which the judge was unavailable; they can be evaluated again."),
  })
  .meta({ id: "Launch" });
export type Launch = z.output<typeof Launch>;

const testNames = {
  testId: Id,
  testName: z.string().describe("The name of the test when the run was created."),
  testDeleted: z.boolean().describe("The test case was deleted and cannot be run again."),
};

const row = z.number().nullable();
const shortInput = z.string().nullable().describe("Shortened to 200 characters; null without inputs.");

const manualRunFields = {
  ...testNames,
  row: row.describe("The position of the run's input in the test's inputs, from 1; null without inputs."),
  repeat: z.number().nullable().describe("Counted from 1; null without repeats."),
  input: shortInput,
  turnCount: z.number(),
  turnsEnded: z.number(),
  checkCounts: Counts.nullable().describe("The checks of the test by outcome; null until they are known."),
  change: z
    .enum(["broke", "mended", "same", "new"])
    .nullable()
    .describe(
      "Compared with the previous launch that has a fully evaluated result of the same test and input; null if the run has none. If repeats disagreed there, same.",
    ),
  firstRun: z.boolean().describe("No earlier launch ran the test."),
  reason: z.string().nullable().describe("The result in one sentence."),
  ...reasonParts,
  reasonCode: reasonParts.reasonCode.optional(),
  telling: z
    .object({ type: z.enum(assertionTypes), reason: z.string(), ...reasonParts })
    .nullable()
    .describe("The first check with the run's outcome; null if it passed, or if the agent's call failed."),
  flaky: z
    .boolean()
    .describe("The last ten runs of this version and input alternated between passed and failed."),
  notices: z
    .array(z.string())
    .describe(
      "no_trace_arrived: the agent sent no trace for some turn. trace_differs: the trace of some turn has another status or reply than the call answered. judged_earlier_revision: the trace of some turn has changed since; the run can be evaluated again.",
    ),
  waitedMs: z
    .number()
    .nullable()
    .describe(
      "How long Onlooker waited for traces after the replies: not the agent’s own time. Null if it did not.",
    ),
};

export const LaunchedRun = z
  .object({ ...Run.shape, launchId: Id, ...manualRunFields })
  .meta({ id: "LaunchedRun" });
export type LaunchedRun = z.output<typeof LaunchedRun>;

const LaunchTest = RunSummary.extend({
  ...testNames,
  inputCount: z.number().describe("When the launch was created; 0 without inputs."),
  repeats: z.number().describe("The same; 1 without repeats."),
}).meta({ id: "LaunchTest" });
export type LaunchTest = z.output<typeof LaunchTest>;

export const LaunchDetail = Launch.extend({
  tests: z.array(LaunchTest).describe("In the order of the launch."),
  previousId: Id.nullable().describe("The latest earlier launch with the same tests, to compare with."),
  waiting: z
    .object({ runs: z.number(), reason: z.string() })
    .nullable()
    .describe("The runs that wait for the judge, with the reason of one of them."),
  tracesChanged: z
    .number()
    .describe("Runs with a trace that has changed since they were evaluated; they can be evaluated again."),
  runs: z.array(LaunchedRun).describe("The first `limit` runs, by test, input and repeat."),
  nextCursor: z.string().nullable().describe("For more: GET /api/launches/:id/runs."),
}).meta({ id: "LaunchDetail" });
export type LaunchDetail = z.output<typeof LaunchDetail>;

export const LaunchEstimate = z
  .object({
    tests: z.number(),
    runs: z.number(),
    requests: z.number().describe("Sent to the agent: one per turn of each run."),
    semanticChecks: z.number().describe("Asked of the judge, at most."),
  })
  .meta({ id: "LaunchEstimate" });
export type LaunchEstimate = z.output<typeof LaunchEstimate>;

const before = RunSummary.nullable().describe("In the launch `with`; null if it has no such runs.");
const after = RunSummary.nullable().describe("In this launch; null if it has no such runs.");

const Difference = z
  .object({
    broke: z.number(),
    mended: z.number(),
    significant: z
      .boolean()
      .describe(
        "More than chance: at least ten pairs of the same test and input differ, by an exact two-sided sign test at 0.05.",
      ),
  })
  .describe("The pairs of the same test and input that differ.");

const ComparedTest = z
  .object({ ...testNames, before, after, difference: Difference })
  .meta({ id: "ComparedTest" });
export type ComparedTest = z.output<typeof ComparedTest>;

const ComparedInput = z
  .object({
    id: Id.describe("Of the first of the runs."),
    testId: Id,
    row: row.describe(
      "The position of the input in this launch; null if it is not there, or without inputs.",
    ),
    rowBefore: row.describe("The same in the launch `with`."),
    input: shortInput,
    before,
    after,
    change: z
      .enum(launchChanges)
      .nullable()
      .describe(
        "From the launch `with` to this one. A test passes with an input if more than half of its runs do; skipped runs and runs that are not fully evaluated are left out. Null if one of the launches has no other.",
      ),
  })
  .meta({ id: "ComparedInput" });
export type ComparedInput = z.output<typeof ComparedInput>;

export const LaunchComparison = z
  .object({
    launch: Launch,
    with: Launch,
    difference: Difference,
    changes: z
      .object({
        broke: z.number(),
        mended: z.number(),
        same: z.number(),
        new: z.number(),
        gone: z.number(),
        undecided: z.number().describe("One of the launches has no fully evaluated result."),
      })
      .describe("All items of the comparison by change, whatever the filters."),
    tests: z.array(ComparedTest).describe("The tests of this page's items."),
    items: z.array(ComparedInput).describe("One per test and input, by text; one per test without inputs."),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "LaunchComparison" });
export type LaunchComparison = z.output<typeof LaunchComparison>;

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
  redactions: Redactions.optional().describe(
    "How many values privacy rules redacted in `text` and in the reason of `error`; absent: none.",
  ),
  arrived: z
    .boolean()
    .nullable()
    .describe("Whether the agent sent a trace for the turn; null while waiting for it."),
  waitedMs: z
    .number()
    .optional()
    .describe(
      "How long the trace was waited for after the reply; absent: not at all, or the reply was in it.",
    ),
  traceId: Id.nullable(),
  replyFrom: z
    .literal("trace")
    .optional()
    .describe("The connection reads the reply from the trace; absent: text is what the call answered."),
  statusInTrace: z.number().optional().describe("Set if the trace has another HTTP status than the call."),
  replyInTrace: z.string().optional().describe("Set if the trace has another reply than the call."),
  content: z
    .enum(["none", "forgotten"])
    .optional()
    .describe("Set where the reply was not stored, or has been forgotten."),
});

const manual = { ...manualRunFields, turns: z.array(typed<RunTurn>()(Turn.meta({ id: "RunTurn" }))) };

const ManualRun = RunDetail.extend({ launchId: Id, ...manual });
export type ManualRun = z.output<typeof ManualRun>;

/** A run of either kind; passive runs have no manual fields. */
export const AnyRunDetail = RunDetail.extend(z.object(manual).partial().shape).meta({ id: "AnyRunDetail" });
