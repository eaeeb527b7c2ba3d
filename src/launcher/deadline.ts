// For how long manual runs wait for the judge: an outage is waited out by all runs of a launch together, not by each anew.
import type { SemanticAnswer } from "../model/judge/judge.ts";
import { isWaiting, wasCalled } from "../model/judge/outcome.ts";
import type { Clock } from "../remote/clock.ts";

const forgetAfterMs = 86_400_000;

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

  /** For how long one has waited that waits for so long at most from now on. */
  waitedMs(leftMs: number): number {
    return Math.max(0, this.#deadlineMs - leftMs);
  }

  note(launchId: string, answers: SemanticAnswer[]): void {
    const now = this.#clock.now();
    if (answers.some(answer => answer.code === "ok" && !answer.cached)) this.#since.delete(launchId);
    else if (answers.some(answer => isWaiting(answer) && wasCalled(answer.detail))) {
      for (const [id, since] of this.#since) if (since < now - forgetAfterMs) this.#since.delete(id);
      if (!this.#since.has(launchId)) this.#since.set(launchId, now);
    }
  }
}
