// What is shown of a trace: its conversation, its tree, and what conventions gave it.

import type { Identity, ModelCall, Tokens } from "./trace.ts";

/** Keys and positions, starting at a span; JSON text on the way counts as parsed. */
export type SpanPath = (string | number)[];

/** An agent that was called by another agent. */
export type SubAgent = { spanId: string; name: string };

/** A text, or its first part. `paths`: the paths of its parts, starting at the span. */
export type Passage = {
  text: string;
  length: number;
  spanId: string;
  paths: SpanPath[];
};

export type Piece =
  | ({ kind: "text" } & Passage)
  /** What the model said in place of an answer. */
  | ({ kind: "refusal" } & Passage)
  | ({ kind: "reasoning" } & Passage)
  /** Media are named, and never loaded. */
  | { kind: "media"; name: string }
  /** A part of an unknown type, as JSON. */
  | ({ kind: "other"; name: string } & Passage);

/** `attribute` is null if its source is the event named `event`. */
export type Turn = {
  spanId: string;
  attribute: string | null;
  event: string | null;
  /** The sub-agent whose conversation it belongs to. */
  agent: SubAgent | null;
  /** The documented attribute that a convention read there; null if none had to. */
  translated: { as: string; convention: string } | null;
} & (
  | { kind: "message"; role: string; pieces: Piece[] }
  | {
      kind: "tool_call";
      name: string;
      /** JSON text, or other text as sent. */
      arguments: Passage | null;
      result: Passage | null;
      error: string | null;
      /** Null if the call has no span of its own. */
      durationMs: number | null;
      failed: boolean;
    }
);

export type ShownConversation = {
  turns: Turn[];
  /** How many turns were left out, and after how many shown turns. */
  omitted: { after: number; count: number } | null;
  /** False if anything besides the rest of a truncated text was left out or not read. */
  complete: boolean;
};

/** `agent` spans group others; `http`: a request to another service, or the request that was answered. */
export type SpanRole = "agent" | "model" | "tool" | "retrieval" | "http" | "other";

export type OutlineSpan = {
  spanId: string;
  parentSpanId: string | null;
  /** Truncated like the names in lists. */
  name: string;
  /** Decimal nanoseconds. */
  startTimeUnixNano: string | null;
  endTimeUnixNano: string | null;
  failed: boolean;
  /** The kind of span. */
  role: SpanRole;
  /** The name of the tool, model or agent, if any. */
  detail: string | null;
  tokens: { input: number | null; output: number | null; cached: number | null } | null;
  /** Of spans whose tokens count as a call of a model. */
  call: Pick<PricedCall, "provider" | "model" | "costUsd" | "why"> | null;
};

/** `attribute`: null for the span's name or one of its events. */
export type Source = { attribute: string | null; event: string | null; convention: string };

/** A value of the trace that a convention gave. `replaced`: what the documented attributes give, if anything. */
export type TranslatedValue = Source & {
  field: "userInput" | "responseText" | "tokens" | keyof Identity;
  spanId: string;
  replaced: string | Tokens | null;
};

/** As shown: with what writes the spans, and the name of its convention. */
export type ShownSwitch = {
  convention: string;
  writtenBy: string;
  text: string;
  lines: string[];
  logRecords: boolean;
};

/** A model without a known price. `tokens`: of input and output. */
export type Unpriced = {
  provider: string | null;
  model: string | null;
  why: "no_price" | "long_prompt" | "no_model" | "no_tokens";
  tokens: number;
};

/** A call with its cost, or why that is not known. */
export type PricedCall = Pick<ModelCall, "spanId" | "provider" | "model" | "tokens"> & {
  costUsd: number | null;
  why: Unpriced["why"] | null;
};
