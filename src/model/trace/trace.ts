// Types of a trace: spans, the batches they arrive in, and the values derived from them.

/** JSON attributes. Integers beyond ±(2^53−1) are decimal text; NaN and Infinity are text. */
import type { ReadFrom } from "../agent/read-by.ts";
import type { RuleCounts } from "../redaction.ts";
export type Attributes = Record<string, unknown>;

/** A canonical span with the field names of the API, as it is stored and shown. */
export type Span = {
  span_id: string;
  parent_span_id: string | null;
  name: string;
  attributes: Attributes;
  /** Decimal uint64 nanoseconds. */
  start_time_unix_nano: string | null;
  end_time_unix_nano: string | null;
  /** Code 1 is OK, 2 is ERROR; null or 0 is unset, treated as success. */
  status: { code?: number; message?: string } | null;
  events: unknown[];
  /** OTLP only: SpanKind as its number, when set. */
  kind?: number;
  links?: unknown[];
  /** OTLP only, unless 0: what the SDK left out because of its limits. Events and links have such a count, too. */
  dropped_attributes_count?: number;
  dropped_events_count?: number;
  dropped_links_count?: number;
  /** OTLP only: the W3C trace state and the flags, when set. */
  trace_state?: string;
  flags?: number;
  /** OTLP only: the instrumentation scope with the schema URL of its spans, unless empty. */
  scope?: {
    name?: string;
    version?: string;
    attributes?: Attributes;
    dropped_attributes_count?: number;
    schema_url?: string;
  };
  /** OTLP only: the span's resource attributes, if the batch has several different resources. */
  resource?: Attributes;
  /** OTLP only, when set: beside the attributes of the span's resource, wherever those are. */
  resource_schema_url?: string;
  resource_dropped_attributes_count?: number;
  /** Never stored with the span: the trace's log records about it, by time. */
  log_records?: LogRecord[];
  /** Never stored: the documented attributes that a convention of the agent gave, and where they were read. */
  translated?: Record<string, Translation>;
  /** Never stored: what a convention says the span is, whatever attributes it has. */
  reading?: { convention: string; isTool: boolean; hasInput: boolean; hasOutput: boolean };
};

/** An attribute, with `*` at the end for a flattened list, or a span event; null for the span's name. */
export type Translation = { attribute: string | null; convention: string };

/** An event of a model call that an SDK writes as an OpenTelemetry log record instead of into the span. */
export type LogRecord = {
  event_name: string;
  /** When it happened, else when it was observed: decimal uint64 nanoseconds. */
  time_unix_nano: string | null;
  body: unknown;
  attributes: Attributes;
  /** Unless 0. */
  dropped_attributes_count?: number;
};

/** The spans of one trace that arrived in one request. */
export type Batch = {
  spans: Span[];
  /** OTLP: the first resource's attributes. */
  resource: Attributes | null;
  /** Canonical: the metadata of the request body. */
  metadata: Attributes | null;
  /** Log records about one span. Such a batch has no spans. */
  logRecords?: { spanId: string; records: LogRecord[] };
  /** How many values were redacted in it; absent: none. */
  redactions?: RuleCounts;
  /** Set where it is without content: never stored, or dropped later. */
  content?: ContentGone;
};

/** Why a stored batch or trace has no content: its content was never stored, or was dropped later. */
export type ContentGone = "none" | "forgotten";

/** Marks in its metadata a trace that a manual run made of a call. A later trace of the agent with the same identity replaces it. */
export const observedMark = "svc.run.observed";

export type TracePath = "canonical" | "otlp";
export type TraceKind = "live" | "test_run";

/** All batches merged, OTLP spans sorted by time: the input of evaluation and trace page. */
export type MergedTrace = Batch & {
  path: TracePath;
  /** The spans that its agent reads input and reply from. */
  readFrom?: ReadFrom;
  /** The single turns, if the trace joins the turns of a manual run. */
  turns?: Turn[];
  /**
   * In a manual run: the derived duration is the time that the call took, and the status what it answered. `reply`: its text is in
   * memory. `failed`: the call did.
   */
  received?: { time: boolean; reply?: true; failed?: true };
};

/** One turn of a conversation, or a conversation joined from turns. */
export type Turn = { trace: MergedTrace; derived: Derived };

export type Tokens = {
  input: number | null;
  output: number | null;
  reasoning: number | null;
  /** The part of the input that was read from the provider's cache. */
  cached: number | null;
  /** input + output; null if both are absent. */
  total: number | null;
};

export type Notice =
  | "no_user_input"
  | "noise"
  | "routing_unavailable"
  | "orphan_spans"
  | "no_root"
  | "no_timing"
  | "other_convention"
  | "several_model_calls"
  | "judged_earlier_revision"
  | "no_trace_arrived"
  | "content_not_stored"
  | "trace_differs";

/** A text and its source. */
export type FoundText = { text: string; spanId: string; attribute: string };
export type FoundNumber = { value: number; spanId: string; attribute: string };

/** `result`: only of calls that a convention gave. */
export type ToolCall = {
  spanId: string;
  parentSpanId: string | null;
  name: string;
  arguments: unknown;
  result?: unknown;
};

/** Values derived from the spans. Absent values are null. */
export type TokenSpans = Record<"input" | "output" | "reasoning", string[]>;

export type Noise = "mcp_client" | "health_check" | "expression";

export type Derived = {
  rootSpanId: string | null;
  name: string;
  startTimeUnixNano: string | null;
  endTimeUnixNano: string | null;
  durationMs: number | null;
  httpStatus: FoundNumber | null;
  tokens: Tokens;
  failed: boolean;
  /** What the trace holds and nothing else, if nothing in it was said or done by an agent. */
  noise: Noise | null;
  spanCount: number;
  userInput: FoundText | null;
  /** The response that the trace page shows: prefers gen_ai.output.messages. */
  responseText: FoundText | null;
  /** The response that text assertions and the judge use: prefers gen_ai.response.text. */
  judgedText: FoundText | null;
  toolCalls: ToolCall[];
  /** Names of the models that were asked and that answered, each once, in the order of the spans. */
  models: string[];
  /** Each call of a model with its tokens once. */
  modelCalls: ModelCall[];
  /** The IDs of the spans whose tokens are those of the trace. */
  tokenSpans: TokenSpans;
  /** The IDs of model calls that tell no usable number where those of the others are summed. */
  unmeasured: TokenSpans;
  /** As sent; null if there is none, or spans disagree. */
  conversationId: string | null;
  userId: string | null;
  notices: Notice[];
  /** For the notice other_convention: the conventions' names, the attributes found, and what to send. */
  otherConvention: { name: string; found: string[]; send: string } | null;
  /** For the notice several_model_calls: how many calls had other inputs, and the span that was read. */
  severalModelCalls: SeveralModelCalls | null;
};

/** `spanNames`: of the calls, each once; the one that was read is `read`. */
export type SeveralModelCalls = { calls: number; read: string; spanNames: string[] };

export type ModelCall = {
  spanId: string;
  /** Null: not known. */
  provider: string | null;
  model: string | null;
  /** The prompt has more tokens than this: one of `promptBounds`. */
  promptAbove: number;
  /** 0: what the root, or an agent, counts beyond its calls. */
  calls: 0 | 1;
  /** Input includes cached tokens and those written to the cache. Null: the span says nothing of tokens. */
  tokens: CallTokens | null;
};

export type CallTokens = { input: number; cached: number; cacheWrite: number; output: number };

export type Identity = {
  /** The model that answered, else the one that was asked. */
  model: string | null;
  provider: string | null;
  conversationId: string | null;
  userId: string | null;
};
