// Polls for what no event announces.
import { setTimeout as delay } from "node:timers/promises";

const patienceMs = 40_000;

/**
 * Resolves to what `check` returns once it no longer throws; rejects with its last error when that takes too long.
 * Only for what happens by itself and announces itself nowhere, such as a write behind the answer of a request.
 */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(20);
    }
  }
}
