// Polls for what no event announces.
import { setTimeout as delay } from "node:timers/promises";

const patienceMs = 40_000;

/**
 * Resolves to what `check` returns once it no longer throws; rejects with its last error when that takes too long.
 * Only for what happens in the background without an event, such as a write behind the answer of a request.
 */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const waited = performance.now() - since;
      if (waited > patienceMs) throw error;
      // Looks cost CPU time: asking less often in long waits takes 26 s instead of 30 s for test/flow/judge-faults.test.ts.
      await delay(Math.min(Math.max(20, waited / 10), 200));
    }
  }
}
