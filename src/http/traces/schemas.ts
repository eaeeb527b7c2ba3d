// The response schemas of traces. Fields of spans keep their snake_case wire names.

import { z } from "zod";
import { type Applicability as RunApplicability, resultStates } from "../../model/run/run.ts";
import type { ShownSwitch, OutlineSpan as SpanOfTree, TranslatedValue } from "../../model/trace/shown.ts";
import type {
  Attributes as SpanAttributes,
  Notice as TraceNotice,
  Span as TraceSpan,
} from "../../model/trace/trace.ts";
import { ShownRules } from "../convention-schemas.ts";
import { Id, pageSchema, Time, typed } from "../frame/schemas.ts";
import { Redactions } from "../privacy-schemas.ts";
import { cost, spanCall, tokens } from "./cost-schemas.ts";
import { applicability, Run, RunDetail } from "./run-schemas.ts";

// Not a record: zod would copy it without its key `__proto__`.
const Attributes = typed<SpanAttributes | null>()(
  z.unknown().meta({ type: ["object", "null"], additionalProperties: true }),
);

export const longIds = "One of more than 255 characters is shortened, and ends in its hash.";

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
  contentForgottenAt: Time.nullable().describe(
    "When its content was dropped, as its agent is set to forget it; null: it was not.",
  ),
  durationMs: z.number().nullable(),
  httpStatus: z.number().nullable(),
  tokens,
  failed: z.boolean(),
  spanCount: z.number(),
  userInput: z.string().nullable(),
  responseText: z.string().nullable(),
  ...cost,
  conversationId: z.string().nullable().describe(`Null if there is none, or spans disagree. ${longIds}`),
  userId: z.string().nullable().describe(`Null if there is none, or spans disagree. ${longIds}`),
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

/** Of texts as lists have them. */
export const ListedTrace = z
  .object({
    ...trace,
    redacted: z.array(z.string()).describe("Names of the privacy rules that redacted something in it."),
    failedTests: z
      .array(z.object({ id: Id, name: z.string() }))
      .describe(
        "Tests that `run` failed: at most five, without deleted ones. `run.counts.failed` counts all.",
      ),
  })
  .meta({ id: "Trace" });
export type ListedTrace = z.output<typeof ListedTrace>;

export const TracePage = pageSchema(ListedTrace).extend({
  ordered: z
    .object({
      traces: z.number().int(),
      from: Time.nullable().describe("Older ones were left out; null: none were."),
    })
    .nullable()
    .describe("In an order other than time: how many of the newest matching traces were put in order."),
  searched: z
    .object({
      traces: z.number().int(),
      tooLarge: z.number().int().describe("Traces of more than 32 MB, which are not searched."),
      from: Time.nullable().describe("How far the search got; null: to the end."),
    })
    .nullable()
    .describe("For filters of spans: how many traces this page looked at."),
});
export type TracePage = z.output<typeof TracePage>;

export const DeletedTraces = z.object({
  deleted: z.number().int().describe("How many of the traces existed."),
});
export type DeletedTraces = z.output<typeof DeletedTraces>;

export const TraceValues = z.object({
  tools: z.array(z.string()).describe("At most 500."),
  models: z.array(z.string()).describe("At most 500."),
  providers: z.array(z.string()).describe("At most 500."),
  redacted: z.array(z.string()).describe("Privacy rules that redacted something; at most 500."),
});
export type TraceValues = z.output<typeof TraceValues>;

/** Whether a test of the agent ran on a trace; `pending` and `not_evaluated`: no run has evaluated it yet. */
export type TestOnTrace = Pick<RunApplicability, "testId" | "name" | "applied" | "reason" | "suspicious"> & {
  why: RunApplicability["why"] | "pending" | "not_evaluated";
};

const TranslatedField = z.looseObject({
  field: z.enum(["userInput", "responseText", "tokens", "model", "provider", "conversationId", "userId"]),
  spanId: z.string(),
  attribute: z
    .string()
    .nullable()
    .describe("`*` at the end: a flattened list. Null: an event, or the span's name."),
  event: z.string().nullable(),
  convention: z.string().describe("`rules`: an own rule of the agent."),
  replaced: z
    .union([z.string(), tokens])
    .nullable()
    .describe("What the documented attributes give; null if nothing or the same."),
});

const identity = {
  model: z
    .string()
    .nullable()
    .describe("The model that answered the latest call of one, else the one that was asked."),
  provider: z.string().nullable(),
  conversationId: trace.conversationId,
  userId: trace.userId,
};

