// The nouns of a trace: spans, the batches they arrive in, and the values derived from them.

/** JSON attributes. Integers beyond ±(2^53−1) are decimal text; NaN and Infinity are text. */
export type Attributes = Record<string, unknown>;

/** A canonical span, in the wire's own field names, as it is stored and shown. */
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
  /** OTLP only: the instrumentation scope, when it says anything. */
  scope?: { name?: string; version?: string; attributes?: Attributes };
  /** OTLP only: the span's own resource attributes, where the batch holds several different resources. */
  resource?: Attributes;
};

/** The spans of one trace that arrived in one request. */
export type Batch = {
  spans: Span[];
  /** OTLP: the first resource's attributes. */
  resource: Attributes | null;
  /** Canonical: the body's metadata, kept and shown. */
  metadata: Attributes | null;
};

export type TracePath = "canonical" | "otlp";
export type TraceKind = "live" | "test_run";

/** What the evaluation and the trace page look at: all batches merged, OTLP spans in the order of their times. */
export type MergedTrace = Batch & {
  path: TracePath;
  /** Where it is joined of the turns of a manual run: each for itself. */
  turns?: Turn[];
};

/** One turn of a conversation, or a conversation joined of them. */
export type Turn = { trace: MergedTrace; derived: Derived };

export type Tokens = {
  input: number | null;
  output: number | null;
  reasoning: number | null;
  /** input + output; null when both are absent. */
  total: number | null;
};

export type Notice =
  | "no_user_input"
  | "routing_unavailable"
  | "orphan_spans"
  | "no_root"
  | "no_timing"
  | "other_convention"
  | "judged_earlier_revision"
  | "no_trace_arrived";

/** A text, and where it stood. */
export type FoundText = { text: string; spanId: string; attribute: string };
export type FoundNumber = { value: number; spanId: string; attribute: string };

export type ToolCall = { spanId: string; parentSpanId: string | null; name: string; arguments: unknown };

/** Everything that is derived from the spans. Absent values are null. */
export type Derived = {
  rootSpanId: string | null;
  name: string;
  startTimeUnixNano: string | null;
  endTimeUnixNano: string | null;
  durationMs: number | null;
  httpStatus: FoundNumber | null;
  tokens: Tokens;
  failed: boolean;
  spanCount: number;
  userInput: FoundText | null;
  /** What the trace shows as its response: prefers gen_ai.output.messages. */
  responseText: FoundText | null;
  /** What text assertions and the judge take: prefers gen_ai.response.text. */
  judgedText: FoundText | null;
  toolCalls: ToolCall[];
  notices: Notice[];
  /** For the notice other_convention: the conventions' names, what was found and what to send. */
  otherConvention: { name: string; found: string[]; send: string } | null;
};
