// The indexes of due runs by agent, which a database with runs from before their migration gets while the service runs.
import type pg from "pg";
import type { Logger } from "pino";
import { buildIndex } from "../build-index.ts";
import type { Database } from "../db.ts";

/** In `backfills`, until both are there. */
const pendingName = "runs_by_agent";

/** Conditions of the indexes, as SQL. Statements repeat them literally; no other index fits these. */
export const isPending = "(case when state = 'pending' then kind end) = 'passive'";
export const isWaiting = "(case when kind = 'passive' then next_try_at end) is not null";

/** As the migration creates them for a database without runs. */
const indexes = {
  runs_due_by_agent: `runs (agent_id, due_at) where ${isPending}`,
  runs_waiting_by_agent: `runs (agent_id, next_try_at) where ${isWaiting}`,
};

const askAgainMs = 10_000;
/** When each database was last found to lack an index; `Infinity` once it has both. */
const asked = new WeakMap<Database, number>();

/** Whether statements may count on the indexes. While they are being built, the database is asked every 10 s. */
export async function hasAgentIndexes(db: Database): Promise<boolean> {
  const known = asked.get(db) ?? -Infinity;
  if (known === Infinity) return true;
  if (performance.now() - known < askAgainMs) return false;
  const isMissing = await lacksIndexes(db.pool);
  asked.set(db, isMissing ? performance.now() : Infinity);
  return !isMissing;
}

/** Builds those that are missing, without a lock that anybody waits for. Only one process at a time may call it. */
export async function settleAgentIndexes(client: pg.Client, log: Pick<Logger, "info">): Promise<void> {
  if (!(await lacksIndexes(client))) return;
  log.info("Preparing indexes of due runs");
  for (const [name, of] of Object.entries(indexes)) await buildIndex(client, name, of);
  await client.query("delete from backfills where name = $1", [pendingName]);
}

async function lacksIndexes(client: pg.ClientBase | pg.Pool): Promise<boolean> {
  const { rowCount } = await client.query("select from backfills where name = $1", [pendingName]);
  return rowCount! > 0;
}
