// Deletes a launch with its runs, and the traces of their turns.

import { placeOfRow } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { idsOfRuns } from "./all-runs.ts";

const deletedAtOnce = 1_000;

/**
 * Deletes the traces first, 1,000 at a time, and most runs with them: one statement for 10,000 runs and their traces could
 * time out. The launch is deleted last, so that a deletion that was interrupted can be repeated.
 */
export async function deleteLaunch(db: Database, id: string): Promise<void> {
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
    const { rowCount } = await (await placeOfRow(db, "launches", id)).pool.query(
      `select delete_traces(array(
         select distinct t.id from ${idsOfRuns("launch_id = $1")} r
           join run_turns u on u.agent_id = r.agent_id and u.run_id = r.id
           join traces t on t.agent_id = u.agent_id and t.id = u.trace_id
         limit $2
       ))`,
      [id, deletedAtOnce],
    );
    deleted = rowCount ?? 0;
  }
  await (await placeOfRow(db, "launches", id)).pool.query("delete from launches where id = $1", [id]);
}
