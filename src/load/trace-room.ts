// Shares the heap of a thread among the traces that are open in it: first come, first served.
import { defaultTraceLimits, type TraceLimits, traceHeapBytes } from "../threads/heap.ts";

/** A share of the room. Releasing it twice does no harm. */
export type Taken = {
  /** Takes more without waiting: the heap has space beside the room for one trace that grows when it is derived. */
  grow(bytes: number): void;
  release(): void;
};

/** One per thread. It has room for one trace of the largest size, or for many small ones that add up to that. */
export class TraceRoom {
  readonly #capacity: number;
  #taken = 0;
  #last: Promise<unknown> = Promise.resolve();
  #admit: () => void = () => {};
  /** Asked for room before somebody waits for it: gives back the share of something kept, or returns false. */
  makeRoom: () => boolean = () => false;

  constructor(limits: TraceLimits = defaultTraceLimits) {
    this.#capacity = traceHeapBytes(limits);
  }

  /** Whether one trace may take this much heap. */
  fits(bytes: number): boolean {
    return bytes <= this.#capacity;
  }

  /** Runs one piece of work after the other: a trace that waits for room is decompressed already, up to 256 MB. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  /**
   * Resolves once there is room, undefined where `signal` is aborted first. Called within `alone`, with bytes that fit.
   * Whoever holds a share must not wait for another.
   */
  async take(bytes: number, signal?: AbortSignal): Promise<Taken | undefined> {
    while (this.#taken > 0 && this.#taken + bytes > this.#capacity) {
      if (signal?.aborted) return undefined;
      if (this.makeRoom()) {
        // The share is given back in a later microtask.
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
