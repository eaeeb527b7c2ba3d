// How a backtest asks the judge: once more for what it cannot answer now, or for an estimate as if every answer were yes.
import type { Judge, SemanticAnswer } from "../model/judge/judge.ts";
import { isWaiting, type Unanswered } from "../model/judge/outcome.ts";
import type { Clock } from "../remote/clock.ts";

/** The judge is asked once more if it can answer within this time. */
const retryMs = 10_000;

/** Asks once more what the judge could not answer now, such as beyond a rate limit. */
export function patient(judge: Judge, clock: Pick<Clock, "now" | "sleep">): Judge {
  const pause = (retryAt: number, signal: AbortSignal | undefined) =>
    clock.sleep(Math.min(Math.max(retryAt - clock.now(), 0), retryMs), signal).catch(() => {});
  const final = <A extends { code: string } | Unanswered>(answer: A): A =>
    isWaiting(answer) ? { ...answer, retryAt: null } : answer;
  return {
    async route(question, signal) {
      const answer = await judge.route(question, signal);
      if (!isWaiting(answer)) return answer;
      await pause(answer.retryAt, signal);
      return final(await judge.route(question, signal));
    },
    async ask(questions, signal) {
      const answers = await judge.ask(questions, signal);
      const waiting = answers.filter(isWaiting);
      if (waiting.length === 0) return answers;
      await pause(Math.max(...waiting.map(({ retryAt }) => retryAt)), signal);
      const open = questions.filter((_, at) => isWaiting(answers[at]!));
      const second = await judge.ask(open, signal);
      let next = 0;
      return answers.map(answer => (isWaiting(answer) ? final(second[next++]!) : answer));
    },
  };
}

const met: SemanticAnswer = {
  ...{ code: "ok", score: 1, votes: [], cached: false },
  ...{ provider: "openai_compatible", model: "", promptVersion: "" },
};

/** Assumes that scenarios match and criteria are met where the answer is not known: then most is asked. */
export function optimistic(judge: Judge, onDenied: (answer: Unanswered) => void): Judge {
  const isOpen = (answer: { code: string } | Unanswered): answer is Unanswered => {
    if (answer.code === "ok") return false;
    const { code, detail } = answer as Unanswered;
    if (code !== "undecided" && detail.code !== "judge_not_asked") onDenied(answer as Unanswered);
    return detail.code === "judge_not_asked";
  };
  return {
    async route(question, signal) {
      const answer = await judge.route(question, signal);
      if (!isOpen(answer)) return answer;
      const match = { label: "match", reason: "" } as const;
      return { code: "ok", labels: new Map(question.scenarios.map(({ testId }) => [testId, match])) };
    },
    async ask(questions, signal) {
      const answers = await judge.ask(questions, signal);
      return answers.map(answer => (isOpen(answer) ? met : answer));
    },
  };
}
