// Chooses where a trace is read: small ones at once, large ones on a thread, so that none stalls other requests.
import type { Logger } from "pino";
import { TraceRoom } from "../load/trace-room.ts";
import type { Database } from "../store/db.ts";
import { findTraceSize } from "../store/traces/read.ts";
import { defaultTraceLimits, readingHeapMb, type TraceLimits } from "../threads/heap.ts";
import { ThreadHost } from "../threads/host.ts";
import { loadVersion, openTraceReader, type TraceReader, type VersionReader } from "../trace-reader.ts";

export type TraceData = { databaseUrl: string; limits: TraceLimits };

export type TraceHostOptions = {
  db: Database;
  databaseUrl: string;
  log: Pick<Logger, "error">;
  /** Traces of up to this much JSON are read on the calling thread. */
  inlineBytesMax?: number;
  /** What a trace may hold to be opened. */
  limits?: TraceLimits;
};

// As for bodies that come in: opening so much takes 1 to 5 ms, about the longest pause that other requests are asked
// to bear. 30 MB take 60 to 150 ms, in 10,000 spans as in ten long texts; once open, their outline takes 4 ms.
const inlineBytesMax = 256 * 1024;
const answerMs = 60_000;

export class TraceHost implements TraceReader {
  readonly #options: Required<TraceHostOptions>;
  readonly #near: VersionReader;
  readonly #host: ThreadHost;

  constructor(options: TraceHostOptions) {
    this.#options = { inlineBytesMax, limits: defaultTraceLimits, ...options };
    const { limits } = this.#options;
    this.#near = openTraceReader(loadVersion(options.db, new TraceRoom(limits)));
    this.#host = new ThreadHost({
      name: "the traces' thread",
      script: new URL("./trace-thread.ts", import.meta.url),
      workerData: { databaseUrl: options.databaseUrl, limits } satisfies TraceData,
      log: options.log,
      memoryMb: readingHeapMb(limits),
      answerMs,
    });
  }

  outline: TraceReader["outline"] = ask => this.#read("outline", ask);
  span: TraceReader["span"] = ask => this.#read("span", ask);
  conversation: TraceReader["conversation"] = ask => this.#read("conversation", ask);
  raw: TraceReader["raw"] = ask => this.#read("raw", ask);

  close(): Promise<void> {
    return this.#host.close();
  }

  async #read<T>(name: keyof TraceReader, ask: { traceId: string }): Promise<T | undefined> {
    const version = await findTraceSize(this.#options.db, ask.traceId);
    if (!version) return undefined;
    const near = this.#near[name] as (ask: object) => Promise<unknown>;
    if (version.bytes <= this.#options.inlineBytesMax) return (await near({ ...ask, version })) as T;
    return this.#host.ask<T>(name, { ...ask, version }, neverAborted);
  }
}

/** Reading is short: who goes away leaves it to be answered to nobody. */
const neverAborted = new AbortController().signal;
