// Which of an agent's latest inputs a scenario would match: first what asking would take, then the answers.
import { shorten } from "../evaluate/excerpt.ts";
import type { TraceRoom } from "../load/trace-room.ts";
import type {
  Judge,
  JudgeOf,
  RouteEstimate,
  RouteLabel,
  RouteSpent,
  RoutingAnswer,
  RoutingQuestion,
} from "../model/judge/judge.ts";
import { isWaiting, type Unanswered } from "../model/judge/outcome.ts";
import { reasonText } from "../model/run/reason.ts";
import type { Clock } from "../remote/clock.ts";
import type { Database } from "../store/db.ts";
import { type RecentInput, type RecentInputs, readRecentInputs } from "./recent-inputs.ts";

export type ScenarioAsk = {
  agentId: string;
  scenario: string;
  /** Of the latest live traces; at most 50. */
  count: number;
  /** Whether nothing is to be asked: the figures are then what asking would come to. */
  estimate: boolean;
};

export type ScenarioTrial = Omit<RecentInputs, "inputs"> &
  RouteSpent & {
    /** The distinct ones. */
    inputs: number;
    /** How many of them need no call. */
    cached: number;
    /** In the order of the traces, newest first. */
    items: TriedInput[];
    /** Inputs that were not put to the judge this time: what was answered is known by the next. */
    left: number;
    /** Why the judge answers nothing at present; null where it does. */
    unavailable: { state: UnavailableState; reason: string } | null;
  };

export type TriedInput = {
  traceId: string;
  traces: number;
  /** At most 500 characters. */
  input: string;
  /** Null where the judge gave no sound answer; `reason` then says why. */
  label: RouteLabel | null;
  reason: string;
  cached: boolean;
  suspicious?: string;
};

export type TrialDeps = {
  db: Database;
  judgeOf: JudgeOf;
  room: TraceRoom;
  clock: Pick<Clock, "now" | "timeout">;
};

const atOnce = 4;
/** No further input is put to the judge after this long; those under way have until `trialMs`. */
const beginMs = 25_000;
const trialMs = 55_000;
const inputMax = 500;

/** Each input is a question of its own: no two conversations share a prompt. */
export async function tryScenario(
  { db, judgeOf, room, clock }: TrialDeps,
  { agentId, scenario, count, estimate }: ScenarioAsk,
  signal: AbortSignal,
): Promise<ScenarioTrial> {
  const { inputs, ...seen } = await readRecentInputs({ db, room }, agentId, count, clock);
  const questions = inputs.map(recent => ({
    recent,
    question: { userInput: recent.input, scenarios: [{ testId, scenario }] },
    judge: judgeOf({ agentId, traceId: recent.traceId, runId: null, deadlineAt: null, tries: 0 }),
  }));
  const come = estimate ? await estimated(questions) : await asked(questions, clock, signal);
  return { ...seen, inputs: inputs.length, ...come };
}

type Question = { recent: RecentInput; question: RoutingQuestion; judge: Judge };
type Come = Pick<ScenarioTrial, "cached" | "items" | "left" | "unavailable" | keyof RouteSpent>;

/** Stands where the id of a stored test would. */
const testId = "draft";

async function estimated(questions: Question[]): Promise<Come> {
  const nothing = { cached: 0, items: [], left: questions.length, unavailable: null };
  const estimates: (RouteEstimate & { code: "ok" })[] = [];
  for (const { judge, question } of questions) {
    const guess = await (judge.estimateRoute?.(question) ?? unknown);
    if (guess.code !== "ok") return { ...nothing, ...sum([]), unavailable: why(guess) };
    estimates.push(guess);
  }
  return { ...nothing, ...sum(estimates), cached: estimates.filter(({ calls }) => calls === 0).length };
}

/** Of a judge that cannot tell: one call for each input, of unknown length. */
const unknown: RouteEstimate = { code: "ok", calls: 1, inputTokens: 0, outputTokens: 0, costUsd: null };

async function asked(questions: Question[], clock: TrialDeps["clock"], asker: AbortSignal): Promise<Come> {
  const enough = clock.timeout(beginMs);
  const late = clock.timeout(trialMs);
  const signal = AbortSignal.any([asker, late]);
  const items: (TriedInput | undefined)[] = questions.map(() => undefined);
  const spent: RouteSpent[] = [];
  let unavailable: ScenarioTrial["unavailable"] = null;
  let next = 0;
  const askOneAfterAnother = async () => {
    while (next < questions.length && unavailable === null && !enough.aborted && !signal.aborted) {
      const at = next++;
      const { recent, question, judge } = questions[at]!;
      const answer = await judge.route(question, signal);
      if (answer.code === "ok" || answer.code === "unusable") items[at] = itemOf(recent, answer);
      else if (!signal.aborted) unavailable = why(answer);
      if (answer.spent) spent.push(answer.spent);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askOneAfterAnother));
  const answered = items.filter(item => item !== undefined);
  const cached = answered.filter(item => item.cached).length;
  const left = questions.length - answered.length;
  return { ...sum(spent), cached, items: answered, left, unavailable };
}

function itemOf({ traceId, traces, input }: RecentInput, answer: RoutingAnswer): TriedInput {
  const about = { traceId, traces, input: shorten(input, inputMax) };
  if (answer.code !== "ok") {
    return { ...about, label: null, reason: reasonText(answer.detail), cached: false };
  }
  const { label = null, reason = "The judge said nothing of this input." } = answer.labels.get(testId) ?? {};
  return {
    ...about,
    label,
    reason,
    cached: answer.spent?.calls === 0,
    ...(answer.suspicious === undefined ? {} : { suspicious: answer.suspicious }),
  };
}

type UnavailableState =
  | "waiting"
  | "unavailable"
  | Exclude<Unanswered["code"], "later" | "refused" | "aborted">;

function why(outcome: Unanswered): ScenarioTrial["unavailable"] {
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
