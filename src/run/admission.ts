// How many runs of a worker ask the judge at the same time, and until when: the others are put off without being asked.
import { busyPauseMs } from "../judging/faults.ts";
import type {
  Judge,
  JudgeContext,
  JudgeOf,
  RoutingAnswer,
  SemanticAnswer,
  Unjudged,
} from "../model/judge/judge.ts";
import type { Clock } from "../remote/clock.ts";

export type Asking = {
  judgeOf: JudgeOf;
  /** How many more runs may ask now. */
  free(): number;
};

/**
 * At most `askingMax` are asking at once, and those of one agent never take more places than they leave free: however
 * long its judge takes, others find some. One too many is answered "waiting", or given up on at its deadline.
 */
export function boundAsking(
  judgeOf: JudgeOf,
  askingMax: number,
  clock: Pick<Clock, "now" | "random">,
): Asking {
  let asking = 0;
  const byAgent = new Map<string, number>();
  const inTurn = async <A>(agentId: string, ask: () => Promise<A>, putOff: () => A): Promise<A> => {
    const own = byAgent.get(agentId) ?? 0;
    if (own >= askingMax - asking) return putOff();
    asking++;
    byAgent.set(agentId, own + 1);
    try {
      return await ask();
    } finally {
      asking--;
      const left = byAgent.get(agentId)! - 1;
      if (left > 0) byAgent.set(agentId, left);
      else byAgent.delete(agentId);
    }
  };
  return {
    free: () => askingMax - asking,
    judgeOf(context) {
      const judge = judgeOf(context);
      const { agentId } = context;
      const putOff = () => othersFirst(context, clock);
      return {
        route: (question, signal) =>
          inTurn<RoutingAnswer>(agentId, () => judge.route(question, signal), putOff),
        ask: (questions, signal) =>
          inTurn<SemanticAnswer[]>(
            agentId,
            () => judge.ask(questions, signal),
            () => questions.map(putOff),
          ),
      };
    },
  };
}

/** A judge that lets wait for whatever it is asked. */
export function waitingJudge(waiting: Unjudged): Judge {
  return { route: async () => waiting, ask: async questions => questions.map(() => waiting) };
}

/** The judge, but nothing it answers makes anybody wait beyond the deadline. */
export function punctual(judge: Judge, deadlineAt: number): Judge {
  const end = <A extends RoutingAnswer | SemanticAnswer>(answer: A): A | Unjudged =>
    answer.state === "waiting" && answer.nextTryAt >= deadlineAt
      ? { state: "unavailable", reason: answer.reason }
      : answer;
  return {
    route: async (question, signal) => end(await judge.route(question, signal)),
    ask: async (questions, signal) => (await judge.ask(questions, signal)).map(end),
  };
}

function othersFirst(context: JudgeContext, clock: Pick<Clock, "now" | "random">): Unjudged {
  const { deadlineAt } = context;
  const nextTryAt = clock.now() + busyPauseMs(context, clock);
  if (deadlineAt !== null && nextTryAt < deadlineAt) {
    return {
      state: "waiting",
      reason: "The judge is busy with other conversations.",
      nextTryAt,
      unasked: true,
    };
  }
  return {
    state: "unavailable",
    reason: "The judge is unavailable: it was busy with others until the deadline.",
  };
}
