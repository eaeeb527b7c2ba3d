// Saved views of an agent's list of traces.
import { Refusal } from "../../model/refusal.ts";
import { referenceTransaction } from "../cluster/references.ts";
import type { Database } from "../db.ts";
import { newId } from "../new-id.ts";

export type TraceView = { id: string; agentId: string; name: string; search: Record<string, string> };

export const viewsMax = 100;

const columns = `id, agent_id as "agentId", name, search`;

/** By name. */
export async function listViews(db: Database, agentId: string): Promise<TraceView[]> {
  const { rows } = await db.pool.query<TraceView>(
    `select ${columns} from trace_views where agent_id = $1 order by lower(name), name`,
    [agentId],
  );
  return rows;
}

/** Creates the view, or replaces the filters of the one with this name. Throws CONFLICT if the agent has too many. */
export async function saveView(
  db: Database,
  { agentId, name, search }: Omit<TraceView, "id">,
): Promise<TraceView> {
  return referenceTransaction(db, async client => {
    // Locked, so that views saved at the same time do not exceed the limit together.
    const { rowCount } = await client.query("select from agents where id = $1 for update", [agentId]);
    if (rowCount === 0) throw new Refusal("NOT_FOUND");
    const { rows } = await client.query<TraceView>(
      // Renamed, because Citus cannot return columns of a local table by its own name.
      `insert into trace_views as made (id, agent_id, name, search)
       select $1, $2, $3, $4
       where exists (select from trace_views where agent_id = $2 and name = $3)
         or (select count(*) from trace_views where agent_id = $2) < $5
       on conflict (agent_id, name) do update set search = excluded.search
       returning ${columns}`,
      [newId(), agentId, name, JSON.stringify(search), viewsMax],
    );
    if (rows[0]) return rows[0];
    throw new Refusal("CONFLICT", {
      message: `An agent has at most ${viewsMax} saved views.`,
      hint: "Delete one first.",
    });
  });
}

export async function deleteView(db: Database, id: string): Promise<void> {
  await db.pool.query("delete from trace_views where id = $1", [id]);
}
