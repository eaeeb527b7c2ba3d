// Test cases: each is one JSON document, beside its inputs and the columns that ingestion filters by.

import type pg from "pg";
import { parseNumbers } from "../model/json-exact.ts";
import { type Issue, Refusal } from "../model/refusal.ts";
import type { TestCase, TestCaseDocument } from "../model/test-case/document.ts";
import { whyNotEligible } from "../model/test-case/eligibility.ts";
import { documentOf } from "../model/test-case/test-case.ts";
import { forgetTestState } from "./alerts/test-states.ts";
import { referenceQuery, referenceTransaction } from "./cluster/references.ts";
import type { Database } from "./db.ts";
import type { Listing } from "./listing.ts";
import { newId } from "./new-id.ts";
import { bound, insertion } from "./parameters/bound.ts";

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
  const row = { id: newId(), agent_id: agentId, ...columnsOf(document), ...inputColumnsOf(document) };
  const { text, values } = insertion("test_cases", row);
  const returned = "id, agent_id, version, document, inputs";
  const { rows } = await referenceQuery<TestCaseRow>(db, { text: `${text} returning ${returned}`, values });
  return toTestCase(rows[0]!);
}

/** Replaces the document by `change` of the current one, whose row is locked in the meantime. */
export async function updateTestCase(
  db: Database,
  id: string,
  change: (current: TestCaseDocument) => TestCaseDocument,
): Promise<TestCase | undefined> {
  return referenceTransaction(db, async client => {
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
  return referenceTransaction(db, async client => {
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
  await referenceQuery(db, { text: "delete from test_cases where id = $1", values: [id] });
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
  const row = { ...columnsOf(document), ...inputs?.(document) };
  await client.query(
    bound(
      row,
      at => `update test_cases set ${Object.entries(at).map(([name, value]) => `${name} = ${value}`)},
        version = version + 1, updated_at = now() where id = $1`,
      [id],
    ),
  );
  // Nothing would end its state; once it evaluates live traffic again, its results are counted from there.
  if (whyNotEligible(document) !== null) await forgetTestState(client, { agentId, id });
  return { id, agentId, version: version + 1, ...document };
}

function columnsOf(document: TestCaseDocument) {
  const { inputs: _, ...rest } = document;
  const { name, status, passiveBehavior, turns } = rest;
  return {
    ...{ name, status, passive_behavior: passiveBehavior, turn_count: turns.length },
    document: JSON.stringify(rest),
  };
}

function inputColumnsOf({ inputs = [] }: TestCaseDocument) {
  const texts = inputs.length === 0 ? null : JSON.stringify(inputs.map(({ input }) => input));
  return { inputs: texts, input_count: inputs.length };
}
