// Test cases: each is one JSON document, with the columns that ingestion asks by beside it.
import type pg from "pg";
import { type Issue, Refusal } from "../model/refusal.ts";
import type { TestCase, TestCaseDocument } from "../model/test-case/test-case.ts";
import { type Database, transaction } from "./db.ts";
import type { Listing } from "./listing.ts";

/** The test cases of an agent, newest first. */
export async function listTestCases(db: Database, agentId: string, listing: Listing): Promise<TestCase[]> {
  const rows = await db.query
    .selectFrom("test_cases")
    .select(["id", "agent_id", "version", "document"])
    .where("agent_id", "=", agentId)
    .where("id", "<", listing.before)
    .orderBy("id", "desc")
    .limit(listing.rowsMax)
    .execute();
  return rows.map(toTestCase);
}

/** Every test case of an agent, oldest first: what a run judges by. */
export async function listForAgent(db: Database, agentId: string): Promise<TestCase[]> {
  const { rows } = await db.pool.query<TestCaseRow>({
    name: "test-cases-of-agent",
    text: `${selectTestCase} where agent_id = $1 order by id`,
    values: [agentId],
  });
  return rows.map(toTestCase);
}

export async function findTestCase(db: Database, id: string): Promise<TestCase | undefined> {
  const row = await db.query
    .selectFrom("test_cases")
    .select(["id", "agent_id", "version", "document"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row && toTestCase(row);
}

export async function insertTestCase(
  db: Database,
  agentId: string,
  document: TestCaseDocument,
): Promise<TestCase> {
  const row = await db.query
    .insertInto("test_cases")
    .values({ agent_id: agentId, ...columnsOf(document) })
    .returning(["id", "agent_id", "version", "document"])
    .executeTakeFirstOrThrow();
  return toTestCase(row);
}

/** Replaces the document by `change` of the present one, which nobody else changes meanwhile. */
export async function updateTestCase(
  db: Database,
  id: string,
  change: (current: TestCaseDocument) => TestCaseDocument,
): Promise<TestCase | undefined> {
  return transaction(db, async client => {
    const { rows } = await client.query<TestCaseRow>(`${selectTestCase} where id = $1 for update`, [id]);
    return rows[0] && rewrite(client, toTestCase(rows[0]), change);
  });
}

/**
 * Does the same to several test cases of an agent, all or none, and returns them newest first. Throws
 * VALIDATION_ERROR, naming the positions, for ids of which the agent has no test case and for those whose change is
 * refused.
 */
export async function updateTestCases(
  db: Database,
  agentId: string,
  ids: string[],
  change: (current: TestCaseDocument) => TestCaseDocument,
): Promise<TestCase[]> {
  return transaction(db, async client => {
    // In one order everywhere, so that two callers never wait for each other.
    const { rows } = await client.query<TestCaseRow>(
      `${selectTestCase} where agent_id = $1 and id = any($2::uuid[]) order by id desc for update`,
      [agentId, ids],
    );
    const tests = rows.map(toTestCase);
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
  await db.query.deleteFrom("test_cases").where("id", "=", id).execute();
}

const selectTestCase = "select id, agent_id, version, document from test_cases";

type TestCaseRow = { id: string; agent_id: string; version: number; document: string };

function toTestCase(row: TestCaseRow): TestCase {
  const { id, agent_id: agentId, version } = row;
  return { id, agentId, version, ...(JSON.parse(row.document) as TestCaseDocument) };
}

async function rewrite(
  client: pg.PoolClient,
  { id, agentId, version, ...current }: TestCase,
  change: (current: TestCaseDocument) => TestCaseDocument,
): Promise<TestCase> {
  const document = change(current);
  const columns = columnsOf(document);
  await client.query(
    `update test_cases set name = $2, status = $3, passive_behavior = $4, turn_count = $5, document = $6,
     version = version + 1, updated_at = now() where id = $1`,
    [id, columns.name, columns.status, columns.passive_behavior, columns.turn_count, columns.document],
  );
  return { id, agentId, version: version + 1, ...document };
}

function columnsOf(document: TestCaseDocument) {
  return {
    name: document.name,
    status: document.status,
    passive_behavior: document.passiveBehavior,
    turn_count: document.turns.length,
    document: JSON.stringify(document),
  };
}
