// Counts what statements read of the indexes of the queue.
import type pg from "pg";
import type { Database } from "../../../src/store/db.ts";

/** The database as code sees it that runs all statements on this one client. */
export function onClient(db: Database, client: pg.PoolClient): Database {
  return { ...db, pool: Object.assign(Object.create(db.pool), { query: client.query.bind(client) }) };
}

/** How many entries of the indexes of the queue the work reads, in a transaction of the client that is rolled back. */
export async function entriesRead(client: pg.PoolClient, work: () => Promise<void>): Promise<number> {
  await client.query("begin");
  // The session's earlier ones may be among them.
  const before = await countEntries(client);
  await work();
  const entries = (await countEntries(client)) - before;
  await client.query("rollback");
  return entries;
}

async function countEntries(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ entries: number }>(
    `select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int as entries
      from pg_index where indrelid = 'queue'::regclass`,
  );
  return rows[0]!.entries;
}
