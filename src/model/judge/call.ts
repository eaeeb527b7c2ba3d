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
 * How a call ended. "later": the judge may answer another time. "refused": not before the connection is edited (401, 403,
 * an unknown model, a redirect). "unusable": the answer cannot be used. "budget": the provider's quota is used up.
 * "aborted": the caller cancelled it.
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
  /** 0 without an answer. */
  inputTokens: number;
  outputTokens: number;
  /** The server reported no usage, so the tokens are an estimate. */
  tokensEstimated: boolean;
  /** As they were sent. */
  instructions: string;
  material: string;
  /** As far as one was received. */
  answer: string | null;
};

/** A call as the metrics count it. */
export type CountedCall = Pick<JudgeCall, "kind" | "state">;

/** By opaque ids; at most `scenariosPerCall` scenarios. */
export type RouteAsk = { userInput: string; scenarios: { id: string; scenario: string }[] };

/** At most `criteriaPerCall` criteria, of one trace. Each names the reply it is about. */
export type SemanticAsk = {
  userInput: string | null;
  replies: { id: string; text: string }[];
  criteria: { id: string; replyId: string; scenario: string; criterion: string; reference?: string }[];
};

/** The valid labels by id; a missing id is asked for again. */
export type RouteLabels = Map<string, { label: RouteLabel; reason: string }>;

/** The valid verdicts by id; `overruled`: the check of its quotation turned a favorable one into "cannot_tell". */
export type Verdicts = Map<
  string,
  { verdict: VerdictWord; evidence: string; reason: string; overruled?: true }
>;

export const scenariosPerCall = 16;
export const criteriaPerCall = 8;
