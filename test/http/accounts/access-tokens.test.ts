// Access tokens over HTTP: shown once, accepted instead of a session for reading, rejected for everything else.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { registerAccessTokens } from "../../../src/http/accounts/access-tokens.ts";
import { type ErasureDeps, registerErasures } from "../../../src/http/projects/erasures.ts";
import { hashKey } from "../../../src/model/key.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";
import { makeAgent, type Owner, startTestApp, type TestApp, tokenOf } from "../../support/app.ts";
import { refusalIn } from "../../support/client.ts";

let service: TestApp;
let owner: Owner;
before(async () => {
  service = await startTestApp({
    extend(app, deps) {
      registerAccessTokens(app, deps);
      const erasures: ErasureDeps["erasures"] = {
        wake: () => {},
        holders: () => Promise.reject(new Error()),
      };
      registerErasures(app, { ...deps, vault: openVault(Buffer.alloc(32)), erasures });
    },
  });
  owner = await service.signUp();
});
after(() => service.close());

async function makeToken(of: Owner, fields: object = {}): Promise<{ id: string; token: string }> {
  return (await of.client.post("/api/access-tokens", { name: "CI", ...fields }).expect(201)).body;
}

/** A request with the token and without a cookie. */
function bearing(token: string, method: string, path: string, body?: unknown, headers = {}) {
  return service.client().request(method, path, body, { authorization: `Bearer ${token}`, ...headers });
}

test("a token is shown in full once, and masked after that", async () => {
  const mine = await service.signUp();
  const { body: made } = await mine.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  const { token, ...listed } = made;
  assert.match(token, /^svcp_[A-Za-z0-9]{40}$/);
  assert.equal(listed.masked, `svcp_...${token.slice(-4)}`);
  const body = await mine.client.read("/api/access-tokens");
  assert.deepEqual(body, { items: [listed], nextCursor: null });
  assert.deepEqual((await owner.client.read("/api/access-tokens")).items, []);
});

test("only a token's SHA-256 and last four characters are stored, and it is not logged", async () => {
  const { id, token } = await makeToken(await service.signUp());
  await bearing(token, "GET", "/api/projects").expect(200);
  const { rows } = await service.db.pool.query(
    "select hash, last_four, t::text as row from access_tokens t where id = $1",
    [id],
  );
  assert.equal(rows[0].hash.equals(hashKey(token)), true);
  assert.equal(rows[0].last_four, token.slice(-4));
  assert.equal(rows[0].row.includes(token.slice(5, -4)), false);
  assert.equal(service.logs.join("").includes(token), false);
});

test("a token reads everything its account may read, and nothing of other accounts", async () => {
  const agent = await makeAgent(owner);
  const other = await service.signUp();
  const { token } = await makeToken(owner);
  const { body } = await bearing(token, "GET", `/api/agents/${agent.id}`).expect(200);
  assert.deepEqual(body, await owner.client.read(`/api/agents/${agent.id}`));
  await bearing(token, "GET", `/api/projects/${other.projectId}`).expect(404);
});

test("a token's last use is recorded", async () => {
  const mine = await service.signUp();
  const { token } = await makeToken(mine);
  const read = async () => (await mine.client.read("/api/access-tokens")).items[0]!.lastUsedAt;
  assert.equal(await read(), null);
  await bearing(token, "GET", "/api/projects").expect(200);
  assert.notEqual(await read(), null);
});

test("a token cannot manage accounts, sessions, tokens, projects, agents, keys or tests", async () => {
  const { token, id } = await makeToken(owner);
  const agent = await makeAgent(owner);
  for (const [method, path] of [
    ["GET", "/api/auth/list-sessions"],
    ["POST", "/api/auth/update-user"],
    ["POST", "/api/auth/change-password"],
    ["POST", "/api/auth/delete-user"],
    ["GET", "/api/access-tokens"],
    ["POST", "/api/access-tokens"],
    ["DELETE", `/api/access-tokens/${id}`],
    ["POST", "/api/projects"],
    ["POST", `/api/projects/${owner.projectId}/keys`],
    ["POST", `/api/agents/${agent.id}/tests`],
    ["PATCH", `/api/agents/${agent.id}`],
    ["DELETE", `/api/agents/${agent.id}`],
  ] as const) {
    const reply = await bearing(token, method, path, method === "GET" ? undefined : {});
    assert.deepEqual([reply.status, refusalIn(reply).code], [403, "FORBIDDEN"], `${method} ${path}`);
  }
});

