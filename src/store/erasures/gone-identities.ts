// Identities of traces whose retention time is over: they stay, so an erasure looks at them too.
import type { Database } from "../db.ts";
import { placeOf } from "../scale/places.ts";

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

/** What is sent under them later is a new trace. */
export async function deleteIdentities(db: Database, agentId: string, externalIds: string[]): Promise<void> {
  await (await placeOf(db, agentId)).pool.query(
    `delete from trace_identities i where i.agent_id = $1 and i.external_id = any ($2::text[])
       and not exists (select from traces t where t.id = i.trace_id)`,
    [agentId, externalIds],
  );
}
