// Semaphore that no account or key can exhaust: each may hold a share of the permits that the others have left free.

export type Release = () => void;

/** Why there is no permit: one of the holders has its share, or all permits are taken by others. */
export type Denied = "share" | "full";

export type TakeOptions = { signal?: AbortSignal | undefined; timeoutMs?: number };

/** A fair semaphore, of this process or of several. */
export type Permits = {
  /** Does not wait if `timeoutMs` is 0. */
  take(holders: readonly string[], options?: TakeOptions): Promise<Release | Denied>;
};

type Waiter = { holders: readonly string[]; grant: (release: Release) => void };

export class FairSemaphore implements Permits {
  readonly #shares: readonly number[];
  readonly #held = new Map<string, number>();
  /** First in, first out among those that may hold another permit. */
  readonly #waiting = new Set<Waiter>();
  #free: number;

  /** `shares`: of an account, or of an account and its keys, such as 0.75 and 0.5. */
  constructor(count: number, shares: readonly number[]) {
    this.#free = count;
    this.#shares = shares;
  }

  get free(): number {
    return this.#free;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Whether one of them holds a permit. */
  isHolding(holders: readonly string[]): boolean {
    return holders.some(holder => this.#held.has(holder));
  }

  /**
   * Resolves to the function that releases the permit, or to undefined after an abort or timeout. `holders`: ids in the
   * order of the shares.
   */
  acquire(holders: readonly string[], { signal, timeoutMs }: TakeOptions = {}): Promise<Release | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    const release = this.tryAcquire(holders);
    if (release) return Promise.resolve(release);
    return new Promise(resolve => {
      const end = (release?: Release) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#waiting.delete(waiter);
        resolve(release);
      };
      const giveUp = () => end();
      const waiter = { holders, grant: end };
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(waiter);
    });
  }

  async take(holders: readonly string[], options: TakeOptions = {}): Promise<Release | Denied> {
    const release =
      this.tryAcquire(holders) ??
      (options.timeoutMs === 0 ? undefined : await this.acquire(holders, options));
    return release ?? (this.isHolding(holders) ? "share" : "full");
  }

  /** Undefined if no permit is free, or one of the holders has its share. */
  tryAcquire(holders: readonly string[]): Release | undefined {
    return this.#admits(holders) ? this.#permit(holders) : undefined;
  }

  /** Anyone may hold one permit. A share is of what is free and what the holder has, so that others still get in. */
  #admits(holders: readonly string[]): boolean {
    if (this.#free === 0) return false;
    return holders.every((holder, level) => {
      const held = this.#held.get(holder) ?? 0;
      return held === 0 || held + 1 <= this.#shares[level]! * (this.#free + held);
    });
  }

  /** Returns a function that releases the permit; repeated calls have no effect. */
  #permit(holders: readonly string[]): Release {
    this.#free -= 1;
    for (const holder of holders) this.#held.set(holder, (this.#held.get(holder) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#free += 1;
      for (const holder of holders) {
        const left = this.#held.get(holder)! - 1;
        if (left > 0) this.#held.set(holder, left);
        else this.#held.delete(holder);
      }
      for (const { holders, grant } of this.#waiting) {
        if (this.#free === 0) break;
        const release = this.tryAcquire(holders);
        if (release) grant(release);
      }
    };
  }
}
