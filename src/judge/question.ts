// The questions of the pipeline: one scenario or one criterion each, identified by its cache key.

import type { JudgeCall } from "../model/judge/call.ts";
import type { JudgeContext, Spent } from "../model/judge/judge.ts";
import type { Unanswered } from "../model/judge/outcome.ts";
import type { Clock } from "../remote/clock.ts";
import type { JudgeRequest } from "../remote/judge/client.ts";
import type { JudgeAccess } from "./admission.ts";
import type { QuestionKey } from "./keys.ts";

/** `testIds`: the tests that ask it and share its cost. */
export type Question<Q> = { key: QuestionKey; content: Q; testIds: string[] };

/** `spent`: this asker's share of the calls; null if none was made for it. */
export type Answered<V> = { code: "ok"; value: V; spent: Spent | null } | Unanswered;

export type Answers<V> = Map<QuestionKey, Answered<V>>;

/** How one kind of question is sent to the judge. */
export type QuestionKind<Q, V> = {
  /** The questions of each call. */
  batches(questions: Question<Q>[]): Question<Q>[][];
  request(questions: Question<Q>[]): JudgeRequest<Map<QuestionKey, V>>;
  /** Whether the answer may be cached. */
  isReusable(value: V): boolean;
};

export type Asker = {
  context: JudgeContext;
  access: JudgeAccess;
  /** Called for each call made for this asker; `costUsd` null: its price is not known. */
  onCall?: (call: JudgeCall, costUsd: number | null) => void;
};

/** The request with its answers by question key; in the prompt the questions are `prefix` 1, 2, 3. */
export function byKey<V>(
  request: JudgeRequest<Map<string, V>>,
  prefix: string,
  questions: Question<unknown>[],
): JudgeRequest<Map<QuestionKey, V>> {
  const keys = new Map(questions.map(({ key }, at) => [`${prefix}${at + 1}`, key]));
  return {
    ...request,
    read(answer) {
      const outcome = request.read(answer);
      if (outcome.code !== "ok") return outcome;
      return { code: "ok", value: new Map([...outcome.value].map(([id, value]) => [keys.get(id)!, value])) };
    },
  };
}

/** One question per key, with the tests of all questions that have it. */
export function merged<Q>(questions: Question<Q>[]): Question<Q>[] {
  const byKey = new Map<QuestionKey, Question<Q>>();
  for (const question of questions) {
    const testIds = [...(byKey.get(question.key)?.testIds ?? []), ...question.testIds];
    byKey.set(question.key, { ...(byKey.get(question.key) ?? question), testIds });
  }
  return [...byKey.values()];
}

/** The same outcome for each question. */
export function allOf<V>(questions: Question<unknown>[], answer: Unanswered): Answers<V> {
  return new Map(questions.map(({ key }) => [key, answer]));
}

/** What answers questions: from the cache, from a call in flight, or by asking. */
export type Answering = {
  readonly clock: Clock;
  answer<Q, V>(
    kind: QuestionKind<Q, V>,
    questions: Question<Q>[],
    asker: Asker,
    signal?: AbortSignal,
  ): Promise<Answers<V>>;
};
