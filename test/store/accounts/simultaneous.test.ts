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
