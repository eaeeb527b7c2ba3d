// Tests, notes and saved views that may have the value of an erasure: listed, and edited once somebody chose them.

import { parseNumbers } from "../../model/json-exact.ts";
import type { TestCaseDocument } from "../../model/test-case/document.ts";
import type { Database } from "../db.ts";
import { placeOf } from "../scale/places.ts";

export type HeldTest = {
  id: string;
  agentId: string;
  name: string;
  document: TestCaseDocument;
  inputs: unknown;
};

/** The test cases of an agent with ids above `after`. */
export async function listTestsToSearch(
  db: Database,
  agentId: string,
  after: string,
  rowsMax: number,
): Promise<HeldTest[]> {
  type Row = { id: string; name: string; document: string; inputs: string | null };
  const { rows } = await db.pool.query<Row>(
    "select id, name, document, inputs from test_cases where agent_id = $1 and id > $2 order by id limit $3",
    [agentId, after, rowsMax],
  );
  return rows.map(({ id, name, document, inputs }) => ({
    ...{ id, agentId, name },
    document: parseNumbers(document) as TestCaseDocument,
    inputs: inputs && JSON.parse(inputs),
  }));
}

/** `id`: `label.<id>`, or `state.<trace>.<test>` for the note beside the state of a failed result. */
export type HeldNote = {
  id: string;
  agentId: string;
  traceId: string;
  testId: string;
  testName: string;
  note: string;
};

/** The notes of an agent about traces that the erasure did not find: the others are deleted with their traces. */
export async function listNotesToSearch(
  db: Database,
  erasureId: string,
  agentId: string,
): Promise<HeldNote[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<HeldNote>(
    `select n.id, $2 as "agentId", n.trace_id as "traceId", n.test_id as "testId", c.name as "testName", n.note
     from (
       select 'label.' || id as id, trace_id, test_id, note from labels where agent_id = $2::uuid and note <> ''
       union all
       select 'state.' || trace_id || '.' || test_id, trace_id, test_id, note from result_states
         where agent_id = $2::uuid and note <> ''
     ) n
     join test_cases c on c.id = n.test_id
     where not exists (
       select from erasure_matches m where m.agent_id = $2::uuid and m.erasure_id = $1 and m.trace_id = n.trace_id
     )
     order by 1`,
    [erasureId, agentId],
  );
  return rows;
}

export async function rewriteNote(
  db: Database,
  projectId: string,
  id: string,
  change: (note: string) => string,
): Promise<boolean> {
  const [kind, first, second = null] = id.split(".");
  const [table, found] =
    kind === "label"
      ? ["labels", "id = $2::uuid and $3::uuid is null"]
      : ["result_states", "trace_id = $2::uuid and test_id = $3::uuid"];
  const ofProject = "agent_id in (select id from agents where project_id = $1)";
  const values = [projectId, first, second];
  const { rows } = await db.pool.query<{ agentId: string; note: string }>(
    `select agent_id as "agentId", note from ${table} where ${ofProject} and ${found}`,
    values,
  );
  if (!rows[0] || change(rows[0].note) === rows[0].note) return false;
  const { agentId, note } = rows[0];
  const { rowCount } = await (await placeOf(db, agentId)).pool.query(
    `update ${table} set note = $4 where ${ofProject} and ${found} and note = $5`,
    [...values, change(note), note],
  );
  return rowCount === 1;
}

export type HeldView = { id: string; agentId: string; name: string; search: Record<string, string> };

export async function listViewsOfProject(db: Database, projectId: string): Promise<HeldView[]> {
  const { rows } = await db.pool.query<HeldView>(
    `select v.id, v.agent_id as "agentId", v.name, v.search from agents a join trace_views v on v.agent_id = a.id
     where a.project_id = $1 order by v.name, v.id`,
    [projectId],
  );
  return rows;
}

/** Deletes the views of the project among these; how many there were. */
export async function deleteViewsOf(db: Database, projectId: string, ids: string[]): Promise<number> {
  const { rowCount } = await db.pool.query(
    `delete from trace_views v using agents a where a.id = v.agent_id and a.project_id = $1 and v.id = any ($2::uuid[])`,
    [projectId, ids],
  );
  return rowCount ?? 0;
}

/** Those of the tests that belong to the project. */
export async function listTestsOfProject(db: Database, projectId: string, ids: string[]): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    `select t.id from agents a join test_cases t on t.agent_id = a.id
     where a.project_id = $1 and t.id = any ($2::uuid[]) order by t.id`,
    [projectId, ids],
  );
  return rows.map(({ id }) => id);
}

/** Those of the traces that the erasure found, and that are still stored. */
export async function listMatched(db: Database, erasureId: string, traceIds: string[]): Promise<Set<string>> {
  if (traceIds.length === 0) return new Set();
  const { rows } = await db.pool.query<{ id: string }>(
    "select trace_id as id from erasure_matches where erasure_id = $1 and trace_id = any ($2::uuid[])",
    [erasureId, traceIds],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Deletes the backtests of an agent whose test was drafted from a trace that the erasure found: they quote it. */
export async function deleteDraftedBacktests(
  db: Database,
  erasureId: string,
  agentId: string,
): Promise<void> {
  const { pool } = await placeOf(db, agentId);
  const { rows } = await pool.query<{ id: string; draftedFrom: string[] }>(
    `select id, drafted_from as "draftedFrom" from backtests where agent_id = $1 and drafted_from <> '{}'`,
    [agentId],
  );
  const matched = await listMatched(
    db,
    erasureId,
    rows.flatMap(({ draftedFrom }) => draftedFrom),
  );
  const quoting = rows.filter(({ draftedFrom }) => draftedFrom.some(id => matched.has(id)));
  if (quoting.length === 0) return;
  await pool.query("delete from backtests where agent_id = $1 and id = any ($2::uuid[])", [
    agentId,
    quoting.map(({ id }) => id),
  ]);
}
