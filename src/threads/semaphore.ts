// FIFO semaphore; waiting can be aborted by a signal or a timeout.

export type Release = () => void;

export class Semaphore {
  readonly #count: number;
  #free: number;
  readonly #waiting = new Set<(release: Release) => void>();

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get free(): number {
    return this.#free;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  get idle(): boolean {
    return this.#free === this.#count;
  }

  /** Resolves to the function that releases the permit, or to undefined after an abort or timeout. */
  acquire({
    signal,
    timeoutMs,
  }: {
    signal?: AbortSignal | undefined;
    timeoutMs?: number;
  } = {}): Promise<Release | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    const free = this.tryAcquire();
    if (free) return Promise.resolve(free);
    return new Promise(resolve => {
      const end = (release?: Release) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#waiting.delete(end);
        resolve(release);
      };
      const giveUp = () => end();
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(end);
    });
  }

  /** Undefined if no permit is free. */
  tryAcquire(): Release | undefined {
    if (this.#free === 0) return undefined;
    this.#free -= 1;
    return this.#permit();
  }

  /** Returns a function that releases one permit; repeated calls have no effect. */
  #permit(): Release {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const [next] = this.#waiting;
      if (next) next(this.#permit());
      else this.#free += 1;
    };
  }
}
