// Semaphore whose waiters take turns by account, and by agent; waiting can be aborted by a signal or a timeout.

import { FairQueue, nobody, type Owners } from "./fair-queue.ts";
import type { Release, TakeOptions } from "./fair-semaphore.ts";

type Grant = (release: Release) => void;

/** All permits are free to anyone. Without owners, everyone waits in one line. */
export class Semaphore {
  readonly #count: number;
  readonly #waiting = new FairQueue<Grant>();
  #free: number;
  #queued = 0;

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get free(): number {
    return this.#free;
  }

  get queued(): number {
    return this.#queued;
  }

  get idle(): boolean {
    return this.#free === this.#count;
  }

  /** Resolves to the function that releases the permit, or to undefined after an abort or timeout. */
  acquire({
    signal,
    timeoutMs,
    owners = nobody,
  }: TakeOptions & { owners?: Owners } = {}): Promise<Release | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    const release = this.tryAcquire();
    if (release) return Promise.resolve(release);
    return new Promise(resolve => {
      const end = (release?: Release) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#queued -= 1;
        resolve(release);
      };
      const giveUp = () => {
        this.#waiting.remove(owners, grant => grant === end);
        end();
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(owners, [end]);
      this.#queued += 1;
    });
  }

  /** Undefined if no permit is free. */
  tryAcquire(): Release | undefined {
    return this.#free > 0 ? this.#permit() : undefined;
  }

  /** Returns a function that releases the permit; repeated calls have no effect. */
  #permit(): Release {
    this.#free -= 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#free += 1;
      const grant = this.#waiting.turn(grants => grants.shift()!);
      grant?.(this.#permit());
    };
  }
}
