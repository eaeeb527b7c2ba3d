// FIFO semaphore; waiting can be aborted by a signal or a timeout.
import { FairSemaphore, type Release } from "./fair-semaphore.ts";

/** All permits are free to anyone: a fair semaphore without holders. */
export class Semaphore {
  readonly #count: number;
  readonly #permits: FairSemaphore;

  constructor(count: number) {
    this.#count = count;
    this.#permits = new FairSemaphore(count, []);
  }

  get free(): number {
    return this.#permits.free;
  }

  get queued(): number {
    return this.#permits.queued;
  }

  get idle(): boolean {
    return this.free === this.#count;
  }

  /** Resolves to the function that releases the permit, or to undefined after an abort or timeout. */
  acquire(
    until: { signal?: AbortSignal | undefined; timeoutMs?: number } = {},
  ): Promise<Release | undefined> {
    return this.#permits.acquire([], until);
  }

  /** Undefined if no permit is free. */
  tryAcquire(): Release | undefined {
    return this.#permits.tryAcquire([]);
  }
}
