// The response schemas of traces, runs and results. Fields of spans and assertions keep their snake_case wire names.
import { z } from "zod";
import {
  type Applicability as RunApplicability,
  type Result as RunResult,
  resultStates,
} from "../../model/run/run.ts";
import type { OutlineSpan as SpanOfTree } from "../../model/trace/outline.ts";
import type {
  Attributes as SpanAttributes,
  Notice as TraceNotice,
  Span as TraceSpan,
} from "../../model/trace/trace.ts";
import { Id, Time, typed } from "../schemas.ts";

export const Outcome = z.enum(["passed", "failed", "skipped", "missing_instrumentation"]);
export const Counts = z.object({
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  missing_instrumentation: z.number(),
});
// Not a record: zod would copy it without its key `__proto__`.
const Attributes = typed<SpanAttributes | null>()(
  z.unknown().meta({ type: ["object", "null"], additionalProperties: true }),
);

const suspicious = z
  .string()
  .optional()
  .describe("Why the judged text looks as if it were addressed to the judge.");

/** The code and values that the sentence in `reason` is made from. */
export const reasonParts = {
  reasonCode: z.string().optional().describe("The kind of reason. Absent in older results."),
  reasonData: z
    .looseObject({})
    .optional()
    .describe("The names and numbers in the reason, by its code; absent where it has none."),
};

const materialCounts = z
  .partialRecord(
    z.enum(["system", "user", "assistant", "tool_call", "tool_result"]),
    z.looseObject({ items: z.number().int(), characters: z.number().int() }),
  )
  .describe("Items and characters, by kind.");

const quotePlace = {
  attribute: z.string().nullable().describe("Null: an event or the status of the span."),
  turn: z.number().optional().describe("In a run of several turns: the turn whose trace has the span."),
};

const SemanticActual = z
  .looseObject({
    score: z.number(),
    criteria: z.array(
      z.looseObject({
        criterion: z.string(),
        verdict: z.enum(["met", "mostly", "partly", "not_met", "not_applicable", "cannot_tell"]),
        evidence: z.string().describe("The passage that decides it; empty if none does."),
        reason: z.string(),
        quotes: z
          .array(
            z.looseObject({
              as: z
                .enum(["evidence", "comparison"])
                .describe("evidence: what the agent said or did; comparison: what that is compared with."),
              text: z.string(),
              from: z.enum(["reply", "assistant", "tool_call", "tool_result", "user", "system", "reference"]),
              spanId: z.string().nullable().describe("Null: the reference reply, which is in no span."),
              ...quotePlace,
            }),
          )
          .optional()
          .describe("The passages that the judge quoted, and where they are. Absent in older results."),
      }),
    ),
    material: z
      .looseObject({
        context: z.enum(["reply", "conversation", "conversation_and_tools"]),
        shown: materialCounts,
        leftOut: materialCounts.describe("What did not fit; characters include those of shortened items."),
        complete: z.boolean().describe("False: the trace was too large to be read as a whole."),
        suspicious: z
          .looseObject({
            from: z.enum(["system", "user", "assistant", "tool_call", "tool_result"]),
            reason: z.string(),
            spanId: z.string(),
            ...quotePlace,
          })
          .optional()
          .describe("What the judge was shown that looks as if it were addressed to it."),
      })
      .optional()
      .describe("What the judge was shown beside the user's input and the reply. Absent in older results."),
  })
  .describe("The judge's result of a semantic check.")
  .meta({ id: "SemanticActual" });

