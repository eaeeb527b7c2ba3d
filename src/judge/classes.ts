// Asks the judge what a criterion rests on and whether it has a condition, once per wording, and only if a verdict depends on it.
import { type CriterionClass, classesPerCall, unknownClass } from "../model/judge/call.ts";
import type { KnownClass } from "../model/judge/judge.ts";
import { isWaiting, type Unanswered } from "../model/judge/outcome.ts";
import { classifyRequest } from "../remote/judge/client.ts";
import type { Database } from "../store/db.ts";
import { findJudgeAnswers } from "../store/judge/answers.ts";
import { evenly } from "./batches.ts";
import { identityOf, keysFor } from "./keys.ts";
import { type Answering, type Asker, byKey, type Question, type QuestionKind } from "./question.ts";

/** The cached classes; criteria without one are omitted. */
export async function findClasses(
  db: Database,
  { context, access }: Asker,
  criteria: string[],
): Promise<KnownClass[]> {
  const { ofClass } = keysFor(identityOf(access));
  const keyed = [...new Set(criteria)].map(criterion => ({ criterion, key: ofClass(criterion) }));
  const answers = await findJudgeAnswers(
    db,
    context.agentId,
    keyed.map(({ key }) => key),
  );
  return keyed.flatMap(({ criterion, key }) => {
    const answer = answers.get(key);
    if (answer === undefined) return [];
    const { restsOn } = JSON.parse(answer) as CriterionClass;
    return [{ criterion, restsOn }];
  });
}

type Wording = { criterion: string };

export class Classifier {
  readonly #judges: Answering;
  readonly #asker: Asker;
  readonly #keys: ReturnType<typeof keysFor>;
  readonly #classes = new Map<string, CriterionClass | Unanswered>();

  constructor(judges: Answering, asker: Asker, keys: ReturnType<typeof keysFor>) {
    this.#judges = judges;
    this.#asker = asker;
    this.#keys = keys;
  }

  /** Asks about criteria that are not known yet. */
  async classify(asked: { criterion: string; testId: string }[], signal?: AbortSignal): Promise<void> {
    const open = [
      ...Map.groupBy(
        asked.filter(({ criterion }) => !this.#classes.has(criterion)),
        ({ criterion }) => criterion,
      ),
    ];
    const questions = open.map(
      ([criterion, by]): Question<Wording> => ({
        key: this.#keys.ofClass(criterion),
        content: { criterion },
        testIds: [...new Set(by.map(({ testId }) => testId))],
      }),
    );
    const answers = await this.#judges.answer(kind, questions, this.#asker, signal);
    for (const { key, content } of questions) {
      const answer = answers.get(key)!;
      this.#classes.set(content.criterion, answer.code === "ok" ? answer.value : answer);
    }
  }

  /** Unknown without a usable answer. A temporary failure is returned, so that the check waits. */
  classOf(criterion: string): CriterionClass | Unanswered {
    const known = this.#classes.get(criterion) ?? unknownClass;
    const isTemporary = "code" in known && ["later", "aborted"].includes(known.code);
    return "code" in known && !isTemporary && !isWaiting(known) ? unknownClass : known;
  }
}

const kind: QuestionKind<Wording, CriterionClass> = {
  batches: questions => evenly(questions, classesPerCall),
  request(questions) {
    const criteria = questions.map(({ content: { criterion } }, at) => ({ id: `c${at + 1}`, criterion }));
    return byKey(classifyRequest({ criteria }), "c", questions);
  },
  isReusable: () => true,
};
