// Test cases in the database: documents are stored exactly, and updating several is all or nothing.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import type { TestCaseDocument } from "../../src/model/test-case/document.ts";
import { whyNotEligible } from "../../src/model/test-case/eligibility.ts";
import type { Database } from "../../src/store/db.ts";
import { newest } from "../../src/store/listing.ts";
import {
  eligibleSql,
  findTestCase,
  insertTestCase,
  listForAgent,
  listRunnable,
  listTestCases,
  updateTestCase,
  updateTestCases,
} from "../../src/store/test-cases.ts";
import { makeAgentRow, openTestDatabase } from "../support/rows.ts";

let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTestDatabase());
});
after(() => close());

const document: TestCaseDocument = {
  name: "Test",
  status: "active",
  passiveBehavior: "always_run",
  scenario: "",
  threshold: 0.7,
  turns: [{ input: "Hello" }],
  assertions: [{ type: "response_time", id: "a1", negate: false, depends_on: [], max_ms: 10 }],
};

test("SQL and whyNotEligible agree on which tests are eligible", async () => {
  const agentId = await makeAgentRow(db);
  for (const status of ["active", "disabled"] as const) {
    for (const passiveBehavior of ["always_run", "run_when_relevant", "manual_only"] as const) {
      for (const turns of [[], [{ input: "a" }], [{ input: "a" }, { input: "b" }]]) {
        await insertTestCase(db, agentId, { ...document, status, passiveBehavior, turns });
      }
    }
  }
  const { rows } = await db.pool.query<{ id: string }>(
    `select id from test_cases where agent_id = $1 and ${eligibleSql} order by id`,
    [agentId],
  );
  const eligible = (await listForAgent(db, agentId)).filter(test => whyNotEligible(test) === null);
  assert.equal(eligible.length, 2);
  assert.deepEqual(
    rows.map(({ id }) => id),
    eligible.map(({ id }) => id),
  );
});

test("a document is read back exactly, whatever texts and values it contains", async () => {
  const agentId = await makeAgentRow(db);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary" }),
      // JSON has no -0.
      fc.jsonValue().map(value => JSON.parse(JSON.stringify(value)) as unknown),
      async (scenario, threshold) => {
        const made = await insertTestCase(db, agentId, {
          ...document,
          scenario: `\0\ud800${scenario}`,
          threshold,
        });
        const { id, ...rest } = (await findTestCase(db, made.id))!;
        assert.equal(id, made.id);
        assert.deepEqual(rest, {
          agentId,
          version: 1,
          ...document,
          scenario: `\0\ud800${scenario}`,
          threshold,
        });
      },
    ),
    { numRuns: 50 },
  );
});

test("an agent's test cases are listed newest first in pages, and all of them oldest first for a run", async () => {
  const agentId = await makeAgentRow(db);
  await insertTestCase(db, await makeAgentRow(db), document);
  const ids: string[] = [];
  for (const name of ["1", "2", "3"]) ids.push((await insertTestCase(db, agentId, { ...document, name })).id);
  const { tests: first } = await listTestCases(db, agentId, { before: newest, rowsMax: 2 });
  const { tests: rest } = await listTestCases(db, agentId, { before: first.at(-1)!.id, rowsMax: 2 });
  assert.deepEqual(
    [...first, ...rest].map(({ id }) => id),
    ids.toReversed(),
  );
  assert.deepEqual(
    (await listForAgent(db, agentId)).map(({ id }) => id),
    ids,
  );
});

test("an update that throws changes nothing, whether of one test case or several", async () => {
  const agentId = await makeAgentRow(db);
  const [one, two] = [
    await insertTestCase(db, agentId, document),
    await insertTestCase(db, agentId, { ...document, name: "Stubborn" }),
  ];
  const change = (current: TestCaseDocument): TestCaseDocument => {
    if (current.name === "Stubborn") throw new Error("no");
    return { ...current, status: "disabled" };
  };
  await assert.rejects(updateTestCases(db, agentId, [one.id, two.id], change), /^Error: no$/);
  await assert.rejects(updateTestCase(db, two.id, change), /^Error: no$/);
  assert.deepEqual(await listForAgent(db, agentId), [one, two]);
});

test("two updates of the same test cases in opposite orders both succeed", async () => {
  const agentId = await makeAgentRow(db);
  const ids: string[] = [];
  for (let made = 0; made < 10; made++) ids.push((await insertTestCase(db, agentId, document)).id);
  const rounds = Array.from({ length: 10 }, (_, round) =>
    updateTestCases(db, agentId, round % 2 ? ids : ids.toReversed(), current => ({
      ...current,
      scenario: `${current.scenario}.`,
    })),
  );
  await Promise.all(rounds);
  for (const { scenario } of await listForAgent(db, agentId)) assert.equal(scenario, ".".repeat(10));
});

test("inputs are stored and changed with their test, and not read for the evaluation of live traces", async () => {
  const agentId = await makeAgentRow(db);
  const inputs = ["\0 \ud800", "b"].map(input => ({ input }));
  const made = await insertTestCase(db, agentId, {
    ...document,
    turns: [{ input: "a" }],
    inputs,
    repeats: 2,
  });
  assert.deepEqual(await findTestCase(db, made.id), made);
  assert.deepEqual((await listTestCases(db, agentId, { before: newest, rowsMax: 2 })).tests, [made]);
  const [evaluated] = await listForAgent(db, agentId);
  assert.equal("inputs" in evaluated!, false);
  assert.equal((await listRunnable(db, agentId))[0]?.inputCount, 2);
  await updateTestCases(db, agentId, [made.id], current => ({ ...current, status: "disabled" }));
  const disabled = await findTestCase(db, made.id);
  assert.deepEqual([disabled?.status, disabled?.inputs], ["disabled", inputs]);
  const { inputs: _, ...without } = disabled!;
  await updateTestCase(db, made.id, () => without);
  assert.equal("inputs" in (await findTestCase(db, made.id))!, false);
  assert.equal((await listRunnable(db, agentId))[0]?.inputCount, 0);
});

test("a page of tests with many inputs ends early and says where", async () => {
  const agentId = await makeAgentRow(db);
  const inputs = Array.from({ length: 10 }, () => ({ input: "x".repeat(100_000) }));
  const ids: string[] = [];
  for (let count = 0; count < 10; count++) {
    ids.push((await insertTestCase(db, agentId, { ...document, turns: [{ input: "a" }], inputs })).id);
  }
  const first = await listTestCases(db, agentId, { before: newest, rowsMax: 51 });
  assert.deepEqual([first.tests.length, first.scannedTo], [7, ids[3]]);
  const rest = await listTestCases(db, agentId, { before: first.scannedTo!, rowsMax: 51 });
  assert.deepEqual([rest.tests.map(({ id }) => id), rest.scannedTo], [ids.slice(0, 3).toReversed(), null]);
});
