// The judge's connection, and a call to it with its result, tokens and texts.
import type { RouteLabel, VerdictWord } from "./judge.ts";

export type JudgeProvider = "openai" | "anthropic" | "google" | "openai_compatible";

export const judgeProviders: JudgeProvider[] = ["openai", "anthropic", "google", "openai_compatible"];

/** How structured output is requested, from the strictest mode to the one that every server supports. */
export type JudgeMode = "json_schema" | "tool" | "json_object" | "text";

export const judgeModes: JudgeMode[] = ["json_schema", "tool", "json_object", "text"];

export type JudgeConnection = {
  provider: JudgeProvider;
  /** Base URL, such as `https://api.openai.com/v1`; null for the provider's own. */
  url: string | null;
  model: string;
  apiKey: string | null;
  /** Timeout of one call. */
  timeoutMs: number;
  /** Concurrent calls per process. */
  concurrency: number;
  /** Input and output tokens together, per process; null: unlimited. */
  tokensPerMinute: number | null;
};

/**
 * The result of a call. "later": a retry may succeed. "refused": no retry succeeds until the connection is edited (401,
 * 403, an unknown model, a redirect). "unusable": the answer cannot be used. "budget": the provider's quota was
 * used up, in calls of earlier versions. "aborted": the caller cancelled it.
 */
export type JudgeCallState = "ok" | "later" | "refused" | "unusable" | "budget" | "aborted";

export type JudgeCall = {
  kind: "route" | "semantic";
  provider: JudgeProvider;
  model: string;
  promptVersion: string;
  mode: JudgeMode;
  state: JudgeCallState;
  /** One sentence; null if the call succeeded. */
  reason: string | null;
  /** In ms since the epoch. */
  startedAt: number;
  ms: number;
  /** 0 without an answer. */
  inputTokens: number;
  outputTokens: number;
  /** The server reported no usage, so the tokens are an estimate. */
  tokensEstimated: boolean;
  /** The system prompt as it was sent. */
  instructions: string;
  material: string;
  /** The text received, possibly incomplete. */
  answer: string | null;
};

/** The fields of a call that the metrics count by. */
export type CountedCall = Pick<JudgeCall, "kind" | "state">;

/** The ids are opaque; at most `scenariosPerCall` scenarios. */
export type RouteAsk = { userInput: string; scenarios: { id: string; scenario: string }[] };

/** At most `criteriaPerCall` criteria, all about one trace. Each names its reply. */
export type SemanticAsk = {
  userInput: string | null;
  replies: { id: string; text: string }[];
  criteria: { id: string; replyId: string; scenario: string; criterion: string; reference?: string }[];
};

/** The valid labels by id; missing ids are asked again. */
export type RouteLabels = Map<string, { label: RouteLabel; reason: string }>;

/** The valid verdicts by id; `overruled`: its quotation is not in the reply, so a favorable verdict became "cannot_tell". */
export type Verdicts = Map<
  string,
  { verdict: VerdictWord; evidence: string; reason: string; overruled?: true }
>;

export const scenariosPerCall = 16;
export const criteriaPerCall = 8;