export const TracePreview = z
  .object({
    conventions: z.array(z.string()),
    conventionRules: ShownRules,
    userInput: z.string().nullable(),
    responseText: z.string().nullable(),
    tokens,
    tools: z.array(z.string()).describe("The names of the tools called, each once."),
    matches: z.array(z.number().int()).describe("For each rule, how many spans it gave its attribute."),
    ...identity,
  })
  .describe("Texts are truncated as in lists.")
  .meta({ id: "TracePreview" });
export type TracePreview = z.output<typeof TracePreview>;

const ContentSwitch = z
  .object({
    convention: z.string(),
    writtenBy: z.string().describe("What wrote spans of the trace."),
    text: z.string().describe("When it writes messages."),
    lines: z.array(z.string()).describe("What to set: environment variables, or code."),
    logRecords: z.boolean().describe("Whether it may write messages as log records."),
  })
  .meta({ id: "ContentSwitch" });

const whole = {
  ...trace,
  startTimeUnixNano: z.string().nullable(),
  endTimeUnixNano: z.string().nullable(),
  rootSpanId: z.string().nullable(),
  metadata: Attributes,
  resource: Attributes,
  notices: z.array(typed<TraceNotice>()(z.string())),
  severalModelCalls: z
    .object({ calls: z.number(), read: z.string(), spanNames: z.array(z.string()) })
    .nullable()
    .describe(
      "For the notice several_model_calls: how many calls of models had other inputs, the span that input and reply were read from, and the names of all of them. `readFrom` of the agent chooses another.",
    ),
  noise: z
    .enum(["mcp_client", "health_check", "expression"])
    .nullable()
    .describe("What the trace holds and nothing else: it is not listed by default, and never evaluated."),
  otherConvention: z
    .object({ name: z.string(), found: z.array(z.string()), send: z.string() })
    .nullable()
    .describe("For the notice other_convention: the attributes found, and the ones to send instead."),
  ...identity,
  conventions: z.array(z.string()).describe("The conventions of the agent that the trace is read by."),
  conventionRules: ShownRules.describe("The agent's own rules that the trace is read by."),
  translated: z
    .array(typed<TranslatedValue>()(TranslatedField))
    .describe("The values that conventions and rules gave, and where they were read."),
  readable: z
    .array(z.string())
    .describe(
      "Conventions that are off, recognize this trace, and would give an input, a reply or tokens that are missing in it.",
    ),
  contentSwitches: z
    .array(typed<ShownSwitch>()(ContentSwitch))
    .describe("For a trace with neither an input nor a reply: how what wrote it is told to write them."),
  redactions: Redactions,
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
    modelCalls: z
      .array(
        z.object({
          spanId: z.string(),
          ...spanCall,
          tokens: z
            .object({
              input: z.number().describe("Includes cached tokens and those written to the cache."),
              cached: z.number(),
              cacheWrite: z.number(),
              output: z.number(),
            })
            .nullable(),
        }),
      )
      .describe("The calls of models whose tokens count: agents repeat the usage of what they call."),
    toolCalls: z.array(
      z.object({
        spanId: z.string(),
        parentSpanId: z.string().nullable(),
        name: z.string(),
        arguments: z.unknown(),
        result: z.unknown().describe("What the tool returned; JSON text is parsed."),
        convention: z.string().nullable().describe("The convention by which it was read, if any."),
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
  role: z.enum(["agent", "model", "tool", "retrieval", "http", "other"]).describe("The kind of span."),
  detail: z.string().nullable().describe("The name of the tool, model or agent."),
  tokens: z
    .object({ input: z.number().nullable(), output: z.number().nullable(), cached: z.number().nullable() })
    .nullable(),
  call: z.object(spanCall).nullable().describe("For spans whose tokens count as a call of a model."),
});

export const TraceOutline = z
  .object({ ...whole, ...shortened, spans: z.array(typed<SpanOfTree>()(OutlineSpan)) })
  .describe("Texts are truncated as in lists; cuts and omissions concern metadata and resource.")
  .meta({ id: "TraceOutline" });
export type TraceOutline = z.output<typeof TraceOutline>;

export const SpanDetail = z
  .object({
    traceId: Id,
    revision: z.number(),
    span: Span,
    error: z.string().nullable().describe("Of a failed span: its error, shortened."),
    finishReasons: z.array(z.string()).describe("Why the model stopped, as sent; conventions included."),
    ...shortened,
  })
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
