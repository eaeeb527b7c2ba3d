// Accounts, projects, agents, keys and tests that are created, changed and deleted in the same moment.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { hashKey, makeKey } from "../../../src/model/key.ts";
import { noPrivacy } from "../../../src/model/privacy.ts";
import { deleteAgent, updateAgent } from "../../../src/store/accounts/agents.ts";
import { insertKey, limitKey, touchKeys } from "../../../src/store/accounts/keys.ts";
import { savePrivacy } from "../../../src/store/accounts/privacy.ts";
import { createFirstProject, deleteProject, listProjects } from "../../../src/store/accounts/projects.ts";
import type { Database } from "../../../src/store/db.ts";
import { newId } from "../../../src/store/new-id.ts";
import { needsTurn } from "../../../src/store/scale/turns.ts";
import { updateTestCase } from "../../../src/store/test-cases.ts";
import { testVault } from "../../support/judges.ts";
import { makeAccount, makeAgentRow, openTestDatabase } from "../../support/rows.ts";
import { storeTraces } from "../../support/stored-traces.ts";
import { begun, waiting } from "../locks.ts";
import { makeSender, makeTestCase, type Sender } from "../traces/make-write.ts";

suite("in the same moment", () => {
  let db: Database;
  let close: () => Promise<void>;
  let senders: Sender[];

  before(async () => {
    ({ db, close } = await openTestDatabase());
    senders = [];
    while (senders.length < 4) senders.push(await makeSender(db));
  });
  after(() => close());

  const keyOf = ({ projectId, agentId }: Sender) =>
    insertKey(db, {
      ...{ projectId, name: "of one agent", access: "granular", agentIds: [agentId] },
      ...{ hash: hashKey(makeKey()), lastFour: "abcd", expiresAt: null, createdBy: null },
    });

  const changes: ((sender: Sender) => Promise<unknown>)[] = [
    async sender => {
      const { id } = await keyOf(sender);
      await touchKeys(db, [id]);
      assert.deepEqual((await limitKey(db, id, 7))?.agentIds, [sender.agentId]);
    },
    async ({ projectId }) => deleteAgent(db, await makeAgentRow(db, { projectId })),
    async () => {
      const account = await makeAccount(db);
      await createFirstProject(db, account);
      const [project] = await listProjects(db, account, { before: newId(), rowsMax: 2 });
      await deleteProject(db, project!.id);
    },
    async ({ agentId }) => {
      const { id } = await makeTestCase(db, agentId);
      assert.equal((await updateTestCase(db, id, test => ({ ...test, name: "renamed" })))?.version, 2);
    },
    async ({ agentId }) => {
      const change = { name: newId(), content: "forget" as const, contentForgetAfterSeconds: 3_600 };
      assert.equal((await updateAgent(db, agentId, change))?.name, change.name);
    },
    () => makeSender(db),
  ];

  test("each is created, changed and deleted, and none is refused for the others", async () => {
    await Promise.all(
      senders.map(async (sender, first) => {
        for (let at = 0; at < 12; at++) await changes[(first + at) % changes.length]!(sender);
      }),
    );
  });

  test("an agent reads its traces by other conventions while its project's privacy is changed", async t => {
    if (db.places) return t.skip("on a cluster, they take turns");
    const sender = await makeSender(db);
    await storeTraces(db, sender.agentId, 1);
    const other = await begun(db);
    await other.query("select from traces where agent_id = $1 for update", [sender.agentId]);
    const changed = updateAgent(db, sender.agentId, { conventions: ["*"] });
    await waiting(db, "update traces");
    const saved = savePrivacy(db, testVault, sender.projectId, noPrivacy);
    await waiting(db, "for update");
    await other.commit();
    assert.deepEqual((await changed)?.conventions, ["*"]);
    assert.equal(await saved, true);
  });

  test("a project is deleted while a key of its agent is created", async t => {
    if (db.places) return t.skip("on a cluster, they take turns");
    const sender = await makeSender(db);
    const other = await begun(db);
    await other.query("select from agents where id = $1 for update", [sender.agentId]);
    const made = keyOf(sender);
    await waiting(db, "from agents");
    const deleted = deleteProject(db, sender.projectId);
    await waiting(db, "delete from projects");
    await other.commit();
    assert.equal((await made).name, "of one agent");
    await deleted;
  });

  test("an agent is deleted while one of its tests is disabled", async t => {
    if (db.places) return t.skip("on a cluster, they take turns");
    const { agentId } = await makeSender(db);
    const { id } = await makeTestCase(db, agentId);
    await db.pool.query("insert into test_states (agent_id, test_id) values ($1, $2)", [agentId, id]);
    const other = await begun(db);
    await other.query("select from test_states where test_id = $1 for update", [id]);
    const changed = updateTestCase(db, id, test => ({ ...test, status: "disabled" }));
    await waiting(db, "delete from test_states");
    const deleted = deleteAgent(db, agentId);
    await waiting(db, "delete from agents");
    await other.commit();
    assert.equal((await changed)?.status, "disabled");
    await deleted;
  });
});

suite("turns at the coordinator of a cluster", () => {
  test("are taken by what writes or locks rows of tables that every node has, and by nothing else", () => {
    for (const text of [
      "update keys set last_used_at = now()",
      'insert into "accounts" ("id") values ($1)',
      "with due as (update accounts set first_project_made = true) insert into projects select",
      "with project as materialized (select id from projects where id = $2 for share) select from project",
      { text: "delete\n from test_cases where id = $1" },
      "select from agents where id = $1 for no key update",
    ])
      assert.equal(needsTurn(text), true, JSON.stringify(text));
    for (const text of [
      "insert into key_agents (key_id) values ($1)",
      "update alert_deliveries set attempts = 1",
      "select id from keys where hash = $1",
      "select id from agent_connections where agent_id = $1 for update",
      "select from deliveries order by id for update skip locked",
    ])
      assert.equal(needsTurn(text), false, text);
  });
});
