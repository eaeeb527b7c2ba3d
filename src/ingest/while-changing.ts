// Repeats a write whose agent's settings changed after it was prepared.
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../model/refusal.ts";
import { IntakeChanged } from "../store/traces/write.ts";

/** What is known of an agent may be this much older than what the storing statement sees: see gather.ts. */
const pauseMs = 50;
const triesMax = 10;

/** Calls `adapt` and then `write` again for as long as `write` rejects with IntakeChanged. Throws UNAVAILABLE in the end. */
export async function whileChanging<T>(
  write: () => Promise<T>,
  adapt: (changed: IntakeChanged) => Promise<void>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof IntakeChanged)) throw error;
      if (tries === triesMax) throw new Refusal("UNAVAILABLE", { cause: error });
      if (tries > 1) await sleep(pauseMs);
      await adapt(error);
    }
  }
}
