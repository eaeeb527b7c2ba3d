// The interface of the judge: questions and answers. A missing answer is a value, not an exception.
import type { JudgeCallKind, JudgeProvider, RestsOn, RouteLabel, VerdictWord } from "./call.ts";
import type { EarlierMessages, Material, Place, Quote } from "./material.ts";
import type { Unanswered } from "./outcome.ts";

/** `earlier`: the conversation before the user's input; absent: there was none. */
export type RoutingQuestion = {
  userInput: string;
  earlier?: EarlierMessages;
  scenarios: { testId: string; scenario: string }[];
  /** Privacy rules that redacted something in the trace; absent: none. */
  redacted?: string[];
};

export type Routed = { label: RouteLabel; reason: string };

/** The model that judged, and the version of our prompts. */
export type JudgedBy = { provider: JudgeProvider; model: string; promptVersion: string };

/** Usage of the answered calls; tokens that the server does not report are estimated. */
export type Spent = { ms: number; inputTokens: number; outputTokens: number; estimated?: true };

/** Labels by `testId`; tests that the judge left out are missing. */
export type RoutingAnswer =
  | ({
      code: "ok";
      labels: Map<string, Routed>;
      /** Why the other tests have no label. */
      unlabelled?: Map<string, Unanswered>;
      /** Why the user's input seems addressed to a judge; then no label is "no_match". */
      suspicious?: string;
      /** Absent: everything was shown. */
      withheld?: Pick<Withheld, "rules">;
      /** Usage of its calls; zero calls if everything was in the cache. */
      spent?: RouteSpent;
    } & Partial<JudgedBy>)
  | (Unanswered & { spent?: RouteSpent });

/** `costUsd` is null if the price of a call is unknown. */
export type RouteSpent = { calls: number; inputTokens: number; outputTokens: number; costUsd: number | null };

/** The usage of one call. */
export type CallUsage = Omit<RouteSpent, "calls"> & { kind: JudgeCallKind };

/** The estimated cost of a routing question; zero calls if the answer is in the cache. */
export type RouteEstimate = ({ code: "ok" } & RouteSpent & Partial<JudgedBy>) | Unanswered;

/** One to `criteriaMax` criteria, each judged on its own. `threshold` in 0..1 and `negate` are those of the check. */
export type SemanticQuestion = {
  testId: string;
  assertionId: string;
  scenario: string;
  userInput: string | null;
  response: string;
  criteria: string[];
  /** In the order of the criteria; null or absent: the judge is asked. */
  restsOn?: (RestsOn | null)[];
  reference?: string;
  threshold: number;
  negate: boolean;
  /** Another check of the test has failed, so this one does not decide. */
  testFails?: true;
  /** Absent: the judge sees the user's input and the reply only. */
  material?: Material;
  /** When the conversation took place, in words; absent: not known. */
  time?: string;
  /** Where the reply and the user's input are, for quotations of them. */
  replyPlace?: Place;
  inputPlace?: Place;
  /** Privacy rules that redacted something in the trace; absent: none. */
  redacted?: string[];
};

export const criteriaMax = 6;

/** What the judge said a criterion rests on; null: it was not sure. */
export type KnownClass = { criterion: string; restsOn: RestsOn | null };

/** Verdicts in the order of the criteria; `evidence` is a passage of the reply, empty if the criterion is about absence. */
export type Vote = {
  /** In 0..1; null if its verdicts do not decide the outcome. */
  score: number | null;
  verdicts: CriterionVerdict[];
};

/**
 * `restsOn`: what the criterion rests on, if the verdict depends on it. `quotes`: where the evidence is, and what it was
 * compared with.
 */
export type CriterionVerdict = {
  verdict: VerdictWord;
  evidence: string;
  reason: string;
  restsOn?: RestsOn;
  quotes?: Quote[];
  /** It is undecided because these privacy rules changed the reply. */
  redacted?: string[];
};

/** `score` is the median of the votes that decided, so that it reaches the threshold where most of them do. */
export type SemanticAnswer =
  | ({
      code: "ok";
      score: number;
      /** One vote, or three if the first was within one verdict of the threshold, or alone fails the test and is voted on. */
      votes: Vote[];
      /** Whether the whole answer was in the cache. */
      cached: boolean;
      spent?: Spent;
      /** Why the reply seems addressed to a judge. It changes no verdict. */
      suspicious?: string;
      withheld?: Withheld;
    } & JudgedBy)
  | Unanswered;

/**
 * What the project's privacy settings kept from the judge: the rules that changed what it was sent, and how many tool
 * results it was not shown.
 */
export type Withheld = { rules?: string[]; toolResults?: number };

/** Neither method throws: an unavailable judge is an answer too. Answers are in the order of the questions. */
export type Judge = {
  route(question: RoutingQuestion, signal?: AbortSignal): Promise<RoutingAnswer>;
  ask(questions: SemanticQuestion[], signal?: AbortSignal): Promise<SemanticAnswer[]>;
  /** What the judge found earlier that criteria rest on. Makes no call; criteria that it was not asked about are missing. */
  knownClasses?(criteria: string[]): Promise<KnownClass[]>;
  /** Makes no call. Absent if the judge cannot estimate. */
  estimateRoute?(question: RoutingQuestion): Promise<RouteEstimate>;
};

/** The caller of the judge: what its calls are stored with and counted for. */
export type JudgeContext = {
  agentId: string;
  /** Null if no stored trace is judged. */
  traceId: string | null;
  /** Null for a dry run or a scenario trial. */
  runId: string | null;
  /** Deadline for retries, in ms since the epoch; null: no retries. */
  deadlineAt: number | null;
  /** Number of failed attempts to ask the judge for this run so far. */
  tries: number;
  /** How long the run has waited for the judge so far; absent: 0. */
  waitedMs?: number;
  /** Set for manual test runs: sampling does not skip them. */
  chosen?: true;
  /** Answers come from the cache only: calls are reported to `onCall`, but not made. */
  cachedOnly?: true;
  /** Called for each call; with `cachedOnly`, for each call that would be made, with estimates. */
  onCall?: (usage: CallUsage) => void;
};

/** The judge for one run, dry run or scenario trial. */
export type JudgeOf = (context: JudgeContext) => Judge;
