// Chooses where a trace is read: small ones inline, large ones on a thread, so that none stalls other requests.
import type { Logger } from "pino";
import { TraceRoom } from "../load/trace-room.ts";
import type { Database } from "../store/db.ts";
import { findTraceSize } from "../store/traces/read.ts";
import { defaultTraceLimits, readingHeapMb, type TraceLimits } from "../threads/heap.ts";
import { ThreadPool } from "../threads/pool.ts";
import { loadVersion, openTraceReader, type TraceReader, type VersionReader } from "../trace-reader.ts";

export type TraceData = { databaseUrl: string; limits: TraceLimits };

export type TraceHostOptions = {
  db: Database;
  databaseUrl: string;
  log: Pick<Logger, "error">;
  /** Traces of up to this much JSON are read on the calling thread. */
  inlineBytesMax?: number;
  /** Larger traces are not opened. */
  limits?: TraceLimits;
};

// As for request bodies: opening 256 KB takes 1 to 5 ms, about the longest pause that other requests should see. 30 MB
// take 60 to 150 ms, in 10,000 spans as in ten long texts; once they are open, their outline takes 4 ms.
const inlineBytesMax = 256 * 1024;
const answerMs = 60_000;
// More would wait longer than a reader does.
const asksMax = 200;

export class TraceHost implements TraceReader {
  readonly #options: Required<TraceHostOptions>;
  readonly #inline: VersionReader;
  readonly #pool: ThreadPool;

  constructor(options: TraceHostOptions) {
    this.#options = { inlineBytesMax, limits: defaultTraceLimits, ...options };
    const { limits } = this.#options;
    this.#inline = openTraceReader(loadVersion(options.db, new TraceRoom(limits)));
    this.#pool = new ThreadPool({
      name: "the thread that reads traces",
      script: new URL("./trace-thread.ts", import.meta.url),
      workerData: { databaseUrl: options.databaseUrl, limits } satisfies TraceData,
      log: options.log,
      memoryMb: readingHeapMb(limits),
      answerMs,
      asksMax,
    });
  }

  outline: TraceReader["outline"] = ask => this.#read("outline", ask);
  span: TraceReader["span"] = ask => this.#read("span", ask);
  conversation: TraceReader["conversation"] = ask => this.#read("conversation", ask);
  raw: TraceReader["raw"] = ask => this.#read("raw", ask);

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #read<T>(name: keyof TraceReader, ask: { traceId: string }): Promise<T | undefined> {
    const version = await findTraceSize(this.#options.db, ask.traceId);
    if (!version) return undefined;
    const inline = this.#inline[name] as (ask: object) => Promise<unknown>;
    if (version.bytes <= this.#options.inlineBytesMax) return (await inline({ ...ask, version })) as T;
    return this.#pool.ask<T>(name, { ...ask, version });
  }
}
