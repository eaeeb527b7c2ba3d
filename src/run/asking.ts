// How many runs of a worker ask the judge at the same time, and until when: the others are put off without being asked.
import type {
  Judge,
  JudgeContext,
  JudgeOf,
  RoutingAnswer,
  SemanticAnswer,
  Unjudged,
} from "../model/judge.ts";
import type { Clock } from "../remote/clock.ts";

export type Asking = {
  judgeOf: JudgeOf;
  /** How many more runs may ask now. */
  free(): number;
};

/** Others' answers take about so long. */
const putOffMs = 1_000;

/** At most `askingMax` are asking at once; one too many is answered "waiting", or given up on at its deadline. */
export function boundAsking(judgeOf: JudgeOf, askingMax: number, clock: Pick<Clock, "now">): Asking {
  let asking = 0;
  const inTurn = async <A>(ask: () => Promise<A>, putOff: () => A): Promise<A> => {
    if (asking >= askingMax) return putOff();
    asking++;
    try {
      return await ask();
    } finally {
      asking--;
    }
  };
  return {
    free: () => askingMax - asking,
    judgeOf(context) {
      const judge = judgeOf(context);
      const putOff = () => othersFirst(context, clock.now());
      return {
        route: (question, signal) => inTurn<RoutingAnswer>(() => judge.route(question, signal), putOff),
        ask: (questions, signal) =>
          inTurn<SemanticAnswer[]>(
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

function othersFirst({ deadlineAt }: JudgeContext, now: number): Unjudged {
  const nextTryAt = now + putOffMs;
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
