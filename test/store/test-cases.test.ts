// Test cases in the database: documents are stored exactly, and updating several is all or nothing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { whyNotEligible } from "../../src/model/test-case/eligibility.ts";
import type { TestCaseDocument } from "../../src/model/test-case/test-case.ts";
import type { Database } from "../../src/store/db.ts";
import { newest } from "../../src/store/listing.ts";
import {
  eligibleSql,
  findTestCase,
  insertTestCase,
  listForAgent,
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

test("an update of an unknown test case finds nothing", async () => {
  const id = "7f0c1a52-94e8-4c5b-9d7e-3a1f6b2c8d40";
  assert.equal(await updateTestCase(db, id, current => current), undefined);
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
