// Budget of slow sandbox time per agent: a token bucket that refills within a minute.

/** Time of one question that is not counted: validations of ordinary values take less, so no traffic adds up. */
const freeMs = 20;

const minuteMs = 60_000;

export class AgentBudgets {
  readonly #msPerMinute: number;
  readonly #now: () => number;
  readonly #used = new Map<string, { ms: number; at: number }>();

  /** `now`: monotonic milliseconds. */
  constructor(msPerMinute: number, now: () => number = () => performance.now()) {
    this.#msPerMinute = msPerMinute;
    this.#now = now;
  }

  isSpent(agentId: string): boolean {
    return this.#usedNow(agentId) >= this.#msPerMinute;
  }

  /** Counts what a question took beyond `freeMs`. */
  charge(agentId: string, ms: number): void {
    const slowMs = ms - freeMs;
    if (slowMs <= 0) return;
    const used = { ms: this.#usedNow(agentId) + slowMs, at: this.#now() };
    this.#used.set(agentId, used);
    for (const [id, { at }] of this.#used) if (at <= used.at - 2 * minuteMs) this.#used.delete(id);
  }

  #usedNow(agentId: string): number {
    const used = this.#used.get(agentId);
    if (!used) return 0;
    return Math.max(0, used.ms - ((this.#now() - used.at) * this.#msPerMinute) / minuteMs);
  }
}
