// Projects over HTTP, and the pagination that every list has.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { defaultQuotas, type QuotaNoun, quotaNouns, unverifiedQuotas } from "../../../src/model/quotas.ts";
import { requireQuota } from "../../../src/store/accounts/quotas.ts";
import { makeAgent, makeKey, makeTest, type Owner, startTestApp, type TestApp } from "../../support/app.ts";

let service: TestApp;
let shared: Owner;
before(async () => {
  service = await startTestApp();
  shared = await service.signUp();
});
after(() => service.close());

test("a project can be created, read, renamed and deleted", async () => {
  const { client } = await service.signUp();
  const { body: project } = await client.post("/api/projects", { name: "  Shop  " }).expect(201);
  assert.deepEqual(new Set(Object.keys(project)), new Set(["id", "name", "createdAt"]));
  assert.equal(project.name, "Shop");
  const path = `/api/projects/${project.id}` as const;
  assert.deepEqual(await client.read(path), project);
  const { body: renamed } = await client.patch(path, { name: "Store" }).expect(200);
  assert.deepEqual(renamed, { ...project, name: "Store" });
  const deleted = await client.delete(path).expect(204);
  assert.equal(deleted.body, "");
  await client.get(path).expect(404);
});

test("deleting the only project does not create another", async () => {
  const { client, projectId } = await service.signUp();
  await client.delete(`/api/projects/${projectId}`).expect(204);
  assert.deepEqual(await client.read("/api/projects"), { items: [], nextCursor: null });
});

test("deleting a project deletes its agents, keys and test cases", async () => {
  const owner = await service.signUp();
  const agent = await makeAgent(owner);
  const key = await makeKey(owner, { access: "granular", agentIds: [agent.id] });
  const testCase = await makeTest(owner, agent.id);
  await owner.client.delete(`/api/projects/${owner.projectId}`).expect(204);
  for (const path of [`agents/${agent.id}`, `keys/${key.id}`, `tests/${testCase.id}`]) {
    await owner.client.get(`/api/${path}`).expect(404);
  }
});

test("lists are newest first, and their pages contain each item once", async () => {
  const { client } = await service.signUp();
  for (const name of ["b", "c", "d", "e"]) await client.post("/api/projects", { name }).expect(201);
  const names: string[] = [];
  let cursor = "";
  for (let pages = 0; pages < 3; pages++) {
    const body = await client.read(`/api/projects?limit=2${cursor}`);
    names.push(...body.items.map((item: { name: string }) => item.name));
    assert.equal(body.nextCursor === null, pages === 2);
    cursor = `&cursor=${body.nextCursor}`;
  }
  assert.deepEqual(names, ["e", "d", "c", "b", "My project"]);
});

test("a page that contains exactly the rest has no next page", async () => {
  const { client } = await service.signUp();
  await client.post("/api/projects", { name: "b" }).expect(201);
  const body = await client.read("/api/projects?limit=2");
  assert.deepEqual([body.items.length, body.nextCursor], [2, null]);
});

for (const [query, path] of [
  ["cursor=nonsense", "cursor"],
  ["cursor=", "cursor"],
  ["cursor=AAAA", "cursor"],
  ["limit=0", "limit"],
  ["limit=201", "limit"],
  ["limit=1.5", "limit"],
  ["limit=many", "limit"],
  ["limit=0x10", "limit"],
  ["limit=%205", "limit"],
  ["limit=1&limit=2", "limit"],
] as const) {
  test(`a list with the query ${query} is 400 VALIDATION_ERROR`, async () => {
    const { client } = shared;
    const { body } = await client.get(`/api/projects?${query}`).expect(400);
    assert.equal(body.code, "VALIDATION_ERROR");
    assert.equal(body.issues![0]!.path, path);
  });
}

for (const [what, name] of [
  ["none", undefined],
  ["blank", "   "],
  ["of 201 characters", "x".repeat(201)],
  ["with U+0000", "a\0b"],
  ["with half of a character", "a\ud800b"],
  ["that is no text", 7],
] as const) {
  test(`a project name ${what} is 400 VALIDATION_ERROR`, async () => {
    const { client } = shared;
    const { body } = await client.post("/api/projects", { name }).expect(400);
    assert.equal(body.code, "VALIDATION_ERROR");
    assert.equal(body.issues![0]!.path, "name");
  });
}

test("any other name is stored unchanged", async () => {
  const { client } = await service.signUp();
  for (const name of [
    "<script>alert(1)</script>",
    "'; drop table projects; --",
    "日本 👩‍🚀",
    "\u202eright",
  ]) {
    assert.equal((await client.post("/api/projects", { name }).expect(201)).body.name, name);
  }
});

test("an account has few projects until its email is verified; more is 409", async () => {
  const owner = await service.signUp();
  const create = () => owner.client.post("/api/projects", { name: "One more" });
  for (let made = 1; made < unverifiedQuotas.projects; made++) await create().expect(201);
  const { body } = await create().expect(409);
  assert.match(body.hint!, /Verify your email/);
  await makeAgent(owner);
  await service.db.pool.query("update accounts set email_verified = true where id = $1", [owner.accountId]);
  await create().expect(201);
});

test("an account that has stored as much as it may in a day sends no large requests until the next", async () => {
  const { client, accountId, projectId } = await service.verifiedAccount();
  const post = () => client.post(`/api/projects/${projectId}/agents`, { name: "x".repeat(70_000) });
  await post().expect(400);
  await service.db.pool.query("update account_use set bytes_today = $2 where account_id = $1", [
    accountId,
    defaultQuotas.bytesPerDay,
  ]);
  const { headers } = await post().expect(429);
  assert.ok(Number(headers.get("retry-after")) > 0);
  await service.db.pool.query("update account_use set day = day - 1 where account_id = $1", [accountId]);
  await post().expect(400);
});

test("whatever is created one by one counts toward the quota of its noun", async () => {
  const account = { id: shared.accountId, name: "", email: shared.email, emailVerified: false };
  const nouns = Object.keys(quotaNouns) as QuotaNoun[];
  for (const noun of nouns) await requireQuota(service.db, { ...account, id: randomUUID() }, noun, 1);
  const agent = await makeAgent(shared);
  await makeKey(shared);
  await makeTest(shared, agent.id);
  await service.db.pool.query(
    "insert into access_tokens (id, account_id, name, hash, last_four) values ($1, $2, 'CI', '', 'abcd')",
    [randomUUID(), shared.accountId],
  );
  await service.db.pool.query(
    "insert into erasures (id, project_id, criterion, dry_run, step, traces) values ($1, $2, 'text', true, 'find', 0)",
    [randomUUID(), shared.projectId],
  );
  for (const noun of nouns) {
    await assert.rejects(requireQuota(service.db, account, noun, 1), { code: "CONFLICT" }, noun);
  }
});
