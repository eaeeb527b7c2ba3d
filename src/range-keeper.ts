// Keeps ranges of batches in the background, in one process at a time: makes those of the next days, and drops old ones.
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import { type Database, isTransient } from "./store/db.ts";
import { keepRanges } from "./store/ranges.ts";

export type RangeKeeperDeps = {
  db: Database;
  /** Where sessions last: the lock of the process that works is one of a session. */
  directUrl: string;
  log: Logger;
  /** The operator's retention time, in days; null: traces are kept. */
  serverDays: number | null;
  pauseMs?: number;
};

const pauseMsDefault = 300_000;
// After the database was unavailable.
const pauseMsAgain = 30_000;

export class RangeKeeper {
  readonly #deps: RangeKeeperDeps;
  readonly #abort = new AbortController();
  readonly #loop: ClaimLoop;

  constructor(deps: RangeKeeperDeps) {
    this.#deps = deps;
    this.#loop = new ClaimLoop({
      claim: () => this.#round(),
      onFault: error => logFault(deps.log, error, "ranges of batches cannot be kept"),
    });
  }

  /** What is interrupted is done by whoever comes next. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.stop();
  }

  async #round(): Promise<number> {
    const { db, directUrl, log, serverDays, pauseMs = pauseMsDefault } = this.#deps;
    const { signal } = this.#abort;
    // A cluster divides by agent alone.
    if (signal.aborted || db.places) return pauseMs;
    try {
      await keepRanges(directUrl, { serverDays, log, signal });
    } catch (error) {
      logFault(log, error, "ranges of batches cannot be kept");
      // What else failed may have read the whole table.
      if (isTransient(error)) return Math.min(pauseMs, pauseMsAgain);
    }
    return pauseMs;
  }
}
