// After a change of an agent's rules or conventions its latest traces are derived again: one job an agent, which the next
// change restarts. A portion at a time is marked, and marked traces are derived as those that a merge has changed.
import type pg from "pg";
import { referenceTransaction } from "../cluster/references.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";

/** This many of an agent's latest traces. */
export const rereadMax = 10_000;

/** As many as a list derives before it is shown. */
export const portionMax = 200;

/** In the transaction of the change, which has locked the agent. Readers see the first portion at once. */
export async function beginRereading(client: pg.PoolClient, agentId: string): Promise<void> {
  // Agents and traces in a statement each: on a cluster they are on different nodes.
  const { rows } = await client.query<{ of: number }>(
    `select count(*)::int as of from (select from traces where agent_id = $1 limit ${rereadMax}) latest`,
    [agentId],
  );
  const { of } = rows[0]!;
  await client.query("update agents set rereading = $2 where id = $1", [agentId, of]);
  await markPortion(client, { agentId, before: null, left: of });
}

/** Marks the next portion of the job that has come least far. False: there is no job. */
export async function continueRereading(db: Database): Promise<boolean> {
  const { rows } = await db.pool.query<{ id: string }>({
    name: "agent-to-reread",
    text: `select id from agents where reread_before is not null order by reread_before desc limit 1`,
  });
  const agentId = rows[0]?.id;
  if (agentId === undefined) return false;
  await referenceTransaction(db, async client => {
    const { rows } = await client.query<{ before: string | null; left: number }>(
      `select reread_before as before, reread_left as left from agents where id = $1 for no key update`,
      [agentId],
    );
    // Another process has ended it, or the agent was deleted.
    if (rows[0] && rows[0].before !== null) await markPortion(client, { agentId, ...rows[0] });
  });
  return true;
}

type Portion = { agentId: string; before: string | null; left: number };

async function markPortion(client: pg.PoolClient, { agentId, before, left }: Portion): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    `select id from traces where agent_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    [agentId, before, Math.min(left, portionMax)],
  );
  // In the order in which merges lock traces.
  await client.query(
    `with portion as materialized (
      select id from traces where agent_id = $1 and id = any ($2::uuid[]) order by id for no key update
    )
    update traces set derived_revision = 0 from portion
      where traces.agent_id = $1 and traces.id = portion.id and traces.derived_revision <> 0
        and traces.content is distinct from 'forgotten'`,
    [agentId, rows.map(({ id }) => id)],
  );
  const isDone = rows.length < portionMax || left <= rows.length;
  await client.query("update agents set reread_left = $2, reread_before = $3 where id = $1", [
    agentId,
    isDone ? 0 : left - rows.length,
    isDone ? null : rows.at(-1)!.id,
  ]);
}

/** How many of the traces that the latest change left to be derived again still are; null: none. */
export async function findRereading(db: Database, id: string): Promise<{ left: number; of: number } | null> {
  const { rows } = await (await placeOf(db, id)).pool.query<{ left: number; of: number }>(
    `select a.rereading as of, a.reread_left + (
      select count(*)::int from traces
      where agent_id = a.id and derived_revision <> revision and derived_revision = 0
    ) as left
    from agents a where a.id = $1 and a.rereading > 0`,
    [id],
  );
  const found = rows[0];
  return found && found.left > 0 ? { left: found.left, of: Math.max(found.of, found.left) } : null;
}
