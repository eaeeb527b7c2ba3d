// Limits the heap that open traces use in a thread: a semaphore of bytes. Accounts and their agents take turns at it.
import { FairQueue, nobody, type Owners } from "../threads/fair-queue.ts";
import { defaultTraceLimits, passingHeapBytes, type TraceLimits, traceHeapBytes } from "../threads/heap.ts";
import { timeInRound } from "../threads/turns.ts";

/** A share of the heap. Releasing it twice is harmless. */
export type Taken = {
  /** Takes more without waiting: the heap has reserve for one trace that grows while it is derived. */
  grow(bytes: number): void;
  release(): void;
};

type Waiting = { bytes: number; isOver: boolean; resolve: (taken: Taken | undefined) => void };

/** How much of the passing heap one trace may use. */
const passingShare = 1 / 8;

/** One per thread. It has room for one trace of the largest size, or many small ones of the same total. */
export class HeapSemaphore {
  readonly #capacity: number;
  #taken = 0;
  /** What small traces have that passed one that waits: beside `#taken`, so that they never make it wait for longer. */
  readonly #passingCapacity: number;
  readonly #passing = new Map<string, number>();
  readonly #queue = new FairQueue<() => Promise<void>>();
  #isServing = false;
  readonly #waiting = new FairQueue<Waiting>();
  /** The first of those that wait. */
  #next: Waiting | undefined;
  /** Called before a trace waits for heap space: drops a cached trace, or returns false if there is none. */
  makeRoom: () => boolean = () => false;

  constructor(limits: TraceLimits = defaultTraceLimits) {
    this.#capacity = traceHeapBytes(limits);
    this.#passingCapacity = passingHeapBytes(limits);
  }

  /** Whether one trace may use this much heap. */
  fits(bytes: number): boolean {
    return bytes <= this.#capacity;
  }

  /** Runs work one after the other, by turns: what it decompresses may be 256 MB, and no heap is taken for it yet. */
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

  /** Undefined if there is no room now. A small one may pass those that wait. */
  tryTake(bytes: number, [accountId]: Owners = nobody): Taken | undefined {
    if (!this.#next && this.#hasRoom(bytes)) return this.#take(bytes);
    if (!this.#next || bytes > passingShare * this.#passingCapacity) return undefined;
    const ofAccount = this.#passing.get(accountId) ?? 0;
    const all = this.#passing.values().reduce((sum, passing) => sum + passing, 0);
    // An account may have half of what the others have left.
    if (2 * (ofAccount + bytes) > this.#passingCapacity - (all - ofAccount)) return undefined;
    return this.#share(bytes, more => {
      const left = (this.#passing.get(accountId) ?? 0) + more;
      if (left > 0) this.#passing.set(accountId, left);
      else this.#passing.delete(accountId);
    });
  }

  /**
   * Resolves once there is room; undefined if `signal` is aborted first. Call it with bytes that fit, and without a share:
   * waiting for a second one could deadlock.
   */
  take(bytes: number, signal?: AbortSignal, owners: Owners = nobody): Promise<Taken | undefined> {
    if (signal?.aborted) return Promise.resolve(undefined);
    return new Promise(resolve => {
      const waiting = { bytes, isOver: false, resolve };
      this.#waiting.add(owners, [waiting]);
      signal?.addEventListener(
        "abort",
        () => {
          waiting.isOver = true;
          resolve(undefined);
          this.#admit();
        },
        { once: true },
      );
      this.#admit();
    });
  }

  /** Serves those that wait, as long as there is room. */
  #admit(): void {
    for (;;) {
      this.#next ??= this.#waiting.turn(waiting => waiting.shift()!);
      const { bytes, isOver, resolve } = this.#next ?? {};
      if (!resolve) return;
      if (!isOver && !this.#hasRoom(bytes!)) {
        // What it drops is released in a later microtask, and then this is called again.
        if (this.makeRoom() && this.#hasRoom(bytes!)) continue;
        return;
      }
      this.#next = undefined;
      if (!isOver) resolve(this.#take(bytes!));
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#capacity;
  }

  #take(bytes: number): Taken {
    return this.#share(bytes, more => {
      this.#taken += more;
    });
  }

  #share(bytes: number, add: (bytes: number) => void): Taken {
    let given = bytes;
    add(bytes);
    return {
      grow: more => {
        given += more;
        add(more);
      },
      release: () => {
        add(-given);
        given = 0;
        this.#admit();
      },
    };
  }
}
