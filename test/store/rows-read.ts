// Counts the rows that a transaction reads.
import type pg from "pg";

/** How many rows of these tables, or of their shards, the transaction has read so far, by index. */
export async function rowsRead(client: pg.PoolClient, ...tables: string[]): Promise<number> {
  // On a cluster, shards are hidden otherwise; elsewhere the setting means nothing.
  await client.query("set local citus.override_table_visibility = off");
  const { rows } = await client.query<{ read: number }>(
    "select sum(idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname ~ $1",
    [`^(${tables.join("|")})(_[0-9]+)?$`],
  );
  return rows[0]!.read;
}
