// Deletes all traces of agents.

import { placeOf } from "./cluster/routing.ts";
import type { Database } from "./db.ts";
import { deleteLeftBatchesOf } from "./erasures/gone-identities.ts";

const deletedAtOnce = 1_000;

/**
 * Deletes every trace of these agents and what retention left of others, 1,000 at a time: an agent may have millions, and one
 * statement for all of them would time out.
 */
export async function deleteTracesOf(db: Database, agentIds: string[]): Promise<void> {
  for (const agentId of agentIds) {
    // Fewer than were chosen are deleted if somebody else deletes some meanwhile.
    for (let deleted = 1; deleted > 0; ) {
      const { rowCount } = await (await placeOf(db, agentId)).pool.query(
        "select delete_traces(array(select id from traces where agent_id = $1 limit $2))",
        [agentId, deletedAtOnce],
      );
      deleted = rowCount ?? 0;
    }
    await deleteLeftBatchesOf(db, agentId);
  }
}
