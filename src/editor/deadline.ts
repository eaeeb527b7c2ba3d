// Reports questions that the judge has not answered at a deadline as `judge_silent` instead of `aborted`.
import type { Judge } from "../model/judge/judge.ts";
import { unanswered } from "../model/judge/outcome.ts";

export function withDeadline(judge: Judge, deadline: AbortSignal, ms: number): Judge {
  const late = unanswered("later", { code: "judge_silent", data: { seconds: ms / 1000 } });
  return {
    async route(question, signal) {
      const answer = await judge.route(question, signal);
      return answer.code !== "ok" && deadline.aborted ? late : answer;
    },
    async ask(questions, signal) {
      const answers = await judge.ask(questions, signal);
      return answers.map(answer => (answer.code !== "ok" && deadline.aborted ? late : answer));
    },
  };
}
