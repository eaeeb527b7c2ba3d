// The judge's connection, and a call to it with its result, tokens and texts.
import type { EarlierMessages, Material } from "./material.ts";

export type JudgeProvider = "openai" | "anthropic" | "google" | "openai_compatible";

export const judgeProviders: JudgeProvider[] = ["openai", "anthropic", "google", "openai_compatible"];

/** How structured output is requested, from the strictest mode to the one that every server supports. */
export type JudgeMode = "json_schema" | "tool" | "json_object" | "text";

export const judgeModes: JudgeMode[] = ["json_schema", "tool", "json_object", "text"];

export type JudgeHeader = { name: string; value: string };

export type JudgeConnection = {
  provider: JudgeProvider;
  /** Base URL, such as `https://api.openai.com/v1`; null for the provider's own. */
  url: string | null;
  model: string;
  apiKey: string | null;
  /** Sent with every call, over those of the provider; absent: none. */
  headers?: JudgeHeader[];
  /** Timeout of one call. */
  timeoutMs: number;
  /** Concurrent calls per process. */
  concurrency: number;
  /** Input and output tokens together, per process; null: unlimited. */
  tokensPerMinute: number | null;
  /** Whether a failure that one criterion decides is voted on as well; absent: no. */
  votes?: true;
};

/**
 * The result of a call. "later": a retry may succeed. "refused": no retry succeeds until the connection is edited (401,
 * 403, an unknown model, a redirect). "unusable": the answer cannot be used. "aborted": the caller cancelled it.
 */
export type JudgeCallState = "ok" | "later" | "refused" | "unusable" | "aborted";

/** What a call asks: which scenarios match, which criteria are met, or what criteria rest on. */
export type JudgeCallKind = "route" | "semantic" | "classify";

export type JudgeCall = {
  kind: JudgeCallKind;
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

/** Input tokens as a server counted them, and as estimated from what was sent. */
export type TokenCount = { counted: number; sent: number };

/** The fields of a call that the metrics count by. */
export type CountedCall = Pick<JudgeCall, "kind" | "state">;

/** The ids are opaque; at most `scenariosPerCall` scenarios. */
export type RouteAsk = {
  userInput: string;
  earlier?: EarlierMessages;
  scenarios: { id: string; scenario: string }[];
  /** Privacy rules that redacted something in the trace; absent: none. */
  redacted?: string[];
};

/**
 * At most `criteriaPerCall` criteria, all about one trace. Each names its reply; with items of a conversation there is
 * only one.
 */
export type SemanticAsk = {
  userInput: string | null;
  /** Absent: only the user's input and the replies are shown. */
  material?: Material;
  /** When the conversation took place, in words; absent: not known. */
  time?: string;
  replies: { id: string; part?: ReplyPart; text: string }[];
  criteria: { id: string; replyId: string; scenario: string; criterion: string; reference?: string }[];
  /** Privacy rules that redacted something in the trace; absent: none. */
  redacted?: string[];
};

/** Which part of a long reply, from 1. */
export type ReplyPart = { at: number; of: number };

/** At most `classesPerCall` criteria. */
export type ClassifyAsk = { criteria: { id: string; criterion: string }[] };

/** The valid labels by id; a missing id is asked for again. */
export type RouteLabels = Map<string, { label: RouteLabel; reason: string }>;

/** The valid verdicts by id. */
export type Verdicts = Map<string, GivenVerdict>;

/**
 * A verdict as the judge gave it. `quotation`: whether the passage is in the reply, or in another message or call of the
 * agent; "elsewhere": only in the rest of the material; "trivial": no word of it says anything. `comparison`: whether what
 * the evidence is compared with occurs in anything that was shown. The hints are the judge's own: "reply", "user_input",
 * "reference", or the position of an item in the material, from 0.
 */
export type GivenVerdict = {
  verdict: VerdictWord;
  evidence: string;
  reason: string;
  quotation: "found" | "elsewhere" | "empty" | "trivial" | "invented";
  comparedWith: string;
  comparison: "found" | "empty" | "trivial" | "invented";
  evidenceHint: QuoteHint | null;
  comparisonHint: QuoteHint | null;
};

export type QuoteHint = "reply" | "user_input" | "reference" | number;

/** What shows that a criterion is met: one passage, every part of the reply, or that something is absent. */
export type RestsOn = "passage" | "whole" | "absence";

export const restsOnWords: RestsOn[] = ["passage", "whole", "absence"];

/** `restsOn` null: the judge is not sure. `conditional`: the criterion states a condition, as in "If the user asks …". */
export type CriterionClass = { restsOn: RestsOn | null; conditional: boolean };

export const unknownClass: CriterionClass = { restsOn: null, conditional: false };

/** By id. */
export type Classes = Map<string, CriterionClass>;

export const scenariosPerCall = 16;
export const criteriaPerCall = 10;
export const classesPerCall = 32;

export type RouteLabel = "match" | "unsure" | "no_match";

/** `not_applicable`: the criterion's own condition does not hold, as in "If the user asks for a refund, …". */
export type VerdictWord = "met" | "mostly" | "partly" | "not_met" | "not_applicable" | "cannot_tell";
