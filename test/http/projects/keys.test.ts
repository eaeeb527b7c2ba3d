// API keys over HTTP: shown once, masked afterwards, with an expiry, deleted when revoked.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { expiryOf } from "../../../src/http/projects/keys.ts";
import { hashKey } from "../../../src/model/key.ts";
import { Refusal } from "../../../src/model/refusal.ts";
import { admitKeys } from "../../../src/store/accounts/keys.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { makeAgent, makeKey, type Owner, startTestApp, type TestApp } from "../../support/app.ts";

const vault = openVault(Buffer.alloc(32));

let service: TestApp;
let shared: Owner;
before(async () => {
  service = await startTestApp();
  shared = await service.signUp();
});
after(() => service.close());

test("a key is shown in full once, and masked after that", async () => {
  const { client, projectId } = await service.signUp();
  const { body: created } = await client
    .post(`/api/projects/${projectId}/keys`, { name: "CI", access: "full" })
    .expect(201);
  const { key, ...listed } = created;
  assert.match(key, /^svc_[A-Za-z0-9]{32,}$/);
  assert.equal(listed.masked, `svc_...${key.slice(-4)}`);
  const fields =
    "id name masked access agentIds expiresAt lastUsedAt createdAt createdBy requestsPerMinute status".split(
      " ",
    );
  assert.deepEqual(new Set(Object.keys(listed)), new Set(fields));
  assert.deepEqual(
    [listed.access, listed.agentIds, listed.lastUsedAt, listed.status],
    ["full", [], null, "active"],
  );
  const list = await client.read(`/api/projects/${projectId}/keys`);
  assert.deepEqual(list, { items: [listed], nextCursor: null });
  assert.deepEqual(await client.read(`/api/keys/${listed.id}`), listed);
});

test("a key names its creator, and nobody if none was recorded", async () => {
  const owner = await service.signUp({ email: "ada@example.com" });
  const { id } = await makeKey(owner);
  const read = async () => (await owner.client.read(`/api/keys/${id}`)).createdBy;
  assert.deepEqual(await read(), { id: owner.accountId, name: "ada" });
  await service.db.pool.query("update keys set created_by = null where id = $1", [id]);
  assert.equal(await read(), null);
});

test("only a key's SHA-256 and last four characters are stored", async () => {
  const { id, key } = await makeKey(await service.signUp());
  const { rows } = await service.db.pool.query("select *, keys::text as row from keys where id = $1", [id]);
  assert.equal(rows[0].hash.equals(hashKey(key)), true);
  assert.equal(rows[0].last_four, key.slice(-4));
  assert.equal(rows[0].row.includes(key.slice(4, -4)), false);
  assert.equal(service.logs.join("").includes(key), false);
});

test("a revoked key is rejected from the moment the revocation is answered", async () => {
  const owner = await service.signUp();
  const { id, key } = await makeKey(owner);
  assert.equal((await admitKeys(service.db, vault, [hashKey(key)])).size, 1);
  await owner.client.delete(`/api/keys/${id}`).expect(204);
  assert.equal((await admitKeys(service.db, vault, [hashKey(key)])).size, 0);
  await owner.client.get(`/api/keys/${id}`).expect(404);
  await owner.client.delete(`/api/keys/${id}`).expect(404);
});

const now = new Date("2026-03-01T12:00:00Z");
for (const [what, expiry, expected] of [
  ["nothing said: 90 days", {}, "2026-05-30T12:00:00.000Z"],
  ["7 days", { expiresInDays: 7 }, "2026-03-08T12:00:00.000Z"],
  ["30 days", { expiresInDays: 30 }, "2026-03-31T12:00:00.000Z"],
  ["60 days", { expiresInDays: 60 }, "2026-04-30T12:00:00.000Z"],
  ["180 days", { expiresInDays: 180 }, "2026-08-28T12:00:00.000Z"],
  ["365 days", { expiresInDays: 365 }, "2027-03-01T12:00:00.000Z"],
  ["never", { neverExpires: true }, undefined],
  ["an instant", { expiresAt: "2026-04-01T00:00:00+02:00" }, "2026-03-31T22:00:00.000Z"],
  ["a second from now", { expiresAt: "2026-03-01T12:00:01Z" }, "2026-03-01T12:00:01.000Z"],
  ["one year to the second", { expiresAt: "2027-03-01T12:00:00Z" }, "2027-03-01T12:00:00.000Z"],
] as const) {
  test(`a key expires as requested: ${what}`, () => {
    assert.equal(expiryOf(expiry, now)?.toISOString(), expected);
  });
}

for (const [what, expiresAt] of [
  ["now", "2026-03-01T12:00:00Z"],
  ["in the past", "2020-01-01T00:00:00Z"],
  ["a second more than a year ahead", "2027-03-01T12:00:01Z"],
] as const) {
  test(`a key that expires ${what} is refused`, () => {
    assert.throws(
      () => expiryOf({ expiresAt }, now),
      (error: unknown) => error instanceof Refusal && error.code === "VALIDATION_ERROR",
    );
  });
}