test("a token for erasing lists projects and erasures, and nothing else; any other token erases nothing", async () => {
  const { token } = await makeToken(owner, { scope: "erasures" });
  const { token: other } = await makeToken(owner);
  const body = await owner.client.read("/api/access-tokens");
  assert.deepEqual(
    body.items.slice(0, 2).map(({ scope }: { scope: string }) => scope),
    ["runs", "erasures"],
  );
  const agent = await makeAgent(owner);
  await bearing(token, "GET", "/api/projects").expect(200);
  await bearing(token, "GET", `/api/projects/${owner.projectId}/erasures`).expect(200);
  for (const [method, path] of [
    ["GET", `/api/agents/${agent.id}`],
    ["GET", `/api/projects/${owner.projectId}/agents`],
    ["DELETE", `/api/projects/${owner.projectId}`],
  ] as const) {
    const { body: refused } = await bearing(token, method, path).expect(403);
    assert.deepEqual(
      [refused.code, refused.message],
      ["FORBIDDEN", "This access token can only erase data."],
    );
  }
  const erasures = `/api/projects/${owner.projectId}/erasures` as const;
  const dryRun = { text: "long enough", dryRun: true };
  await bearing(token, "POST", erasures, dryRun).expect(202);
  const { body: refused } = await bearing(other, "POST", erasures, dryRun).expect(403);
  assert.match(refused.hint!, /Create a token for erasing data/);
  await makeToken(owner, { scope: "everything" }).then(
    () => assert.fail(),
    error => assert.match(error.message, /Answered 400/),
  );
});

test("a revoked, expired or made-up token is 401 immediately, even next to a session", async () => {
  const { id, token } = await makeToken(owner);
  await bearing(token, "GET", "/api/projects").expect(200);
  await owner.client.delete(`/api/access-tokens/${id}`).expect(204);
  const expired = await makeToken(owner, { expiresInDays: 7 });
  await service.db.pool.query(
    "update access_tokens set expires_at = now() - interval '1 second' where id = $1",
    [expired.id],
  );
  for (const text of [token, expired.token, `svcp_${"a".repeat(40)}`, "x"]) {
    const { body } = await bearing(text, "GET", "/api/projects").expect(401);
    assert.equal(body.code, "UNAUTHORIZED");
    assert.equal(JSON.stringify(body).includes(text.length > 1 ? text : "svcp_a"), false);
    await bearing(text, "GET", "/api/projects", undefined, { cookie: owner.client.cookie }).expect(401);
  }
  const body = await owner.client.read("/api/access-tokens");
  assert.equal(body.items.find((one: { id: string }) => one.id === expired.id)!.status, "expired");
});

test("a token never expires only if that is requested, and two expiries are an error", async () => {
  const mine = await service.signUp();
  await makeToken(mine, { neverExpires: true });
  await makeToken(mine);
  const body = await mine.client.read("/api/access-tokens");
  const [ninetyDays, never] = body.items;
  assert.equal(never!.expiresAt, null);
  const days = (Date.parse(ninetyDays!.expiresAt!) - Date.parse(ninetyDays!.createdAt)) / 86_400_000;
  assert.equal(Math.round(days), 90);
  const contradiction = { name: "CI", neverExpires: true, expiresInDays: 7 };
  await mine.client.post("/api/access-tokens", contradiction).expect(400);
  await mine.client.post("/api/access-tokens", { name: "CI", expires: 7 }).expect(400);
});

test("a new password says how many access tokens still work, and revokes them on request", async () => {
  const mine = await service.signUp();
  const { client } = mine;
  await makeToken(mine);
  const { token: kept } = await makeToken(mine);
  const change = (currentPassword: string, newPassword: string, revokeAccessTokens?: boolean) =>
    client
      .post("/api/auth/change-password", { currentPassword, newPassword, revokeAccessTokens })
      .expect(200);
  assert.equal((await change(mine.password, "second password")).body.activeAccessTokens, 2);
  const byToken = () => bearing(kept, "GET", "/api/projects");
  assert.equal((await byToken()).status, 200);
  assert.equal((await change("second password", "third password", true)).body.activeAccessTokens, 0);
  assert.equal((await byToken()).status, 401);

  await makeToken(mine);
  await service.mailer.next(mine.email);
  for (const [revokeAccessTokens, left] of [
    [false, 1],
    [true, 0],
  ] as const) {
    await service.client().post("/api/auth/request-password-reset", { email: mine.email }).expect(200);
    const token = tokenOf(await service.mailer.next(mine.email));
    const body = { token, newPassword: "fourth password", revokeAccessTokens };
    const reply = await service.client().post("/api/auth/reset-password", body).expect(200);
    assert.equal(reply.body.activeAccessTokens, left);
  }
});
