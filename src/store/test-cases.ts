// Test cases: each is one JSON document, beside its inputs and the columns that ingestion filters by.

import type pg from "pg";
import { parseNumbers } from "../model/json-exact.ts";
import { type Issue, Refusal } from "../model/refusal.ts";
import type { TestCase, TestCaseDocument } from "../model/test-case/document.ts";
import { whyNotEligible } from "../model/test-case/eligibility.ts";
import { documentOf } from "../model/test-case/test-case.ts";
import { forgetTestState } from "./alerts/test-states.ts";
import { type Database, transaction } from "./db.ts";
import type { Listing } from "./listing.ts";
import { newId } from "./new-id.ts";

/** `whyNotEligible` over columns: the tests that evaluate incoming traces. Has an index of its own. */
export const eligibleSql = "status = 'active' and passive_behavior <> 'manual_only' and turn_count = 1";

// A page of 200 tests with all the inputs that they may have would have 200 million characters.
const pageBytesMax = 8_000_000;

/** The names of those tests that exist, by id. */
export async function namesOfTests(db: Database, ids: string[]): Promise<Map<string, string>> {
  const { rows } = await db.pool.query<{ id: string; name: string }>(
    "select id, name from test_cases where id = any ($1::uuid[])",
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * The test cases of an agent, newest first. Fewer than `rowsMax` once they have 8 MB: then `scannedTo` is the last one.
 */
export async function listTestCases(
  db: Database,
  agentId: string,
  listing: Listing,
): Promise<{ tests: TestCase[]; scannedTo: string | null }> {
  const { rows } = await db.pool.query<TestCaseRow & { found: number }>(
    `select t.id, t.agent_id, t.version, t.document, t.inputs, sized.found from (
        select id, count(*) over () as found, row_number() over (order by id desc) as place,
          sum(octet_length(document) + coalesce(octet_length(inputs), 0)) over (order by id desc) as bytes
        from (
          select id, document, inputs from test_cases where agent_id = $1 and id < $2 order by id desc limit $3
        ) page
      ) sized join test_cases t on t.id = sized.id
      where sized.place = 1 or sized.bytes <= $4 order by t.id desc`,
    [agentId, listing.before, listing.rowsMax, pageBytesMax],
  );
  const isCut = rows.length < (rows[0]?.found ?? 0);
  return { tests: rows.map(toTestCase), scannedTo: isCut ? rows.at(-1)!.id : null };
}

/** Every test case of an agent, oldest first, without inputs: what its traces are evaluated against. */
export async function listForAgent(db: Database, agentId: string): Promise<TestCase[]> {
  const { rows } = await db.pool.query<Omit<TestCaseRow, "inputs">>({
    name: "test-cases-of-agent",
    text: "select id, agent_id, version, document from test_cases where agent_id = $1 order by id",
    values: [agentId],
  });
  return rows.map(row => toTestCase({ ...row, inputs: null }));
}

/** A test case without its inputs, but with their number and their size as JSON. */
export type RunnableTest = TestCase & { inputCount: number; inputBytes: number };

/** Every test case of an agent, oldest first, to be run manually. */
export async function listRunnable(db: Database, agentId: string): Promise<RunnableTest[]> {
  type Row = Omit<TestCaseRow, "inputs"> & { inputCount: number; inputBytes: number };
  const { rows } = await db.pool.query<Row>(
    `select id, agent_id, version, document, input_count as "inputCount",
       coalesce(octet_length(inputs), 0) as "inputBytes"
     from test_cases where agent_id = $1 order by id`,
    [agentId],
  );
  return rows.map(({ inputCount, inputBytes, ...row }) => ({
    ...toTestCase({ ...row, inputs: null }),
    inputCount,
    inputBytes,
  }));
}

export async function findTestCase(db: Database, id: string): Promise<TestCase | undefined> {
  const { rows } = await db.pool.query<TestCaseRow>(`${selectTestCase} where id = $1`, [id]);
  return rows[0] && toTestCase(rows[0]);
}

export async function insertTestCase(
  db: Database,
  agentId: string,
  document: TestCaseDocument,
): Promise<TestCase> {
  const { rows } = await db.pool.query<TestCaseRow>(
    `insert into test_cases (id, agent_id, name, status, passive_behavior, turn_count, document, inputs, input_count)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id, agent_id, version, document, inputs`,
    [newId(), agentId, ...columnsOf(document), ...inputColumnsOf(document)],
  );
  return toTestCase(rows[0]!);
}

/** Replaces the document by `change` of the current one, whose row is locked in the meantime. */
export async function updateTestCase(
  db: Database,
  id: string,
  change: (current: TestCaseDocument) => TestCaseDocument,
): Promise<TestCase | undefined> {
  return transaction(db, async client => {
    const { rows } = await client.query<TestCaseRow>(`${selectTestCase} where id = $1 for update`, [id]);
    if (!rows[0]) return undefined;
    return rewrite(client, toTestCase(rows[0]), change, inputColumnsOf);
  });
}

/**
 * Changes several test cases of an agent, all or none, and returns them newest first. Inputs are neither read, changed
 * nor returned. Throws VALIDATION_ERROR, with their positions, for ids that are no test case of the agent and for those
 * whose change is refused.
 */
export async function updateTestCases(
  db: Database,
  agentId: string,
  ids: string[],
  change: (current: TestCaseDocument) => TestCaseDocument,
): Promise<TestCase[]> {
  return transaction(db, async client => {
    // Always in the same order, so that two callers never deadlock.
    const { rows } = await client.query<Omit<TestCaseRow, "inputs">>(
      `select id, agent_id, version, document from test_cases
       where agent_id = $1 and id = any($2::uuid[]) order by id desc for update`,
      [agentId, ids],
    );
    const tests = rows.map(row => toTestCase({ ...row, inputs: null }));
    const issues = issuesOf(ids, tests, change);
    if (issues.length > 0) throw new Refusal("VALIDATION_ERROR", { issues });
    const changed: TestCase[] = [];
    for (const test of tests) changed.push(await rewrite(client, test, change));
    return changed;
  });
}

function issuesOf(
  ids: string[],
  tests: TestCase[],
  change: (current: TestCaseDocument) => TestCaseDocument,
): Issue[] {
  const known = new Map(tests.map(test => [test.id, test]));
  return ids.flatMap((id, index) => {
    const path = `testIds[${index}]`;
    const test = known.get(id);
    if (!test) return [{ path, message: "This agent has no test case with this id." }];
    const { id: _, agentId: __, version: ___, ...current } = test;
    try {
      change(current);
      return [];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { issues = [{ path: "", message: error.message }] } = error;
      return issues.map(issue => ({ ...issue, path: issue.path ? `${path}.${issue.path}` : path }));
    }
  });
}

export async function deleteTestCase(db: Database, id: string): Promise<void> {
  await db.pool.query("delete from test_cases where id = $1", [id]);
}

const selectTestCase = "select id, agent_id, version, document, inputs from test_cases";

type TestCaseRow = { id: string; agent_id: string; version: number; document: string; inputs: string | null };

function toTestCase(row: TestCaseRow): TestCase {
  const { id, agent_id: agentId, version } = row;
  const document = parseNumbers(row.document) as TestCaseDocument;
  if (row.inputs === null) return { id, agentId, version, ...document };
  const inputs = (JSON.parse(row.inputs) as string[]).map(input => ({ input }));
  return { id, agentId, version, ...documentOf({ ...document, inputs }) };
}

/**
 * One update, as the second update of a row in a transaction locks what its foreign keys refer to: the agent, which its
 * deletion locks before its tests.
 */
async function rewrite(
  client: pg.PoolClient,
  { id, agentId, version, ...current }: TestCase,
  change: (current: TestCaseDocument) => TestCaseDocument,
  inputs?: typeof inputColumnsOf,
): Promise<TestCase> {
  const document = change(current);
  await client.query(
    `update test_cases set name = $2, status = $3, passive_behavior = $4, turn_count = $5, document = $6,
     ${inputs ? "inputs = $7, input_count = $8," : ""} version = version + 1, updated_at = now() where id = $1`,
    [id, ...columnsOf(document), ...(inputs?.(document) ?? [])],
  );
  // Nothing would end its state; once it evaluates live traffic again, its results are counted from there.
  if (whyNotEligible(document) !== null) await forgetTestState(client, { agentId, id });
  return { id, agentId, version: version + 1, ...document };
}

/** Name, status, passive_behavior, turn_count and document. */
function columnsOf(document: TestCaseDocument): unknown[] {
  const { inputs: _, ...rest } = document;
  const { name, status, passiveBehavior, turns } = rest;
  return [name, status, passiveBehavior, turns.length, JSON.stringify(rest)];
}

/** Inputs and input_count. */
function inputColumnsOf({ inputs = [] }: TestCaseDocument): unknown[] {
  if (inputs.length === 0) return [null, 0];
  return [JSON.stringify(inputs.map(({ input }) => input)), inputs.length];
}
