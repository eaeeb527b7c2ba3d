// The judge as one run asks it: only when a permit is free, and never waiting beyond the run's deadline.
import { withRetry } from "../judge/retry.ts";
import type { Judge, JudgeContext, JudgeOf, RoutingAnswer, SemanticAnswer } from "../model/judge/judge.ts";
import { isWaiting, type Unanswered, unanswered } from "../model/judge/outcome.ts";
import type { Clock } from "../remote/clock.ts";
import { type Release, Semaphore } from "../threads/semaphore.ts";

/** Limits concurrent judge calls of runs. One agent may hold at most half of the free permits, so a slow judge cannot starve others. */
export class Admission {
  readonly #semaphore: Semaphore;
  readonly #byAgent = new Map<string, number>();

  constructor(runsMax: number) {
    this.#semaphore = new Semaphore(runsMax);
  }

  get free(): number {
    return this.#semaphore.free;
  }

  /** Undefined if the agent gets no permit now. */
  enter(agentId: string): Release | undefined {
    const own = this.#byAgent.get(agentId) ?? 0;
    const release = own < this.free ? this.#semaphore.tryAcquire() : undefined;
    if (!release) return undefined;
    this.#byAgent.set(agentId, own + 1);
    return () => {
      release();
      const left = this.#byAgent.get(agentId)! - 1;
      if (left > 0) this.#byAgent.set(agentId, left);
      else this.#byAgent.delete(agentId);
    };
  }
}

type RunJudgeDeps = {
  judgeOf: JudgeOf;
  clock: Pick<Clock, "now" | "random">;
  /** Absent: no limit. */
  admission?: Admission | undefined;
  /** Called before each question. */
  onAsk?: () => void;
};

export function judgeOfRun(
  { judgeOf, clock, admission, onAsk }: RunJudgeDeps,
  context: JudgeContext & { deadlineAt: number },
): Judge {
  const judge = judgeOf(context);
  const inTime = <A extends RoutingAnswer | SemanticAnswer>(answer: A): A | Unanswered =>
    isWaiting(answer) && answer.retryAt >= context.deadlineAt ? { ...answer, retryAt: null } : answer;

  async function admitted<A>(ask: () => Promise<A>, denied: (why: Unanswered) => A): Promise<A> {
    onAsk?.();
    const release = admission ? admission.enter(context.agentId) : () => {};
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
