// Ends the time windows of rate limits, so that tests need not wait for them.
import type { Database } from "../../src/store/db.ts";

/** Makes it as if the windows of all attempts counted so far had passed. */
export async function endWindows(db: Database): Promise<void> {
  await db.pool.query("update attempts set ends_at = now() - interval '1 second'");
}
