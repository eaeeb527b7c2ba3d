// Work in the background on rows from before a migration, newest first: how far it has come, and who does it.
import type pg from "pg";
import type { Database } from "./db.ts";
import { timeOfId } from "./listing.ts";

/** `trace_values`: what lists find traces by. `batch_agents`: the agents of batches. */
export type Backfill = "trace_values" | "batch_agents";

/** Since when the tools, models and results of tests of all traces are known; null: of all. */
export async function findKnownFrom(db: Database): Promise<Date | null> {
  const { rows } = await db.pool.query<{ below: string }>({
    name: "find_backfill",
    text: "select below from backfills where name = $1",
    values: ["trace_values" satisfies Backfill],
  });
  // It begins above the ids of clocks that are ahead.
  return rows[0] ? new Date(Math.min(timeOfId(rows[0].below), Date.now())) : null;
}

/** The id below which rows are left, leased to the caller; undefined if nothing is left or another process works. */
export async function claimBackfill(
  db: Database,
  name: Backfill,
  leaseMs: number,
): Promise<string | undefined> {
  const { rows } = await db.pool.query<{ below: string }>({
    name: "claim_backfill",
    text: `update backfills set lease_until = now() + $2::float8 * interval '1 ms'
      where name = $1 and lease_until <= now() returning below`,
    values: [name, leaseMs],
  });
  return rows[0]?.below;
}

/** Records that rows from `through` on are done, and ends the lease; null: all are. */
export async function moveBackfill(
  client: pg.Pool | pg.PoolClient,
  name: Backfill,
  { from, through }: { from: string; through: string | null },
): Promise<void> {
  // The lease may have ended: then another process is further, or does the same again, which changes nothing.
  await client.query(
    through === null
      ? { text: "delete from backfills where name = $1 and below = $2", values: [name, from] }
      : {
          text: "update backfills set below = $3, lease_until = now() where name = $1 and below = $2",
          values: [name, from, through],
        },
  );
}
