// Stores resources that several traces of an agent share. The database deletes one with its last batch.
import type pg from "pg";
import { multiRow } from "../parameters/multi-row.ts";
import type { SharedResource, TraceWrite } from "./write.ts";

type Row = SharedResource & { agentId: string };

const sent = multiRow<Row>(1, {
  agent_id: ["uuid", row => row.agentId],
  id: ["uuid", row => row.id],
  resource: ["bytes", row => row.bytes],
});
const asked = multiRow<Row>(1, {
  agent_id: ["uuid", row => row.agentId],
  id: ["uuid", row => row.id],
});

/**
 * Stores the resources of these writes unless they are stored, and locks them until the end of the transaction, so that
 * nobody deletes one that a new batch refers to. Call it after the transaction has locked the traces: deleting a trace
 * locks the trace first, too.
 */
export async function storeResources(client: pg.PoolClient, writes: TraceWrite[]): Promise<void> {
  const rows = new Map<string, Row>();
  for (const { agentId, resource } of writes) if (resource) rows.set(resource.id, { ...resource, agentId });
  if (rows.size === 0) return;
  // Looked for first: a request may contain more traces than one transaction stores, and its resource may be large.
  const known = await client.query<{ id: string }>({
    name: "lock_resources",
    text: `select id from shared_resources where (agent_id, id) in (select * from ${asked.from})
      order by id for key share`,
    values: asked.values([...rows.values()]),
  });
  for (const { id } of known.rows) rows.delete(id);
  if (rows.size === 0) return;
  // Where another transaction is first, updating its row locks it.
  await client.query({
    name: "store_resources",
    text: `insert into shared_resources (agent_id, id, resource)
      select agent_id, id, ${sent.bytes("resource")} from ${sent.from} order by id
      on conflict (agent_id, id) do update set resource = excluded.resource`,
    values: sent.values([...rows.values()]),
  });
}
