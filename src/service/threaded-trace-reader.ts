// Reads small traces inline and large ones on a thread, so that no trace stalls other requests.
import type { Logger } from "pino";
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import type { Addresses, Database } from "../store/db.ts";
import { findTraceSize } from "../store/traces/read.ts";
import { defaultTraceLimits, readingHeapMb, type TraceLimits } from "../threads/heap.ts";
import { ThreadPool } from "../threads/pool.ts";
import {
  loadVersion,
  openTraceReader,
  type TraceParts,
  type TraceReader,
  type VersionReader,
} from "../trace-reader.ts";

export type TraceThreadData = { addresses: Addresses; limits: TraceLimits };

export type ThreadedTraceReaderOptions = {
  db: Database;
  addresses: Addresses;
  log: Pick<Logger, "error">;
  /** Traces of up to this much JSON are read on the calling thread. */
  inlineBytesMax?: number;
  /** Larger traces are not opened. */
  limits?: TraceLimits;
};

// As for request bodies: opening 256 KB takes 1 to 5 ms, about the longest pause that other requests should see. 30 MB
// take 60 to 150 ms, whether in 10,000 spans or in ten long texts; the outline then takes 4 ms.
const inlineBytesMax = 256 * 1024;
const hangMs = 60_000;
// In a longer queue, requests would wait until their users have left.
const callsMax = 200;

export class ThreadedTraceReader implements TraceReader {
  readonly #options: Required<ThreadedTraceReaderOptions>;
  readonly #inline: VersionReader;
  readonly #pool: ThreadPool;
  /** Apart, so that a search never holds up who reads a trace. */
  readonly #searches: ThreadPool;

  constructor(options: ThreadedTraceReaderOptions) {
    this.#options = { inlineBytesMax, limits: defaultTraceLimits, ...options };
    const { addresses, limits } = this.#options;
    this.#inline = openTraceReader(loadVersion(options.db, new HeapSemaphore(limits)));
    const pool = {
      script: new URL("./trace-thread.ts", import.meta.url),
      workerData: { addresses, limits } satisfies TraceThreadData,
      log: options.log,
      memoryMb: readingHeapMb(limits),
      hangMs,
      callsMax,
    };
    this.#pool = new ThreadPool({ ...pool, name: "the trace reader thread" });
    this.#searches = new ThreadPool({ ...pool, name: "the span search thread", callsPerThread: 1 });
  }

  outline: TraceReader["outline"] = request => this.#read("outline", request);
  span: TraceReader["span"] = request => this.#read("span", request);
  conversation: TraceReader["conversation"] = request => this.#read("conversation", request);
  preview: TraceReader["preview"] = request => this.#read("preview", request);
  turn: TraceReader["turn"] = request => this.#read("turn", request);
  whole: TraceReader["whole"] = request => this.#read("whole", request);
  columns: TraceReader["columns"] = request => this.#read("columns", request);
  raw: TraceReader["raw"] = request => this.#read("raw", request);

  search: TraceReader["search"] = (request, signal) =>
    this.#searches.call("search", request, signal ? { signal } : {});

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#searches.close()]);
  }

  async #read<T>(name: keyof TraceParts, request: { traceId: string }): Promise<T | undefined> {
    const version = await findTraceSize(this.#options.db, request.traceId);
    if (!version) return undefined;
    const inline = this.#inline[name] as (request: object) => Promise<unknown>;
    if (version.bytes <= this.#options.inlineBytesMax) return (await inline({ ...request, version })) as T;
    return this.#pool.call<T>(name, { ...request, version });
  }
}