const Check = z
  .looseObject({
    id: z.string(),
    type: z.string(),
    outcome: Outcome,
    reason: z.string().describe("Why, in one sentence."),
    ...reasonParts,
    expected: z.unknown(),
    actual: z.union([SemanticActual, z.unknown()]).describe("What was found, by type of check."),
    evidence: z.array(
      z.looseObject({
        spanId: z.string(),
        attribute: z.string().nullable().describe("Null: the span itself."),
        value: z.unknown().optional().describe("Absent if the span lacks the attribute."),
        turn: z.number().optional().describe("In a run of several turns: the turn whose trace has the span."),
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
      .describe("Why a skipped check was skipped; waiting: the judge will be asked again."),
    score: z.number().nullable().optional().describe("Semantic checks: the judge's score, from 0 to 1."),
    suspicious,
    match: z
      .object({ before: z.string(), text: z.string(), after: z.string() })
      .optional()
      .describe("response_regex: the matched text and its surroundings."),
  })
  .meta({ id: "Check" });

export const looseResult = z.looseObject({
  testId: Id,
  name: z.string(),
  outcome: Outcome,
  score: z.number().nullable(),
  reason: z.string().describe("The outcome and its counts, in one sentence."),
  ...reasonParts,
  counts: Counts,
  checks: z.array(Check),
  test: z.unknown().describe("The test case as evaluated."),
  testVersion: z.number().nullable().optional().describe("The version of the test case that was evaluated."),
});

const Result = typed<RunResult>()(looseResult.meta({ id: "Result" }));

const runFields = {
  id: Id,
  traceId: Id.nullable().describe(
    "Null: the manual run has no trace yet. With several turns: the trace of the last turn.",
  ),
  agentId: Id,
  revision: z.number().nullable().describe("The revision of the trace that was evaluated."),
  kind: z.enum(["passive", "manual"]),
  launchId: Id.nullable().describe("Manual runs: the launch."),
  state: z.enum(["pending", "running", "completed", "error", "cancelled"]),
  dueAt: Time,
  createdAt: Time,
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
  attempts: z.number(),
  routing: z.enum(["ok", "not_needed", "no_user_input", "unavailable"]).nullable(),
  verdict: Outcome.nullable(),
  score: z.number().nullable(),
  counts: Counts.nullable(),
  error: z.string().nullable(),
  cause: z
    .enum(["traffic", "again"])
    .describe("again: someone had skipped checks judged after the judge was unavailable."),
  outage: z
    .boolean()
    .describe("The judge was unavailable for some of this, and no later run of the trace has judged it."),
  waiting: z
    .object({
      nextTryAt: Time,
      until: Time.describe("When the service stops waiting for the judge."),
      reason: z.string(),
    })
    .nullable()
    .describe("Set while a running run waits for the judge; its results are the ones known so far."),
};

/** Sums over judge calls. */
export const judgeUse = {
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  unpricedTokens: z.number().describe("Tokens without a known price; not included in `costUsd`."),
  estimatedTokens: z
    .number()
    .describe("Tokens of calls whose server reported no usage; part of the other sums."),
};

export const Run = z.object(runFields).meta({ id: "Run" });
export type Run = z.output<typeof Run>;

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

const Applicability = typed<RunApplicability>()(
  z.looseObject({ testId: Id, name: z.string(), ...applicability }),
);

const JudgeUseSum = z.object({ calls: z.number().int(), ...judgeUse });
export type JudgeUseSum = z.output<typeof JudgeUseSum>;

export const RunDetail = z
  .object({
    ...runFields,
    results: z.array(Result),
    tests: z
      .array(Applicability)
      .describe("For each test as it was at the time: whether it ran, and why or why not."),
    judging: JudgeUseSum.nullable().describe("Sums of the run's judge calls; null if there were none."),
  })
  .meta({ id: "RunDetail" });
export type RunDetail = z.output<typeof RunDetail>;

const trace = {
  id: Id,
  agentId: Id,
  externalId: z.string(),
  kind: z.enum(["live", "test_run"]),
  path: z.enum(["canonical", "otlp"]),
  name: z.string(),
  revision: z.number(),
  receivedAt: Time,
  updatedAt: Time,
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

export const ResultStateView = z
  .object({
    testId: Id,
    state: z.enum(resultStates),
    note: z.string(),
    updatedAt: Time,
  })
  .meta({ id: "ResultState" });
export type ResultStateView = z.output<typeof ResultStateView>;

export const ListedTrace = z.object(trace).meta({ id: "Trace" });
export type ListedTrace = z.output<typeof ListedTrace>;

/** Whether a test of the agent ran on a trace; `pending` and `not_evaluated`: no run has evaluated it yet. */
export type TestOnTrace = Pick<RunApplicability, "testId" | "name" | "applied" | "reason" | "suspicious"> & {
  why: RunApplicability["why"] | "pending" | "not_evaluated";
};

const whole = {
  ...trace,
  startTimeUnixNano: z.string().nullable(),
  endTimeUnixNano: z.string().nullable(),
  rootSpanId: z.string().nullable(),
  metadata: Attributes,
  resource: Attributes,
  notices: z.array(typed<TraceNotice>()(z.string())),
  otherConvention: z
    .object({ name: z.string(), found: z.array(z.string()), send: z.string() })
    .nullable()
    .describe("For the notice other_convention: the attributes found, and the ones to send instead."),
  runs: z.array(RunDetail),
  tests: z
    .array(typed<TestOnTrace>()(z.object({ testId: Id, name: z.string(), ...applicability })))
    .describe("For each test of the agent: whether it ran, and why or why not."),
};

const Span = typed<TraceSpan>()(z.looseObject({ span_id: z.string(), name: z.string() }));

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
export type TraceDetail = z.output<typeof TraceDetail>;

const path = z.array(z.union([z.string(), z.number()])).describe("Keys and indexes, outermost first.");
const shortened = {
  cuts: z
    .array(z.object({ path, length: z.number() }))
    .describe("Truncated texts, and their full lengths in characters."),
  omissions: z
    .array(z.object({ path, entries: z.number() }))
    .describe("Lists and objects with entries left out, and how many entries they have."),
};

const OutlineSpan = z.object({
  spanId: z.string(),
  parentSpanId: z.string().nullable(),
  name: z.string(),
  startTimeUnixNano: z.string().nullable(),
  endTimeUnixNano: z.string().nullable(),
  failed: z.boolean(),
  role: z.enum(["agent", "model", "tool", "other"]),
  detail: z.string().nullable().describe("The name of the tool, model or agent."),
  tokens: z.object({ input: z.number().nullable(), output: z.number().nullable() }).nullable(),
});

export const TraceOutline = z
  .object({ ...whole, ...shortened, spans: z.array(typed<SpanOfTree>()(OutlineSpan)) })
  .describe("Texts are truncated as in lists; cuts and omissions concern metadata and resource.")
  .meta({ id: "TraceOutline" });
export type TraceOutline = z.output<typeof TraceOutline>;

export const SpanDetail = z
  .object({ traceId: Id, revision: z.number(), span: Span, ...shortened })
  .describe("Paths start at the span.")
  .meta({ id: "SpanDetail" });
export type SpanDetail = z.output<typeof SpanDetail>;

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
