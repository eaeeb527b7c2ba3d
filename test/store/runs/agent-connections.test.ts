// Agent connections are stored with encrypted secrets, one per agent, and belong to the agent's type.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseConnection } from "../../../src/model/agent/connection.ts";
import { deleteAgent } from "../../../src/store/accounts/agents.ts";
import type { Database } from "../../../src/store/db.ts";
import {
  findConnection,
  requireConnection,
  saveConnection,
} from "../../../src/store/runs/agent-connections.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { makeAgentRow, openTestDatabase } from "../../support/rows.ts";

let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTestDatabase());
});
after(() => close());

const vault = openVault(Buffer.alloc(32, 1));
const otherVault = openVault(Buffer.alloc(32, 2));
const chat = {
  kind: "chat",
  url: "https://n8n.example.com/webhook/1/chat",
  headers: [
    { name: "Authorization", value: "Bearer hidden" },
    { name: "X-Tenant", value: "acme" },
  ],
};

async function save(agentId: string, document: object) {
  return saveConnection(db, vault, agentId, (type, current) => parseConnection(document, type, current));
}

test("no column contains a secret in plain text", async () => {
  const agentId = await makeAgentRow(db);
  await save(agentId, chat);
  const { rows } = await db.pool.query(
    "select document || encode(secrets, 'escape') as all from agent_connections where agent_id = $1",
    [agentId],
  );
  assert.match(rows[0].all, /Authorization/);
  assert.doesNotMatch(rows[0].all, /hidden/);
});

test("secrets moved to another agent, or read with another key, are reported as unreadable", async () => {
  const [one, other] = [await makeAgentRow(db), await makeAgentRow(db)];
  await save(one, chat);
  await db.pool.query(
    "insert into agent_connections select $2, document, secrets from agent_connections where agent_id = $1",
    [one, other],
  );
  for (const found of [await findConnection(db, vault, other), await findConnection(db, otherVault, one)]) {
    assert.deepEqual(found!.unreadable, ["Authorization"]);
    assert.deepEqual(
      found!.connection.headers.map(({ value }) => value),
      ["", "acme"],
    );
  }
  await assert.rejects(requireConnection(db, otherVault, one), /Authorization .* encrypted with another key/);
});

test("of two connections saved at once, one is stored whole", async () => {
  const agentId = await makeAgentRow(db);
  const documents = ["one", "two"].map(value => ({
    ...chat,
    headers: [{ name: "X-Api-Key", value }],
    concurrency: value.length + (value === "one" ? 0 : 1),
  }));
  await Promise.all(documents.map(document => save(agentId, document)));
  const { headers, concurrency } = await requireConnection(db, vault, agentId);
  assert.ok(["one/3", "two/4"].includes(`${headers[0]!.value}/${concurrency}`));
});

test("a deleted agent has no connection, and none can be saved for it", async () => {
  const agentId = await makeAgentRow(db);
  await save(agentId, chat);
  await deleteAgent(db, agentId);
  assert.equal(await save(agentId, chat), undefined);
  assert.equal(await findConnection(db, vault, agentId), undefined);
});
