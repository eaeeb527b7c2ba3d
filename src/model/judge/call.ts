// A connection to a language model, and one call over it as it is kept and counted.
import type { RouteLabel, VerdictWord } from "./judge.ts";

export type JudgeProvider = "openai" | "anthropic" | "google" | "openai_compatible";

export const judgeProviders: JudgeProvider[] = ["openai", "anthropic", "google", "openai_compatible"];

/** How an answer's shape is asked for, from what binds a model most to what every server has. */
export type JudgeMode = "json_schema" | "tool" | "json_object" | "text";

export const judgeModes: JudgeMode[] = ["json_schema", "tool", "json_object", "text"];

export type JudgeConnection = {
  provider: JudgeProvider;
  /** The base, as in `https://api.openai.com/v1`; null for the provider's own. */
  url: string | null;
  model: string;
  apiKey: string | null;
  /** For one call. */
  timeoutMs: number;
  /** Calls at a time, in one process. */
  concurrency: number;
  /** In and out together, in one process; null: as many as it takes. */
  tokensPerMinute: number | null;
};

/**
 * How a call ended. "later": it may well answer another time. "refused": it will not before the connection is edited
 * (401, 403, an unknown model, a redirect). "unusable": what it said cannot be relied on. "budget": the provider says there is no
 * money left. "aborted": the asker went away.
 */
export type JudgeCallState = "ok" | "later" | "refused" | "unusable" | "budget" | "aborted";

export type JudgeCall = {
  kind: "route" | "semantic";
  provider: JudgeProvider;
  model: string;
  promptVersion: string;
  mode: JudgeMode;
  state: JudgeCallState;
  /** One sentence; null for a call that was answered. */
  reason: string | null;
  /** In ms since the epoch. */
  startedAt: number;
  ms: number;
  /** 0 where the server does not say. */
  inputTokens: number;
  outputTokens: number;
  /** As they were sent. */
  instructions: string;
  material: string;
  /** What came back, as far as it did. */
  answer: string | null;
};

/** A call as the metrics count it. */
export type CountedCall = Pick<JudgeCall, "kind" | "state">;

/**
 * What came of putting one prompt; `call` is null where none was made (a pause, no room). Every `reason` is a sentence
 * about the judge that begins with "It".
 */
export type LineReply<T> = { call: JudgeCall | null } & (
  | { state: "ok"; value: T }
  /** `retryAfterMs`: what the server asked for, or how long the line is paused; absent: as the asker likes. */
  | { state: "later"; reason: string; retryAfterMs?: number }
  | { state: "refused" | "unusable" | "budget" | "aborted"; reason: string }
);

/** By opaque ids, which say nothing; at most `scenariosPerCall`. */
export type RouteAsk = { userInput: string; scenarios: { id: string; scenario: string }[] };

/** At most `criteriaPerCall` criteria, of one trace. Each names the reply it is about. */
export type SemanticAsk = {
  userInput: string | null;
  replies: { id: string; text: string }[];
  criteria: { id: string; replyId: string; scenario: string; criterion: string; reference?: string }[];
};

/** The labels of those ids that were labelled soundly; a missing id is one to ask for again. */
export type RouteLabels = Map<string, { label: RouteLabel; reason: string }>;

/**
 * The verdicts of those ids that were judged soundly, after the check of their quotations: `overruled` where that made
 * a favourable one "cannot_tell".
 */
export type Verdicts = Map<
  string,
  { verdict: VerdictWord; evidence: string; reason: string; overruled?: true }
>;

/** Asked once there is a place for the call, however long that took; where it may not go any more, it is withdrawn. */
export type MayGo = () => Promise<boolean>;

/**
 * An open connection: puts one prompt at a time per call, never retries by itself, and throws nothing but what `mayGo`
 * throws. Shares its bounds, its circuit breaker and its memory of refusals among all who ask over it.
 */
export type JudgeLine = {
  readonly provider: JudgeProvider;
  readonly model: string;
  readonly promptVersion: string;
  route(ask: RouteAsk, signal?: AbortSignal, mayGo?: MayGo): Promise<LineReply<RouteLabels>>;
  judge(ask: SemanticAsk, signal?: AbortSignal, mayGo?: MayGo): Promise<LineReply<Verdicts>>;
  /** How many calls wait for a place. */
  readonly queued: number;
};

export const scenariosPerCall = 16;
export const criteriaPerCall = 8;
