// Runs the work of erasures, and of forgetting content, on a thread, so that decompressing and searching traces does not stall requests.

import type { Logger } from "pino";
import type { JobWork } from "../jobs.ts";
import type { Addresses } from "../store/db.ts";
import { readingHeapMb, type TraceLimits } from "../threads/heap.ts";
import { ThreadPool } from "../threads/pool.ts";
import type { TraceThreadData } from "./trace-thread.ts";

// A part reads a few megabytes, or one trace of the largest size.
const hangMs = 120_000;
const callsMax = 50;

export class ThreadedErasures implements JobWork {
  readonly #pool: ThreadPool;

  constructor(options: { addresses: Addresses; limits: TraceLimits; log: Pick<Logger, "error"> }) {
    const { log, ...workerData } = options;
    this.#pool = new ThreadPool({
      name: "the erasure thread",
      script: new URL("./erasure-thread.ts", import.meta.url),
      workerData: workerData satisfies TraceThreadData,
      log,
      memoryMb: readingHeapMb(options.limits),
      hangMs,
      callsMax,
    });
  }

  find: JobWork["find"] = (search, signal) => this.#pool.call("find", search, signal ? { signal } : {});
  recheck: JobWork["recheck"] = (request, signal) =>
    this.#pool.call("recheck", request, signal ? { signal } : {});
  turns: JobWork["turns"] = search => this.#pool.call("turns", search);
  waiting: JobWork["waiting"] = request => this.#pool.call("waiting", request);
  drafts: JobWork["drafts"] = request => this.#pool.call("drafts", request);
  quotes: JobWork["quotes"] = request => this.#pool.call("quotes", request);
  holders: JobWork["holders"] = request => this.#pool.call("holders", request);
  forget: JobWork["forget"] = (due, signal) => this.#pool.call("forget", due, signal ? { signal } : {});

  close(): Promise<void> {
    return this.#pool.close();
  }
}
