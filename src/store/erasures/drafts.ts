// Backtests and manual runs of tests that were drafted from traces which an erasure found: they quote these, so they are deleted.

import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { idsOfRuns } from "../runs/all-runs.ts";
import { deleteTraces } from "../traces/read.ts";

/** The tests of an agent that were drafted from traces. */
export async function listDrafts(db: Database, agentId: string): Promise<{ id: string; document: string }[]> {
  const { rows } = await db.pool.query<{ id: string; document: string }>(
    `select id, document from test_cases where agent_id = $1 and document like '%"draftedFrom"%'`,
    [agentId],
  );
  return rows;
}

export async function listDraftedBacktests(
  db: Database,
  agentId: string,
): Promise<{ id: string; draftedFrom: string[] }[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ id: string; draftedFrom: string[] }>(
    `select id, drafted_from as "draftedFrom" from backtests where agent_id = $1 and drafted_from <> '{}'`,
    [agentId],
  );
  return rows;
}

export async function deleteBacktests(db: Database, agentId: string, ids: string[]): Promise<void> {
  await (await placeOf(db, agentId)).pool.query(
    "delete from backtests where agent_id = $1 and id = any ($2::uuid[])",
    [agentId, ids],
  );
}

const deletedAtOnce = 500;

/** Deletes the manual runs of these tests, and the traces that agents sent for their turns. */
export async function deleteManualRuns(db: Database, agentId: string, testIds: string[]): Promise<void> {
  const { pool } = await placeOf(db, agentId);
  const values = [agentId, testIds];
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
    const { rows } = await pool.query<{ id: string }>(
      `select distinct t.id
       from ${idsOfRuns("agent_id = $1 and test_id = any ($2::uuid[]) and kind = 'manual'")} r
         join run_turns u on u.agent_id = r.agent_id and u.run_id = r.id
         join traces t on t.agent_id = u.agent_id and t.id = u.trace_id
       limit $3`,
      [...values, deletedAtOnce],
    );
    const ids = rows.map(({ id }) => id);
    deleted = (await deleteTraces(db, agentId, ids)).length;
  }
  await pool.query(
    "select end_runs(array(select id from queue where agent_id = $1 and test_id = any ($2::uuid[])), '')",
    values,
  );
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
    const { rowCount } = await pool.query(
      `delete from runs where agent_id = $1 and id = any (array(
         select id from runs where agent_id = $1 and test_id = any ($2::uuid[]) and kind = 'manual' limit $3
       ))`,
      [...values, deletedAtOnce],
    );
    deleted = rowCount ?? 0;
  }
}
