// Which scenarios a user's input belongs to, as far as it could be had.

import { type JudgeCall, type LineReply, scenariosPerCall } from "../model/judge/call.ts";
import type { Routed, RouteSpent, RoutingAnswer, RoutingQuestion, Unjudged } from "../model/judge/judge.ts";
import type { Clock } from "../remote/clock.ts";
import { unjudgedBy } from "./faults.ts";
import { type Basis, keysOver, type QuestionKey, type ScenarioAsk } from "./keys.ts";
import { evenly } from "./packing.ts";
import type { Asking, Behalf, Kind, Question } from "./question-broker.ts";

export type RouteDeps = {
  asking: Asking;
  clock: Pick<Clock, "now" | "random">;
  /** Why a text looks as if it were addressed to a judge. */
  suspicionOf: (text: string) => string | undefined;
};

/** One call's failure leaves its scenarios without a label, not the others (F3). */
export async function route(
  { asking, clock, suspicionOf }: RouteDeps,
  { userInput, scenarios }: RoutingQuestion,
  basis: Basis,
  behalf: Behalf,
  signal?: AbortSignal,
): Promise<RoutingAnswer> {
  const keys = keysOver(basis);
  const questions = scenarios.map(({ testId, scenario }): Question<ScenarioAsk> => {
    const ask = { scenario, userInput };
    return { key: keys.ofScenario(ask), ask, testIds: [testId] };
  });
  const spent: RouteSpent = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const onCall = (call: JudgeCall, costUsd: number | null) => {
    spent.calls++;
    spent.inputTokens += call.inputTokens;
    spent.outputTokens += call.outputTokens;
    spent.costUsd = costUsd === null || spent.costUsd === null ? null : spent.costUsd + costUsd;
  };
  const settled = await asking.settle(kind, questions, { ...behalf, onCall }, signal);
  const suspicious = suspicionOf(userInput);
  const labels = new Map<string, Routed>();
  const unlabelled = new Map<string, Unjudged>();
  for (const { key, testIds } of questions) {
    const answer = settled.get(key)!;
    const testId = testIds[0]!;
    if (answer.state !== "ok") unlabelled.set(testId, unjudgedBy(answer, behalf.context, clock));
    else labels.set(testId, suspicious === undefined ? answer.value : guarded(answer.value));
  }
  const told = [...unlabelled.values()];
  const waiting = told.find(({ state }) => state === "waiting");
  const unjudged = waiting ?? (labels.size === 0 ? told[0] : undefined);
  if (unjudged) return { ...unjudged, spent };
  const { model, promptVersion } = basis;
  return {
    state: "ok",
    labels,
    ...(unlabelled.size === 0 ? {} : { unlabelled }),
    spent,
    model,
    promptVersion,
    ...(suspicious === undefined ? {} : { suspicious }),
  };
}

const kind: Kind<ScenarioAsk, Routed> = {
  pack: questions => evenly(questions, scenariosPerCall),
  async put(line, questions, signal, mayGo) {
    // In the order of their hashes: always the same, and no one's doing.
    const shuffled = questions.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const userInput = shuffled[0]!.ask.userInput;
    const scenarios = shuffled.map(({ ask }, at) => ({ id: `s${at + 1}`, scenario: ask.scenario }));
    const reply = await line.route({ userInput, scenarios }, signal, mayGo);
    return byKey(reply, new Map(shuffled.map(({ key }, at) => [`s${at + 1}`, key])));
  },
  isLasting: () => true,
};

/** The values by the keys of their questions in place of their ids. */
export function byKey<V>(
  reply: LineReply<Map<string, V>>,
  keys: Map<string, QuestionKey>,
): LineReply<Map<QuestionKey, V>> {
  if (reply.state !== "ok") return reply;
  const values = [...reply.value].flatMap(([id, value]): [QuestionKey, V][] => {
    const key = keys.get(id);
    return key === undefined ? [] : [[key, value]];
  });
  return { ...reply, value: new Map(values) };
}

/** What may have been written to keep a test from running does not. */
function guarded({ label, reason }: Routed): Routed {
  return { label: label === "no_match" ? "unsure" : label, reason };
}
