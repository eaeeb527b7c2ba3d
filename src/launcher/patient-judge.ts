// A judge for a run that stays in hand: where it says to wait, it is waited for and asked again, until the deadline.
import type { Judge, JudgeContext, JudgeOf, SemanticAnswer } from "../model/judge.ts";
import { type Clock, systemClock } from "../remote/clock.ts";

/** Manual runs need no routing: whoever started them chose the tests. */
export function patientJudge(
  judgeOf: JudgeOf,
  context: Omit<JudgeContext, "tries">,
  clock: Pick<Clock, "now" | "sleep"> = systemClock,
): Judge {
  return {
    route: (question, signal) => judgeOf({ ...context, tries: 0 }).route(question, signal),
    async ask(questions, signal) {
      const answers: SemanticAnswer[] = [];
      let open = questions.map((_, at) => at);
      for (let tries = 0; ; tries += 1) {
        const judge = judgeOf({ ...context, tries });
        const given = await judge.ask(
          open.map(at => questions[at]!),
          signal,
        );
        for (const [place, at] of open.entries()) answers[at] = given[place]!;
        open = open.filter(at => answers[at]!.state === "waiting");
        if (open.length === 0 || signal?.aborted) return answers;
        const nextTryAt = Math.max(...open.map(at => nextTryOf(answers[at]!)));
        await clock.sleep(Math.max(nextTryAt - clock.now(), 0), signal).catch(() => undefined);
      }
    },
  };
}

function nextTryOf(answer: SemanticAnswer): number {
  return answer.state === "waiting" ? answer.nextTryAt : 0;
}
