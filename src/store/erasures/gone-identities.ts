// Identities of traces whose retention time is over: they stay, so an erasure looks at them, and at what is left of the traces, too.
// So does the deletion of an agent.

import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { spanOf } from "../listing.ts";

export type GoneIdentity = { externalId: string; traceId: string };

/** The next identities of an agent above `after`, and those of them whose traces are gone. */
export async function listGoneIdentities(
  db: Database,
  agentId: string,
  after: string,
  rowsMax: number,
): Promise<{ gone: GoneIdentity[]; last: string | null }> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<GoneIdentity & { isGone: boolean }>({
    name: "list_gone_identities",
    text: `select i.external_id as "externalId", i.trace_id as "traceId",
        not exists (select from traces t where t.id = i.trace_id) as "isGone"
      from trace_identities i where i.agent_id = $1 and i.external_id > $2 order by i.external_id limit $3`,
    values: [agentId, after, rowsMax],
  });
  const last = rows.length === rowsMax ? rows.at(-1)!.externalId : null;
  return { gone: rows.filter(({ isGone }) => isGone), last };
}

/** Whether batches of traces that retention deleted wait for their range to be dropped. */
export async function hasLeftBatches(db: Database): Promise<boolean> {
  if (db.places) return false;
  const { rows } = await db.pool.query("select from range_drops");
  return rows.length > 0;
}

/** Deletes what is left of these traces, which are gone. */
export async function deleteLeftBatches(db: Database, traceIds: string[]): Promise<void> {
  await db.pool.query({
    name: "delete_left_batches",
    text: `delete from trace_batches b where trace_id = any ($1::uuid[]) and trace_id >= $2 and trace_id <= $3
      and not exists (select from traces t where t.id = b.trace_id)`,
    values: [traceIds, ...spanOf(traceIds)],
  });
}

const rowsMax = 2_000;

/** The same of all traces of the agent that are gone: once it is deleted with their identities, nobody finds their batches. */
export async function deleteLeftBatchesOf(db: Database, agentId: string): Promise<void> {
  if (!(await hasLeftBatches(db))) return;
  for (let after: string | null = ""; after !== null; ) {
    const { gone, last } = await listGoneIdentities(db, agentId, after, rowsMax);
    const traceIds = gone.map(({ traceId }) => traceId);
    if (traceIds.length > 0) await deleteLeftBatches(db, traceIds);
    after = last;
  }
}

/** What is sent under them later is a new trace. */
export async function deleteIdentities(db: Database, agentId: string, externalIds: string[]): Promise<void> {
  await (await placeOf(db, agentId)).pool.query(
    `delete from trace_identities i where i.agent_id = $1 and i.external_id = any ($2::text[])
       and not exists (select from traces t where t.id = i.trace_id)`,
    [agentId, externalIds],
  );
}
