// Reads small traces inline and large ones on a thread, so that no trace stalls other requests.

import type { Logger } from "pino";
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import { deriveColumns } from "../load/stale.ts";
import { Refusal } from "../model/refusal.ts";
import type { Addresses, Database } from "../store/db.ts";
import { findTraceSize } from "../store/traces/read.ts";
import { listStale } from "../store/traces/stale.ts";
import { defaultTraceLimits, readingHeapMb, type TraceLimits } from "../threads/heap.ts";
import { ThreadPool } from "../threads/pool.ts";
import {
  loadVersion,
  openTraceReader,
  type TraceParts,
  type TraceReader,
  type VersionReader,
} from "../trace-reader.ts";
import type { TraceThreadData } from "./trace-thread.ts";

export type ThreadedTraceReaderOptions = {
  db: Database;
  addresses: Addresses;
  log: Pick<Logger, "error">;
  /** Traces of up to this much JSON, in few values, are read on the calling thread. */
  inlineBytesMax?: number;
  /** Larger traces are not opened. */
  limits?: TraceLimits;
};

// Opening an ordinary trace of this size takes 1 to 3 ms. The costliest within both limits takes about 5 ms, but for JSON in a
// text: 40 ms. 30 MB take 60 to 150 ms, whether in 10,000 spans or in ten long texts; the outline then takes 4 ms.
const inlineBytesMax = 128 * 1024;
const inlineElementsMax = 5_000;
/** Of all traces that one list brings up to date, with as many values as they like. */
const inlineRefreshBytesMax = 16 * 1024;
/** Larger traces are left to the worker. */
const refreshedBytesMax = 1024 * 1024;
const refreshedMax = 200;
const hangMs = 60_000;
// In a longer queue, requests would wait until their users have left.
const callsMax = 200;

export class ThreadedTraceReader implements TraceReader {
  readonly #options: Required<ThreadedTraceReaderOptions>;
  readonly #inline: VersionReader;
  readonly #inlineHeap: HeapSemaphore;
  readonly #pool: ThreadPool;
  /** Apart, so that a search never holds up who reads a trace. */
  readonly #searches: ThreadPool;

  constructor(options: ThreadedTraceReaderOptions) {
    this.#options = { inlineBytesMax, limits: defaultTraceLimits, ...options };
    const { addresses, limits } = this.#options;
    const inlineLimits = { bytes: this.#options.inlineBytesMax, elements: inlineElementsMax };
    this.#inlineHeap = new HeapSemaphore(inlineLimits);
    this.#inline = openTraceReader(loadVersion(options.db, this.#inlineHeap));
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
  question: TraceReader["question"] = request => this.#read("question", request);

  search: TraceReader["search"] = (request, signal) =>
    this.#searches.call("search", request, signal ? { signal } : {});

  async refresh(agentId: string): Promise<void> {
    const { db } = this.#options;
    const stale = await listStale(db, { agentId, bytesMax: refreshedBytesMax, limit: refreshedMax });
    const bytes = stale.reduce((sum, { bytes }) => sum + bytes, 0);
    if (bytes <= inlineRefreshBytesMax) await deriveColumns(db, stale, {});
    else await this.#pool.call("derive", stale);
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#searches.close()]);
  }

  async #read<T>(name: keyof TraceParts, request: { traceId: string }): Promise<T | undefined> {
    const version = await findTraceSize(this.#options.db, request.traceId);
    if (!version) return undefined;
    const input = { ...request, version };
    const inline = this.#inline[name] as (request: object) => Promise<T>;
    return this.#inlineOr(name, input, version.bytes, () => inline(input));
  }

  /** On the thread if what is read is large, or has more values than are opened on the calling one. */
  async #inlineOr<T>(name: string, input: object, bytes: number, inline: () => Promise<T>): Promise<T> {
    if (bytes <= this.#options.inlineBytesMax) {
      try {
        return await inline();
      } catch (error) {
        if (!(error instanceof Refusal && error.code === "PAYLOAD_TOO_LARGE")) throw error;
      }
    }
    return this.#pool.call<T>(name, input);
  }
}
