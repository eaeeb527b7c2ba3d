// The questions put to a judge and the answers it may give; an answer that did not come is data, not an exception.

export type RoutingQuestion = {
  userInput: string;
  scenarios: { testId: string; scenario: string }[];
};

export type RouteLabel = "match" | "unsure" | "no_match";

export type Routed = { label: RouteLabel; reason: string };

/** What judged: a model, by which edition of our prompts (`promptVersion`). */
export type JudgedBy = { model: string; promptVersion: string };

/** What the calls that were answered took. Tokens are 0 where the server does not say. */
export type Spent = { ms: number; inputTokens: number; outputTokens: number };

/**
 * Why there is no judgement. Only "waiting" may still become one: `nextTryAt`, in ms since the epoch, is when it is
 * worth asking again.
 */
export type Unjudged =
  | {
      state: "not_configured" | "unavailable" | "unusable" | "budget" | "not_sampled";
      reason: string;
    }
  | {
      state: "waiting";
      reason: string;
      nextTryAt: number;
      /** It was not asked at all, others being first: no try was in vain. */
      unasked?: true;
    };

/** By `testId`; a test left out of the answer is missing from `labels`. */
export type RoutingAnswer =
  | ({
      state: "ok";
      labels: Map<string, Routed>;
      /** Why others have none. */
      unlabelled?: Map<string, Unjudged>;
      /** Why the user's input looks as if it were addressed to a judge; then no label is "no_match". */
      suspicious?: string;
      /** What was asked for it; without calls where all of it was known before. */
      spent?: RouteSpent;
    } & Partial<JudgedBy>)
  | (Unjudged & { spent?: RouteSpent });

/** `costUsd` is null where the price of a call is not known. */
export type RouteSpent = { calls: number; inputTokens: number; outputTokens: number; costUsd: number | null };

/** What a routing question would take: a guess at its tokens, and no calls where its answer is known. */
export type RouteEstimate = ({ state: "ok" } & RouteSpent & Partial<JudgedBy>) | Unjudged;

export type VerdictWord = "met" | "mostly" | "partly" | "not_met" | "cannot_tell";

/** One to `criteriaMax` of them, each judged by itself. `threshold` in 0..1: whether more votes are worth asking for. */
export type SemanticQuestion = {
  testId: string;
  assertionId: string;
  scenario: string;
  userInput: string | null;
  response: string;
  criteria: string[];
  reference?: string;
  threshold: number;
};

export const criteriaMax = 6;

/** Verdicts in the order of the criteria; `evidence` is a passage of the reply, empty where something is absent. */
export type Vote = {
  /** In 0..1: the mean over the criteria that were decided; null where none was. */
  score: number | null;
  verdicts: { verdict: VerdictWord; evidence: string; reason: string }[];
};

/** `score` is the median of the votes' scores, so that it reaches the threshold where most votes do. */
export type SemanticAnswer =
  | ({
      state: "ok";
      score: number;
      /** One, or three where the first lay within one verdict of the threshold. */
      votes: Vote[];
      /** Whether nothing had to be asked: the same was judged before. */
      cached: boolean;
      spent?: Spent;
      /** Why the reply looks as if it were addressed to a judge. It changes no verdict. */
      suspicious?: string;
    } & JudgedBy)
  | { state: "undecided"; reason: string }
  | Unjudged;

/** Neither method throws: an outage is an answer. The answers of `ask` are in the order of its questions. */
export type Judge = {
  route(question: RoutingQuestion, signal?: AbortSignal): Promise<RoutingAnswer>;
  ask(questions: SemanticQuestion[], signal?: AbortSignal): Promise<SemanticAnswer[]>;
  /** Asks nothing. Absent where the judge cannot tell. */
  estimateRoute?(question: RoutingQuestion): Promise<RouteEstimate>;
};

/** On whose behalf the judge is asked: what its calls are kept with and counted to. */
export type JudgeContext = {
  agentId: string;
  /** Null where no stored trace is judged. */
  traceId: string | null;
  /** Null where somebody tries something out. */
  runId: string | null;
  /** Until when it is worth waiting for the judge, in ms since the epoch; null: nobody waits for a later try. */
  deadlineAt: number | null;
  /** How often the judge was asked in vain on this behalf before. */
  tries: number;
  /** For how long it has waited for the judge already; absent: it has not. */
  waitedMs?: number;
  /** Somebody had this very test run: no sample leaves it out. */
  chosen?: true;
};

/** The judge as it answers on behalf of one run, or of one who tries something out. */
export type JudgeOf = (context: JudgeContext) => Judge;
