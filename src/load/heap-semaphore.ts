// Limits the heap that open traces use in a thread: a semaphore of bytes. Accounts and their agents take turns at opening.
import { FairQueue, type Owners } from "../threads/fair-queue.ts";
import { defaultTraceLimits, type TraceLimits, traceHeapBytes } from "../threads/heap.ts";
import { timeInRound } from "../threads/turns.ts";

const nobody: Owners = ["", ""];

/** A share of the heap. Releasing it twice is harmless. */
export type Taken = {
  /** Takes more without waiting: the heap has reserve for one trace that grows while it is derived. */
  grow(bytes: number): void;
  release(): void;
};

/** One per thread. It has room for one trace of the largest size, or many small ones of the same total. */
export class HeapSemaphore {
  readonly #capacity: number;
  #taken = 0;
  readonly #queue = new FairQueue<() => Promise<void>>();
  #isServing = false;
  #admit: () => void = () => {};
  /** Called before a trace waits for heap space: drops a cached trace, or returns false if there is none. */
  makeRoom: () => boolean = () => false;

  constructor(limits: TraceLimits = defaultTraceLimits) {
    this.#capacity = traceHeapBytes(limits);
  }

  /** Whether one trace may use this much heap. */
  fits(bytes: number): boolean {
    return bytes <= this.#capacity;
  }

  /** Runs work one after the other, by turns: a trace that waits for room is decompressed already, up to 256 MB. */
  alone<T>(work: () => Promise<T>, owners: Owners = nobody): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.add(owners, [() => work().then(resolve, reject)]);
      void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    if (this.#isServing) return;
    this.#isServing = true;
    while (!this.#queue.isEmpty) {
      await timeInRound();
      await this.#queue.turn(works => works.shift()!)!();
    }
    this.#isServing = false;
  }

  /**
   * Resolves once there is room; undefined if `signal` is aborted first. Call it within `alone`, with bytes that fit,
   * and without a share: waiting for a second one could deadlock.
   */
  async take(bytes: number, signal?: AbortSignal): Promise<Taken | undefined> {
    while (this.#taken > 0 && this.#taken + bytes > this.#capacity) {
      if (signal?.aborted) return undefined;
      if (this.makeRoom()) {
        // The share is released in a later microtask.
        await new Promise<void>(resolve => setImmediate(resolve));
        continue;
      }
      await new Promise<void>(resolve => {
        this.#admit = resolve;
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    if (signal?.aborted) return undefined;
    let given = bytes;
    this.#taken += given;
    return {
      grow: more => {
        given += more;
        this.#taken += more;
      },
      release: () => {
        this.#taken -= given;
        given = 0;
        this.#admit();
      },
    };
  }
}
