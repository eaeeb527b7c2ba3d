// Answers that hold for one run only, such as unusable ones: a resumed run does not ask the same questions again.
import type { JudgeContext } from "../model/judge/judge.ts";
import type { Clock } from "../remote/clock.ts";
import type { QuestionKey } from "./keys.ts";
import type { Answered, Answers, QuestionKind } from "./question.ts";

export class RunAnswers {
  readonly #clock: Pick<Clock, "now">;
  readonly #byRun = new Map<string, { until: number; answers: Answers<unknown> }>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  find<V>({ runId }: JudgeContext, key: QuestionKey): Answered<V> | undefined {
    const answer = runId === null ? undefined : (this.#byRun.get(runId)?.answers.get(key) as Answered<V>);
    return answer?.code === "ok" ? { ...answer, spent: null } : answer;
  }

  keep<V>(
    { runId, deadlineAt }: JudgeContext,
    answers: Answers<V>,
    { isReusable }: Pick<QuestionKind<never, V>, "isReusable">,
  ): void {
    const kept = [...answers].filter(([, answer]) =>
      answer.code === "ok" ? !isReusable(answer.value) : answer.code === "unusable",
    );
    if (runId === null || deadlineAt === null || kept.length === 0) return;
    for (const [id, { until }] of this.#byRun) if (until < this.#clock.now()) this.#byRun.delete(id);
    const earlier = this.#byRun.get(runId)?.answers ?? [];
    this.#byRun.set(runId, { until: deadlineAt, answers: new Map([...earlier, ...kept]) });
  }
}
