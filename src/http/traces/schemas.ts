// The documented shapes of traces, runs and results; field names inside spans and assertions are their own.
import { z } from "zod";
import { Id } from "../validate.ts";

const time = z.iso.datetime();
export const Outcome = z.enum(["passed", "failed", "skipped", "missing_instrumentation"]);
export const Counts = z.object({
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  missing_instrumentation: z.number(),
});
// Never looked into: a record would be copied without its key `__proto__`.
const Attributes = z.unknown().meta({ type: ["object", "null"], additionalProperties: true });

const suspicious = z
  .string()
  .optional()
  .describe("Why the text that was judged looks as if it were addressed to a judge.");

/** What the sentence in `reason` is made of. */
export const reasonParts = {
  reasonCode: z.string().optional().describe("The kind of reason. Absent in older results."),
  reasonData: z
    .looseObject({})
    .optional()
    .describe("The names and numbers in the reason, by its code; absent where it has none."),
};

const Check = z
  .looseObject({
    id: z.string(),
    type: z.string(),
    outcome: Outcome,
    reason: z.string().describe("Why, in one sentence."),
    ...reasonParts,
    expected: z.unknown(),
    actual: z.unknown(),
    evidence: z.array(
      z.looseObject({
        spanId: z.string(),
        attribute: z.string().nullable().describe("Null: the span itself."),
        value: z.unknown().optional().describe("Absent where the attribute is."),
        turn: z.number().optional().describe("In a run of several turns, whose trace the span is in."),
      }),
    ),
    skipped: z
      .enum([
        "dependency",
        "threshold",
        "no_judge",
        "judge_unavailable",
        "judge_unusable",
        "budget",
        "undecided",
        "not_sampled",
        "waiting",
        "limit",
      ])
      .optional()
      .describe("For a skipped check, the kind of reason; waiting: the judge will be called again."),
    score: z.number().nullable().optional().describe("Of semantic checks, from 0 to 1."),
    suspicious,
    match: z
      .object({ before: z.string(), text: z.string(), after: z.string() })
      .optional()
      .describe("Of response_regex, where the pattern was found."),
  })
  .meta({ id: "Check" });

export const Result = z
  .looseObject({
    testId: Id,
    name: z.string(),
    outcome: Outcome,
    score: z.number().nullable(),
    reason: z.string().describe("The outcome and its counts, in one sentence."),
    ...reasonParts,
    counts: Counts,
    checks: z.array(Check),
    test: z.unknown().describe("The test case as it was judged."),
    testVersion: z.number().nullable().optional().describe("Which of its versions that was."),
  })
  .meta({ id: "Result" });

export const runFields = {
  id: Id,
  traceId: Id.nullable().describe(
    "Null: a manual run whose trace does not exist yet. Of several turns, the last's.",
  ),
  agentId: Id,
  revision: z.number().nullable().describe("The trace's revision that was judged."),
  kind: z.enum(["passive", "manual"]),
  launchId: Id.nullable().describe("Of a manual run: the launch that it is part of."),
  state: z.enum(["pending", "running", "completed", "error", "cancelled"]),
  dueAt: time,
  createdAt: time,
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  attempts: z.number(),
  routing: z.enum(["ok", "not_needed", "no_user_input", "unavailable"]).nullable(),
  verdict: Outcome.nullable(),
  score: z.number().nullable(),
  counts: Counts.nullable(),
  error: z.string().nullable(),
  cause: z
    .enum(["traffic", "again"])
    .describe("again: somebody asked for an outage's skips to be judged again."),
  outage: z
    .boolean()
    .describe("An outage of the judge skipped something here that no later run of the trace has judged."),
  waiting: z
    .object({ nextTryAt: time, until: time.describe("When the judge is given up on."), reason: z.string() })
    .nullable()
    .describe("Of a running run that waits for the judge; its results are those that are known."),
};

/** What calls of the judge came to. */
export const judgeUse = {
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  unpricedTokens: z.number().describe("Those whose price is not known; `costUsd` leaves them out."),
};

const Run = z.object(runFields).meta({ id: "Run" });

