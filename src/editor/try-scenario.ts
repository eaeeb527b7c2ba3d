// Tries a scenario on an agent's latest inputs: estimates the cost, or asks the judge which inputs match.

import type { HeapSemaphore } from "../load/heap-semaphore.ts";
import type { RouteLabel } from "../model/judge/call.ts";
import type {
  Judge,
  JudgeOf,
  RouteEstimate,
  RouteSpent,
  RoutingAnswer,
  RoutingQuestion,
} from "../model/judge/judge.ts";
import { isWaiting, type Unanswered } from "../model/judge/outcome.ts";
import { reasonText } from "../model/run/reason-text.ts";
import { shorten } from "../model/shorten.ts";
import type { Clock } from "../remote/clock.ts";
import type { Database } from "../store/db.ts";
import { type RecentInput, type RecentInputs, readRecentInputs } from "./recent-inputs.ts";

export type ScenarioRequest = {
  agentId: string;
  scenario: string;
  /** How many of the latest live traces to read; at most 50. */
  count: number;
  /** Whether to return an estimate without calling the judge. */
  estimate: boolean;
};

export type ScenarioTrial = Omit<RecentInputs, "inputs"> &
  RouteSpent & {
    /** How many distinct inputs the traces have. */
    inputs: number;
    /** How many of these have a cached answer and need no call. */
    cached: number;
    /** In the order of the traces, newest first. */
    items: TriedInput[];
    /** How many inputs are not in `items`. Answers are cached, so repeating the request continues with these. */
    left: number;
    /** Why the judge is unavailable; null if it is available. */
    unavailable: { state: UnavailableState; reason: string } | null;
  };

export type TriedInput = {
  traceId: string;
  traces: number;
  /** At most 500 characters. */
  input: string;
  /** Null if the judge gave no usable answer; `reason` then says why. */
  label: RouteLabel | null;
  reason: string;
  cached: boolean;
  suspicious?: string;
};

export type TrialDeps = {
  db: Database;
  judgeOf: JudgeOf;
  heap: HeapSemaphore;
  clock: Pick<Clock, "now" | "timeout">;
};

const concurrency = 4;
/** No call starts after this time; calls still open after `trialMs` are aborted. */
const startCallsMs = 25_000;
const trialMs = 55_000;
const inputMax = 500;

/** Makes one call per input, so that no prompt contains the inputs of two conversations. */
export async function tryScenario(
  { db, judgeOf, heap, clock }: TrialDeps,
  { agentId, scenario, count, estimate }: ScenarioRequest,
  signal: AbortSignal,
): Promise<ScenarioTrial> {
  const { inputs, ...seen } = await readRecentInputs({ db, heap }, agentId, count, clock);
  const questions = inputs.map(recent => ({
    recent,
    question: { userInput: recent.input, scenarios: [{ testId, scenario }] },
    judge: judgeOf({ agentId, traceId: recent.traceId, runId: null, deadlineAt: null, tries: 0 }),
  }));
  const figures = estimate ? await estimateAll(questions) : await askAll(questions, clock, signal);
  return { ...seen, inputs: inputs.length, ...figures };
}

type InputQuestion = { recent: RecentInput; question: RoutingQuestion; judge: Judge };
type TrialFigures = Pick<ScenarioTrial, "cached" | "items" | "left" | "unavailable" | keyof RouteSpent>;

/** The id of the draft in the question and its answer. */
const testId = "draft";

async function estimateAll(questions: InputQuestion[]): Promise<TrialFigures> {
  const notAsked = { cached: 0, items: [], left: questions.length, unavailable: null };
  const estimates: (RouteEstimate & { code: "ok" })[] = [];
  for (const { judge, question } of questions) {
    const estimate = await (judge.estimateRoute?.(question) ?? unknownLength);
    if (estimate.code !== "ok") return { ...notAsked, ...sum([]), unavailable: unavailability(estimate) };
    estimates.push(estimate);
  }
  return { ...notAsked, ...sum(estimates), cached: estimates.filter(({ calls }) => calls === 0).length };
}

/** For judges that cannot estimate: one call per input, of unknown length. */
const unknownLength: RouteEstimate = { code: "ok", calls: 1, inputTokens: 0, outputTokens: 0, costUsd: null };

async function askAll(
  questions: InputQuestion[],
  clock: TrialDeps["clock"],
  clientSignal: AbortSignal,
): Promise<TrialFigures> {
  const startTimeout = clock.timeout(startCallsMs);
  const signal = AbortSignal.any([clientSignal, clock.timeout(trialMs)]);
  const items: (TriedInput | undefined)[] = questions.map(() => undefined);
  const spent: RouteSpent[] = [];
  let unavailable: ScenarioTrial["unavailable"] = null;
  let next = 0;
  const askUntilDone = async () => {
    while (next < questions.length && unavailable === null && !startTimeout.aborted && !signal.aborted) {
      const at = next++;
      const { recent, question, judge } = questions[at]!;
      const answer = await judge.route(question, signal);
      if (answer.code === "ok" || answer.code === "unusable") items[at] = itemOf(recent, answer);
      else if (!signal.aborted) unavailable = unavailability(answer);
      if (answer.spent) spent.push(answer.spent);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, askUntilDone));
  const answered = items.filter(item => item !== undefined);
  const cached = answered.filter(item => item.cached).length;
  const left = questions.length - answered.length;
  return { ...sum(spent), cached, items: answered, left, unavailable };
}

function itemOf({ traceId, traces, input }: RecentInput, answer: RoutingAnswer): TriedInput {
  const base = { traceId, traces, input: shorten(input, inputMax) };
  if (answer.code !== "ok") return { ...base, label: null, reason: reasonText(answer.detail), cached: false };
  const { label = null, reason = "The judge gave no answer for this input." } =
    answer.labels.get(testId) ?? {};
  return {
    ...base,
    label,
    reason,
    cached: answer.spent?.calls === 0,
    ...(answer.suspicious === undefined ? {} : { suspicious: answer.suspicious }),
  };
}

export type UnavailableState =
  | "waiting"
  | "unavailable"
  | Exclude<Unanswered["code"], "later" | "refused" | "aborted">;

export function unavailability(outcome: Unanswered): NonNullable<ScenarioTrial["unavailable"]> {
  const { code, detail } = outcome;
  const isUnavailable = code === "later" || code === "refused" || code === "aborted";
  const state = isWaiting(outcome) ? "waiting" : isUnavailable ? "unavailable" : code;
  return { state, reason: reasonText(detail) };
}

function sum(parts: RouteSpent[]): RouteSpent {
  const total = (of: (part: RouteSpent) => number) => parts.reduce((all, part) => all + of(part), 0);
  const isPriced = parts.every(({ costUsd, calls }) => costUsd !== null || calls === 0);
  return {
    calls: total(({ calls }) => calls),
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    costUsd: isPriced ? total(({ costUsd }) => costUsd ?? 0) : null,
  };
}
