// Keeps the ranges of batches: makes those of the next days, and drops those whose time is over.
import type { Logger } from "pino";
import type { Database } from "../store/db.ts";
import { keepRanges } from "../store/ranges.ts";
import type { Job } from "./job.ts";

export type RangesDeps = {
  db: Database;
  /** Where sessions last. */
  directUrl: string;
  log: Logger;
  /** The operator's retention time, in days; null: traces are kept. */
  serverDays: number | null;
};

export function ranges({ db, directUrl, log, serverDays }: RangesDeps): Job {
  return {
    name: "ranges",
    fault: "ranges of batches cannot be kept",
    everyMs: 300_000,
    alone: true,
    async step(signal) {
      // A cluster divides by agent alone.
      if (!db.places) await keepRanges(directUrl, { serverDays, log, signal });
      return false;
    },
  };
}
