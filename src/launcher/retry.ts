// Retries database work of a manual run while the database is unavailable.
import { setTimeout as delay } from "node:timers/promises";
import { isTransient } from "../store/db.ts";

/** Retries until `signal` is aborted: a turn that was sent must not be sent again, so its result must not be lost. */
export async function retryTransient<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await delay(500, undefined, { signal }).catch(() => {});
    }
  }
}
