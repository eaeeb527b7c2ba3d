// Deadlines for asking the judge, shared by the runs of a launch: an unavailable judge delays the launch only once.
import type { SemanticAnswer } from "../model/judge/judge.ts";
import { isWaiting, wasCalled } from "../model/judge/outcome.ts";
import type { Clock } from "../remote/clock.ts";

const forgetAfterMs = 86_400_000;

export class LaunchDeadlines {
  readonly #deadlineMs: number;
  readonly #clock: Pick<Clock, "now">;
  /** When the judge became unavailable, by launch. */
  readonly #since = new Map<string, number>();

  constructor(deadlineMs: number, clock: Pick<Clock, "now">) {
    this.#deadlineMs = deadlineMs;
    this.#clock = clock;
  }

  /** Deadline for a run that is about to ask. May already have passed; the judge is then asked once. */
  deadlineAt(launchId: string): number {
    return (this.#since.get(launchId) ?? this.#clock.now()) + this.#deadlineMs;
  }

  /** The time already waited, given the time left. */
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
