// A judge for a run that stays in hand: where it says to wait, it is waited for and asked again, until the deadline.
import type { Judge, JudgeContext, JudgeOf, SemanticAnswer, Unjudged } from "../model/judge.ts";
import type { Clock } from "../remote/clock.ts";

/** Told of every wait before it begins. */
export type OnWait = (wait: Unjudged & { state: "waiting" }, deadlineAt: number) => Promise<void>;

/** Manual runs need no routing: whoever started them chose the tests. */
export function patientJudge(
  judgeOf: JudgeOf,
  behalf: Pick<JudgeContext, "agentId" | "traceId" | "runId"> & { launchId: string },
  { patience, clock, onWait }: { patience: Patience; clock: Pick<Clock, "now" | "sleep">; onWait: OnWait },
): Judge {
  const { launchId, ...rest } = behalf;
  const context = { ...rest, chosen: true as const, deadlineAt: patience.deadlineAt(launchId) };
  return {
    route: (question, signal) => judgeOf({ ...context, tries: 0 }).route(question, signal),
    async ask(questions, signal) {
      const answers: SemanticAnswer[] = [];
      let open = questions.map((_, at) => at);
      for (let tries = 0; ; ) {
        const judge = judgeOf({ ...context, tries });
        const given = await judge.ask(
          open.map(at => questions[at]!),
          signal,
        );
        patience.note(launchId, given);
        for (const [place, at] of open.entries()) answers[at] = given[place]!;
        open = open.filter(at => answers[at]!.state === "waiting");
        const waits = given.filter(answer => answer.state === "waiting");
        if (waits.length === 0 || signal?.aborted) return answers;
        if (waits.some(({ unasked }) => !unasked)) tries += 1;
        // No question is put again sooner than it may be.
        const wait = waits.reduce((a, b) => (b.nextTryAt > a.nextTryAt ? b : a));
        await onWait(wait, context.deadlineAt);
        await clock.sleep(Math.max(wait.nextTryAt - clock.now(), 0), signal).catch(() => undefined);
        if (signal?.aborted) return answers;
      }
    },
  };
}

const forgetAfterMs = 86_400_000;

/** How long launches wait for the judge: an outage is waited out by all runs of a launch together, not by each anew. */
export class Patience {
  readonly #deadlineMs: number;
  readonly #clock: Pick<Clock, "now">;
  /** By launch: since when the judge has not answered. */
  readonly #since = new Map<string, number>();

  constructor(deadlineMs: number, clock: Pick<Clock, "now">) {
    this.#deadlineMs = deadlineMs;
    this.#clock = clock;
  }

  /** For a run that is about to ask. In the past where the launch has waited enough: it is asked once then. */
  deadlineAt(launchId: string): number {
    return (this.#since.get(launchId) ?? this.#clock.now()) + this.#deadlineMs;
  }

  note(launchId: string, answers: SemanticAnswer[]): void {
    const now = this.#clock.now();
    if (answers.some(answer => answer.state === "ok" && !answer.cached)) this.#since.delete(launchId);
    else if (answers.some(answer => answer.state === "waiting" && !answer.unasked)) {
      for (const [id, since] of this.#since) if (since < now - forgetAfterMs) this.#since.delete(id);
      if (!this.#since.has(launchId)) this.#since.set(launchId, now);
    }
  }
}