test("a listed key says when it expires, and that it has expired", async () => {
  const owner = await service.signUp();
  const { id, key } = await makeKey(owner, { expiresInDays: 7 });
  const active = await owner.client.read(`/api/keys/${id}`);
  assert.equal(Date.parse(active.expiresAt!) - Date.parse(active.createdAt) <= 7 * 86_400_000, true);
  await service.db.pool.query("update keys set expires_at = now() where id = $1", [id]);
  assert.equal((await owner.client.read(`/api/keys/${id}`)).status, "expired");
  assert.equal((await admitKeys(service.db, vault, [hashKey(key)])).size, 0);
});

test("a key that never expires has no date", async () => {
  const owner = await service.signUp();
  const { id } = await makeKey(owner, { neverExpires: true });
  assert.equal((await owner.client.read(`/api/keys/${id}`)).expiresAt, null);
});

test("a granular key lists its agents, without deleted ones", async () => {
  const owner = await service.signUp();
  const [first, second] = [await makeAgent(owner), await makeAgent(owner)];
  const agentIds = [first.id, second.id];
  const { id } = await makeKey(owner, { access: "granular", agentIds: [...agentIds, first.id] });
  assert.deepEqual((await owner.client.read(`/api/keys/${id}`)).agentIds, agentIds);
  await owner.client.delete(`/api/agents/${first.id}`).expect(204);
  const body = await owner.client.read(`/api/keys/${id}`);
  assert.deepEqual([body.access, body.agentIds], ["granular", [second.id]]);
});

test("a granular key for an agent of another project is 400 VALIDATION_ERROR, as for an unknown agent", async () => {
  const owner = await service.signUp();
  const foreign = await makeAgent(await service.signUp());
  const bodies = [];
  for (const id of [foreign.id, "00000000-0000-4000-8000-000000000000"]) {
    const body = { name: "CI", access: "granular", agentIds: [(await makeAgent(owner)).id, id] };
    const reply = await owner.client.post(`/api/projects/${owner.projectId}/keys`, body).expect(400);
    assert.equal(reply.body.code, "VALIDATION_ERROR");
    assert.equal(reply.body.issues![0]!.path, "agentIds[1]");
    bodies.push({ ...reply.body, requestId: "" });
  }
  assert.deepEqual(bodies[0], bodies[1]);
  assert.deepEqual((await owner.client.get(`/api/projects/${owner.projectId}/keys`)).body.items, []);
});

const someId = "00000000-0000-4000-8000-000000000000";
for (const [what, fields, path] of [
  ["no name", { name: "" }, "name"],
  ["a name with U+0000", { name: "a\0" }, "name"],
  ["no access", { access: undefined }, "access"],
  ["granular access to nothing", { access: "granular" }, "agentIds"],
  ["granular access to an empty list", { access: "granular", agentIds: [] }, "agentIds"],
  ["full access to named agents", { agentIds: [someId] }, "agentIds"],
  ["an agent that is no id", { access: "granular", agentIds: ["x"] }, "agentIds[0]"],
  ["a number of days that is no preset", { expiresInDays: 8 }, "expiresInDays"],
  ["a date without a time zone", { expiresAt: "2026-12-24" }, "expiresAt"],
  ["two expiries", { expiresInDays: 7, neverExpires: true }, "neverExpires"],
  ["three expiries", { expiresInDays: 7, expiresAt: "2026-12-24T00:00:00Z" }, "expiresAt"],
  ["a misspelt expiry", { expireInDays: 7 }, ""],
] as const) {
  test(`a key with ${what} is 400 VALIDATION_ERROR`, async () => {
    const { client, projectId } = shared;
    const body = { name: "CI", access: "full", ...fields };
    const reply = await client.post(`/api/projects/${projectId}/keys`, body).expect(400);
    assert.equal(reply.body.code, "VALIDATION_ERROR");
    assert.equal(reply.body.issues![0]!.path, path);
  });
}

test("neverExpires: false can be combined with an expiry", async () => {
  const owner = await service.signUp();
  const { id } = await makeKey(owner, { neverExpires: false, expiresInDays: 30 });
  assert.notEqual((await owner.client.read(`/api/keys/${id}`)).expiresAt, null);
});

test("keys can be created and revoked before the email is verified", async () => {
  const owner = await service.signUp();
  const { id, key } = await makeKey(owner);
  const admitted = (await admitKeys(service.db, vault, [hashKey(key)])).get(hashKey(key).toString("hex"));
  assert.equal(admitted?.emailVerified, false);
  await owner.client.delete(`/api/keys/${id}`).expect(204);
});
