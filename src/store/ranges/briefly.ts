// Changes of tables in use: a lock that cannot be had soon is given up and requested again.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

// A statement that waits for a table's lock holds up all that come after it. So it waits briefly and tries again, less and less
// often: a backup has a lock on every table as long as it reads.
const lockMs = 100;
const retryMsDefault = { first: 250, most: 30_000 };

/**
 * In one transaction; a lock that cannot be had soon is asked for again, until then nobody waits behind it. Rejects at once
 * when the client is ended.
 */
export async function briefly(
  client: pg.ClientBase,
  statements: string[],
  retryMs = retryMsDefault,
): Promise<void> {
  for (let waitMs = retryMs.first; ; waitMs = Math.min(2 * waitMs, retryMs.most)) {
    try {
      await client.query("begin");
      await client.query(`set local lock_timeout = ${lockMs}`);
      for (const statement of statements) await client.query(statement);
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback");
      if ((error as { code?: string }).code !== "55P03") throw error;
      await pause(client, waitMs);
    }
  }
}

/** Shorter if the client is ended meanwhile. */
async function pause(client: pg.ClientBase, ms: number): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  client.once("end", end);
  await sleep(ms, undefined, { signal: ended.signal }).catch(() => {});
  client.off("end", end);
}