/** Whether a test ran, and why or why not. */
export const applicability = {
  applied: z.boolean(),
  why: z.string(),
  reason: z
    .string()
    .optional()
    .describe("The judge's own reason for a match; why there is no answer where routing is unavailable."),
  ...reasonParts,
  suspicious,
};

const Applicability = z.looseObject({ testId: Id, name: z.string(), ...applicability });

export const RunDetail = z
  .object({
    ...runFields,
    results: z.array(Result),
    tests: z
      .array(Applicability)
      .describe("Of each test as it was then: whether it ran, and why or why not."),
    judging: z
      .object({ calls: z.number().int(), ...judgeUse })
      .nullable()
      .describe("What the run's calls of the judge came to; null where there was none."),
  })
  .meta({ id: "RunDetail" });

const trace = {
  id: Id,
  agentId: Id,
  externalId: z.string(),
  kind: z.enum(["live", "test_run"]),
  path: z.enum(["canonical", "otlp"]),
  name: z.string(),
  revision: z.number(),
  receivedAt: time,
  updatedAt: time,
  durationMs: z.number().nullable(),
  httpStatus: z.number().nullable(),
  tokens: z.object({
    input: z.number().nullable(),
    output: z.number().nullable(),
    reasoning: z.number().nullable(),
    total: z.number().nullable(),
  }),
  failed: z.boolean(),
  spanCount: z.number(),
  userInput: z.string().nullable(),
  responseText: z.string().nullable(),
  run: Run.nullable().describe("The latest completed run, else the latest."),
};

export const ListedTrace = z.object(trace).meta({ id: "Trace" });

const whole = {
  ...trace,
  startTimeUnixNano: z.string().nullable(),
  endTimeUnixNano: z.string().nullable(),
  rootSpanId: z.string().nullable(),
  metadata: Attributes,
  resource: Attributes,
  notices: z.array(z.string()),
  otherConvention: z
    .object({ name: z.string(), found: z.array(z.string()), send: z.string() })
    .nullable()
    .describe("For the notice other_convention: what was found, and what to send."),
  runs: z.array(RunDetail),
  tests: z
    .array(z.object({ testId: Id, name: z.string(), ...applicability }))
    .describe("For every test of the agent, whether it ran and why not."),
};

const Span = z.looseObject({ span_id: z.string(), name: z.string() });

export const TraceDetail = z
  .object({
    ...whole,
    spans: z.array(Span),
    toolCalls: z.array(
      z.object({
        spanId: z.string(),
        parentSpanId: z.string().nullable(),
        name: z.string(),
        arguments: z.unknown(),
      }),
    ),
  })
  .meta({ id: "TraceDetail" });

const path = z.array(z.union([z.string(), z.number()])).describe("Keys and positions from the outside in.");
const left = {
  cuts: z
    .array(z.object({ path, length: z.number() }))
    .describe("Texts of which the first part is left, and their whole lengths in characters."),
  omissions: z
    .array(z.object({ path, entries: z.number() }))
    .describe("Lists and objects of which not every entry is left, and how many they have."),
};

export const TraceOutline = z
  .object({
    ...whole,
    ...left,
    spans: z.array(
      z.object({
        spanId: z.string(),
        parentSpanId: z.string().nullable(),
        name: z.string(),
        startTimeUnixNano: z.string().nullable(),
        endTimeUnixNano: z.string().nullable(),
        failed: z.boolean(),
        role: z.enum(["agent", "model", "tool", "other"]),
        detail: z.string().nullable().describe("The tool's, the model's or the agent's name."),
        tokens: z.object({ input: z.number().nullable(), output: z.number().nullable() }).nullable(),
      }),
    ),
  })
  .describe("Its texts are shortened as those of lists are; cuts and omissions are of metadata and resource.")
  .meta({ id: "TraceOutline" });

export const SpanDetail = z
  .object({ traceId: Id, revision: z.number(), span: Span, ...left })
  .describe("Paths begin at the span.")
  .meta({ id: "SpanDetail" });

export const RawTrace = z
  .object({
    traceId: Id,
    externalId: z.string(),
    path: z.enum(["canonical", "otlp"]),
    revision: z.number(),
    metadata: Attributes,
    resource: Attributes,
    spans: z.array(Span),
  })
  .meta({ id: "RawTrace" });
