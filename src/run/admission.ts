// The judge as one run asks it: only when a permit is free, and never waiting beyond the run's deadline.
import { withRetry } from "../judge/retry.ts";
import type { Judge, JudgeContext, JudgeOf, RoutingAnswer, SemanticAnswer } from "../model/judge/judge.ts";
import { isWaiting, type Unanswered, unanswered } from "../model/judge/outcome.ts";
import type { Clock } from "../remote/clock.ts";
import { FairSemaphore, type Release } from "../threads/fair-semaphore.ts";

/**
 * Concurrent judge calls of runs. Of the permits that the others have left free, an agent may hold half, and all agents of
 * an account three quarters, so a slow judge cannot starve others.
 */
export const judgePermits = (runsMax: number) => new FairSemaphore(runsMax, [0.75, 0.5]);

type RunJudgeDeps = {
  judgeOf: JudgeOf;
  clock: Pick<Clock, "now" | "random">;
  /** Undefined if there is no permit now. Absent: no limit. */
  enter?: (() => Release | undefined) | undefined;
  /** Called before each question. */
  onAsk?: () => void;
};

export function judgeOfRun(
  { judgeOf, clock, enter = () => () => {}, onAsk }: RunJudgeDeps,
  context: JudgeContext & { deadlineAt: number },
): Judge {
  const judge = judgeOf(context);
  const inTime = <A extends RoutingAnswer | SemanticAnswer>(answer: A): A | Unanswered =>
    isWaiting(answer) && answer.retryAt >= context.deadlineAt ? { ...answer, retryAt: null } : answer;

  async function admitted<A>(ask: () => Promise<A>, denied: (why: Unanswered) => A): Promise<A> {
    onAsk?.();
    const release = enter();
    if (!release) return denied(busy(context, clock));
    try {
      return await ask();
    } finally {
      release();
    }
  }

  return {
    route: (question, signal) =>
      admitted<RoutingAnswer>(
        async () => inTime(await judge.route(question, signal)),
        why => why,
      ),
    ask: (questions, signal) =>
      admitted<SemanticAnswer[]>(
        async () => (await judge.ask(questions, signal)).map(inTime),
        why => questions.map(() => why),
      ),
  };
}

function busy(context: JudgeContext, clock: Pick<Clock, "now" | "random">): Unanswered {
  const waiting = withRetry(unanswered("later", { code: "judge_busy" }), context, clock);
  return isWaiting(waiting) ? waiting : unanswered("later", { code: "judge_busy_until_deadline" });
}

/** A judge that has not answered yet, but for scenarios that are known already. */
export function pendingJudge(pending: Unanswered, route: () => RoutingAnswer = () => pending): Judge {
  return { route: async () => route(), ask: async questions => questions.map(() => pending) };
}

export const notAnswered = unanswered("later", { code: "judge_waiting" }, 0);
