// Deletes all traces of a database, on a cluster those of each group of shards.

import { allPlaces } from "../../src/store/cluster/routing.ts";
import type { Database } from "../../src/store/db.ts";

export async function deleteAllTraces(db: Database): Promise<void> {
  for (const { pool } of await allPlaces(db))
    await pool.query("select delete_traces(array(select id from traces))");
}
