// What a span says once its convention is understood: its role, messages, tool call, usage, model and ids, with sources.

import type { Span } from "../../model/trace/trace.ts";
import type { ReadMessage } from "./message-parts.ts";
import type { Signs } from "./signs.ts";

/** What a span stands for. A step is anything around model calls that is not an agent: a chain, a workflow, a request. */
export type SpanRole = "agent" | "step" | "model" | "tool" | "other";

/** A value and where it was read. An attribute that ends in `*` names a flattened list. */
export type Sourced<T> = { value: T; spanId: string; attribute: string };

export type ToolReading = {
  name: string;
  /** Where the name was read; null: it is that of the span. */
  nameFrom: string | null;
  id: string | null;
  arguments: Sourced<unknown> | null;
  result: Sourced<unknown> | null;
};

export type Usage = {
  input: number | null;
  output: number | null;
  reasoning: number | null;
  /** Parts of the input: read from the provider's cache, and written to it. */
  cached: number | null;
  written: number | null;
};

/** `from`: the attribute of each count, if it is not the same. */
export type SourcedUsage = Sourced<Usage> & { from?: { [Kind in keyof Usage]?: string | undefined } };

/** `at`: the position of the span in its trace. */
export type ReadSpan = {
  at: number;
  span: Span;
  /** The preset that recognized the span; null if only its documented attributes were read. */
  convention: string | null;
  role: SpanRole;
  /** Whether its messages tell calls of tools that those of models do not. */
  tellsCalls: boolean;
  /** Whether it is one turn of a session that may have several in one trace. */
  isTurn: boolean;
  /** What the span was given and what it gave; null if no message can be read. */
  asked: Sourced<ReadMessage[]> | null;
  answered: Sourced<ReadMessage[]> | null;
  /** False if these messages have no call of a tool, or only of `known` ones, which is seen without parsing them. */
  mayCall(messages: "asked" | "answered", known: ReadonlySet<string> | null): boolean;
  /** Whether these messages are, if any, those of the documented attribute, which is seen without parsing them. */
  isDocumented(messages: "asked" | "answered"): boolean;
  tool: ToolReading | null;
  usage: SourcedUsage | null;
  /** Whether the usage includes that of earlier spans with the same parent. */
  cumulative: boolean;
  /** Why the model stopped, as sent; one for each choice. */
  finishReasons: Sourced<string[]> | null;
  model: Sourced<string> | null;
  provider: Sourced<string> | null;
  conversationId: Sourced<string> | null;
  userId: Sourced<string> | null;
  /** All its ids of a kind, by the names that `ids` of a preset has. */
  idsByKey(kind: "conversationId" | "userId"): Map<string, Sourced<string>>;
};

export type CallReading = {
  name: string;
  /** Where the name was read; null: it is that of the span. */
  nameFrom: string | null;
  /** Whether the span is that of the tool, not of the model that asked for the call. */
  isSpan: boolean;
  id: string | null;
  arguments: Sourced<unknown> | null;
  result: Sourced<unknown> | null;
  spanId: string;
};

/** One tracing convention. */
export type Preset = {
  /** The value in an agent's `conventions`. */
  name: string;
  title: string;
  /** What writes it, in a sentence. */
  writes: string;
  /** Attributes, or prefixes that end in a dot, that only this convention writes. */
  marks: readonly string[];
  /** Those that it reads, documented ones among them; a name that ends in a dot is the prefix of a flattened list. */
  attributes: readonly string[];
  /** Instrumentation scopes that only this convention uses. */
  scope: RegExp | null;
  /** Attributes that stand for documented ones, for traces whose agent has not chosen it; none where it writes those. */
  signs: readonly Signs[];
  /** Attributes that it reads as ids; `metadata>user_id` is a field of JSON in `metadata`. */
  ids: { user: readonly string[]; conversation: readonly string[] };
  /** How what writes it is told to write messages, the more specific first; empty: not known. */
  contentSwitches: readonly ContentSwitch[];
  /** Reads a span that it recognizes: each part when it is asked for. `at`: 0 if the span is alone. */
  read(span: Span, at?: number): ReadSpan;
};

/** How an SDK is told to write messages. */
export type ContentSwitch = {
  /** What writes the spans, where the convention's title does not say it. */
  of?: string;
  /** Its instrumentation scopes; absent: every span of the convention. */
  scope?: RegExp;
  /** An attribute that only this version writes. */
  mark?: string;
  /** When it writes messages, in sentences. */
  says: string;
  /** What to set, exactly: environment variables or code. */
  lines?: string[];
  /** Whether it may write messages as log records, which are exported separately. */
  logRecords?: boolean;
};
