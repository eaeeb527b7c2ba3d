// How ingestion finds agents: by service name and by id, many at once, whatever the names contain.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { Refusal } from "../../../src/model/refusal.ts";
import {
  findAgentsByIds,
  findAgentsByServiceName,
  insertAgent,
  serviceKey,
  updateAgent,
} from "../../../src/store/accounts/agents.ts";
import type { Database } from "../../../src/store/db.ts";
import { makeAgentRow, makeProject, openTestDatabase } from "../../support/rows.ts";

let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTestDatabase());
});
after(() => close());

test("one lookup finds the agents of several projects by service name, each in its own project", async () => {
  const [one, two] = [await makeProject(db), await makeProject(db)];
  const first = await makeAgentRow(db, { projectId: one, otlpServiceName: "shop" });
  const second = await makeAgentRow(db, { projectId: two, otlpServiceName: "shop" });
  await makeAgentRow(db, { projectId: two, otlpServiceName: "search" });
  const found = await findAgentsByServiceName(db, [
    { projectId: one, serviceName: "shop" },
    { projectId: one, serviceName: "search" },
    { projectId: two, serviceName: "shop" },
    { projectId: two, serviceName: "shop" },
  ]);
  assert.deepEqual(
    [...found].map(([key, agent]) => [key, agent.id]).sort(([one], [other]) => (one! < other! ? -1 : 1)),
    [
      [serviceKey(one, "shop"), first],
      [serviceKey(two, "shop"), second],
    ].sort(([one], [other]) => (one! < other! ? -1 : 1)),
  );
});

test("names that PostgreSQL cannot store find nothing, and do not affect the other names", async () => {
  const projectId = await makeProject(db);
  const id = await makeAgentRow(db, { projectId, otlpServiceName: "\ufffd" });
  const names = ["\0", "a\0b", "\ud800", "a\udfffb", "\ufffd"];
  const found = await findAgentsByServiceName(
    db,
    names.map(serviceName => ({ projectId, serviceName })),
  );
  assert.deepEqual(
    [...found].map(([key, agent]) => [key, agent.id]),
    [[serviceKey(projectId, "\ufffd"), id]],
  );
  assert.equal((await findAgentsByServiceName(db, [{ projectId, serviceName: "\0" }])).size, 0);
  assert.equal((await findAgentsByServiceName(db, [])).size, 0);
});

test("any service name that can be stored finds its agent, and any other text finds nothing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).filter(name => !name.includes("\0")),
      fc.string({ unit: "binary", maxLength: 40 }),
      async (otlpServiceName, other) => {
        const projectId = await makeProject(db);
        const id = await makeAgentRow(db, { projectId, otlpServiceName });
        const found = await findAgentsByServiceName(db, [
          { projectId, serviceName: otlpServiceName },
          { projectId, serviceName: other },
        ]);
        assert.deepEqual([...found.keys()], [serviceKey(projectId, otlpServiceName)]);
        assert.equal(found.get(serviceKey(projectId, otlpServiceName))?.id, id);
      },
    ),
    { numRuns: 50 },
  );
});

test("one lookup finds several agents by id", async () => {
  const [one, two] = [await makeAgentRow(db), await makeAgentRow(db)];
  const unknown = "7f0c1a52-94e8-4c5b-9d7e-3a1f6b2c8d40";
  const found = await findAgentsByIds(db, [one, two, unknown, one]);
  assert.deepEqual(new Set(found.keys()), new Set([one, two]));
  assert.equal(found.get(one)?.name, "Agent");
});

test("only the unique constraint for service names is reported as CONFLICT", async () => {
  const projectId = await makeProject(db);
  await makeAgentRow(db, { projectId, otlpServiceName: "taken" });
  const other = await makeAgentRow(db, { projectId });
  const isConflict = (error: unknown) => error instanceof Refusal && error.code === "CONFLICT";
  await assert.rejects(makeAgentRow(db, { projectId, otlpServiceName: "taken" }), isConflict);
  await assert.rejects(updateAgent(db, other, { otlpServiceName: "taken" }), isConflict);
  const orphan = { projectId: other, name: "Orphan", type: "workflow" as const, otlpServiceName: null };
  await assert.rejects(insertAgent(db, orphan), { code: "NOT_FOUND" });
});
