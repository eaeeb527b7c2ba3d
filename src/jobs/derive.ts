// Derives columns again that lag behind the spans of their traces, or that a change of an agent's conventions left to be
// derived, while nothing else is to be done.
import type { HeapSemaphore } from "../load/heap-semaphore.ts";
import { refreshStale } from "../load/stale.ts";
import { continueRereading } from "../store/accounts/rereading.ts";
import type { Database } from "../store/db.ts";
import type { Job } from "./job.ts";

export type DeriveDeps = {
  db: Database;
  heap: HeapSemaphore;
  /** Whether there is nothing else to do on this thread. */
  isIdle: () => boolean;
};

/** After this long without new batches. */
const quietMs = 10_000;
const tracesMax = 20;

export function derive({ db, heap, isIdle }: DeriveDeps): Job {
  return {
    name: "derive",
    fault: "columns of traces cannot be derived again",
    everyMs: 2_000,
    restless: true,
    async step(signal) {
      if (!isIdle()) return false;
      const derived = await refreshStale(db, { quietMs, limit: tracesMax, heap, signal });
      return derived === tracesMax || (await continueRereading(db));
    },
  };
}
