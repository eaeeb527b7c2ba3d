// Fills the agents of batches from before these had one.
import { type Database, transaction } from "../db.ts";

/** Before compression: what a transaction may write anew, but for a trace that is larger alone. */
const bytesMax = 32 * 1024 * 1024;

/**
 * Fills the batches of the newest traces below this id, at most `tracesMax`. Returns the lowest id that is done; null: none
 * is left.
 */
export async function fillBatchAgents(
  db: Database,
  below: string,
  tracesMax: number,
): Promise<string | null> {
  return transaction(db, async client => {
    const { rows } = await client.query<{ id: string }>({
      name: "list_unkeyed",
      text: `select id from (
          select id, sum(batch_bytes) over (order by id desc rows unbounded preceding) - batch_bytes as before
          from (select id, batch_bytes from traces where id < $1 order by id desc limit $2) newest
        ) sized where before < $3::bigint order by id desc`,
      values: [below, tracesMax, bytesMax],
    });
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return null;
    await client.query({
      name: "fill_batch_agents",
      // Locked in the order of their ids, as by merges and replacements, which change the batches of several traces.
      text: `with locked as materialized (
          select id, agent_id from traces where id = any ($1::uuid[]) order by id for key share
        )
        update trace_batches set agent_id = locked.agent_id from locked
        where trace_batches.trace_id = locked.id and trace_batches.agent_id is null`,
      values: [ids],
    });
    return ids.at(-1)!;
  });
}
