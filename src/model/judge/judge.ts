// The questions that a judge is asked and its answers; a missing answer is data, not an exception.
import type { Unanswered } from "./outcome.ts";

export type RoutingQuestion = {
  userInput: string;
  scenarios: { testId: string; scenario: string }[];
};

export type RouteLabel = "match" | "unsure" | "no_match";

export type Routed = { label: RouteLabel; reason: string };

/** The model that judged, and the version of our prompts. */
export type JudgedBy = { model: string; promptVersion: string };

/** Usage of the calls that were answered; tokens that the server does not report are estimated. */
export type Spent = { ms: number; inputTokens: number; outputTokens: number };

/** By `testId`; a test left out of the answer is missing from `labels`. */
export type RoutingAnswer =
  | ({
      code: "ok";
      labels: Map<string, Routed>;
      /** Why others have none. */
      unlabelled?: Map<string, Unanswered>;
      /** Why the user's input seems addressed to a judge; then no label is "no_match". */
      suspicious?: string;
      /** Usage of its calls; zero calls if everything was in the cache. */
      spent?: RouteSpent;
    } & Partial<JudgedBy>)
  | (Unanswered & { spent?: RouteSpent });

/** `costUsd` is null where the price of a call is not known. */
export type RouteSpent = { calls: number; inputTokens: number; outputTokens: number; costUsd: number | null };

/** What a routing question would cost: estimated tokens, and zero calls if the answer is in the cache. */
export type RouteEstimate = ({ code: "ok" } & RouteSpent & Partial<JudgedBy>) | Unanswered;

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
      code: "ok";
      score: number;
      /** One, or three where the first lay within one verdict of the threshold. */
      votes: Vote[];
      /** Whether the whole answer was in the cache. */
      cached: boolean;
      spent?: Spent;
      /** Why the reply seems addressed to a judge. It changes no verdict. */
      suspicious?: string;
    } & JudgedBy)
  | Unanswered;

/** Neither method throws: an outage is an answer. The answers of `ask` are in the order of its questions. */
export type Judge = {
  route(question: RoutingQuestion, signal?: AbortSignal): Promise<RoutingAnswer>;
  ask(questions: SemanticQuestion[], signal?: AbortSignal): Promise<SemanticAnswer[]>;
  /** Makes no call. Absent where the judge cannot estimate. */
  estimateRoute?(question: RoutingQuestion): Promise<RouteEstimate>;
};

/** Who asks the judge: what its calls are stored with and counted for. */
export type JudgeContext = {
  agentId: string;
  /** Null if no stored trace is judged. */
  traceId: string | null;
  /** Null for a dry run or a scenario trial. */
  runId: string | null;
  /** Until when to wait for the judge, in ms since the epoch; null: nobody waits for another try. */
  deadlineAt: number | null;
  /** How many times the judge was called in vain for this run before. */
  tries: number;
  /** How long the run has waited for the judge so far; absent: not at all. */
  waitedMs?: number;
  /** Somebody started this very test run: sampling does not leave it out. */
  chosen?: true;
};

/** The judge as it answers for one run, dry run or scenario trial. */
export type JudgeOf = (context: JudgeContext) => Judge;
