// Tests, notes and saved views that may have the value of an erasure: listed, for somebody to edit.

import { parseNumbers } from "../../model/json-exact.ts";
import type { TestCaseDocument } from "../../model/test-case/document.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";

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

export type HeldNote = { agentId: string; traceId: string; testId: string; testName: string; note: string };

/** The notes of an agent about traces that the erasure did not find: the others are deleted with their traces. */
export async function listNotesToSearch(
  db: Database,
  erasureId: string,
  agentId: string,
): Promise<HeldNote[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<HeldNote>(
    `select $2 as "agentId", n.trace_id as "traceId", n.test_id as "testId", c.name as "testName", n.note
     from (
       select trace_id, test_id, note from labels where agent_id = $2::uuid and note <> ''
       union all
       select trace_id, test_id, note from result_states where agent_id = $2::uuid and note <> ''
     ) n
     join test_cases c on c.id = n.test_id
     where not exists (
       select from erasure_matches m where m.agent_id = $2::uuid and m.erasure_id = $1 and m.trace_id = n.trace_id
     )
     order by n.trace_id, n.test_id`,
    [erasureId, agentId],
  );
  return rows;
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

/** Those of the traces that the erasure found, and that are still stored. */
export async function listMatched(db: Database, erasureId: string, traceIds: string[]): Promise<Set<string>> {
  if (traceIds.length === 0) return new Set();
  const { rows } = await db.pool.query<{ id: string }>(
    "select trace_id as id from erasure_matches where erasure_id = $1 and trace_id = any ($2::uuid[])",
    [erasureId, traceIds],
  );
  return new Set(rows.map(({ id }) => id));
}
