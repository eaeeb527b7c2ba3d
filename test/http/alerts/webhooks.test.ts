// The webhook of an agent: its secret is shown once and replaceable, and its deliveries are listed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addInTurn } from "../../store/alerts/make-results.ts";
import { makeAgent, makeTest, type Owner, type TestApp } from "../../support/app.ts";
import { startWholeApp } from "../../support/whole-app.ts";

let service: TestApp;
let owner: Owner;
before(async () => {
  service = await startWholeApp();
  owner = await service.verifiedAccount();
});
after(() => service.close());

async function newWebhook(account = owner) {
  const { id: agentId } = await makeAgent(account);
  const path = `/api/agents/${agentId}/webhook` as const;
  const { body } = await account.client.put(path, { url: "https://example.com/hook?key=1" }).expect(200);
  return { agentId, path, body, client: account.client };
}

const url = "https://example.com/hook?key=1";

test("a secret is shown when the webhook is created and when it is replaced, and never again", async () => {
  const { path, body, client } = await newWebhook();
  assert.match(body.secret!, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(body.webhook, { url, secretReadable: true, createdAt: body.webhook.createdAt });
  const changed = await client.put(path, { url: "http://other.example" }).expect(200);
  assert.deepEqual([changed.body.webhook.url, changed.body.secret], ["http://other.example", null]);
  const replaced = await client.post(`${path}/secret`).expect(200);
  assert.match(replaced.body.secret!, /^whsec_/);
  assert.notEqual(replaced.body.secret, body.secret);
  const read = JSON.stringify(await client.read(path));
  const { rows } = await service.db.pool.query("select secret from alert_webhooks");
  for (const secret of [body.secret, replaced.body.secret]) {
    assert.ok(!read.includes(secret!.slice(6)));
    assert.ok(!service.logs.join().includes(secret!.slice(6)));
    assert.ok(
      rows.every(
        row =>
          !row.secret.includes(secret!.slice(6)) &&
          !row.secret.includes(Buffer.from(secret!.slice(6), "base64")),
      ),
    );
  }
});

test("a URL that cannot be called is refused with the reason", async () => {
  const { id } = await makeAgent(owner);
  for (const [bad, message] of [
    ["example.com/hook", /http:\/\/ or https:\/\//],
    ["ftp://example.com", /http:\/\/ or https:\/\//],
    ["https://user:password@example.com", /user name or password/],
    [`https://example.com/${"x".repeat(2_000)}`, /2000/],
    [undefined, /./],
  ] as const) {
    const { body } = await owner.client.put(`/api/agents/${id}/webhook`, { url: bad }).expect(400);
    assert.match(body.issues![0]!.message, message);
    assert.equal(body.issues![0]!.path, "url");
  }
  assert.deepEqual(await owner.client.read(`/api/agents/${id}/webhook`), { webhook: null });
});

test("a test message is listed as a delivery that is about to be sent", async () => {
  const { path, client } = await newWebhook();
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    const { body } = await client.post(`${path}/test`).expect(201);
    assert.deepEqual(
      { ...body, id: "", createdAt: "", nextTryAt: "" },
      {
        ...{ id: "", createdAt: "", nextTryAt: "" },
        ...{ kind: "test", state: "pending", attempts: 0, triedAt: null, status: null, error: null },
      },
    );
    ids.unshift(body.id);
  }
  const first = await client.read(`${path}/deliveries?limit=2`);
  const next = await client.read(`${path}/deliveries?limit=2&cursor=${first.nextCursor}`);
  assert.deepEqual(
    [...first.items, ...next.items].map(({ id }: { id: string }) => id),
    ids,
  );
  assert.equal(next.nextCursor, null);
});

test("without a webhook there is nothing to test or replace", async () => {
  const { id } = await makeAgent(owner);
  for (const action of ["test", "secret"]) {
    const { body } = await owner.client.post(`/api/agents/${id}/webhook/${action}`).expect(409);
    assert.match(body.message, /no webhook yet/);
  }
});

test("an unverified account cannot send test messages", async () => {
  const { path, client } = await newWebhook(await service.signUp());
  const { body } = await client.post(`${path}/test`).expect(403);
  assert.equal(body.code, "EMAIL_NOT_VERIFIED");
});

test("twenty test messages a minute are enough", async () => {
  const { path, client } = await newWebhook(await service.verifiedAccount());
  for (let count = 0; count < 20; count++) await client.post(`${path}/test`).expect(201);
  const { headers } = await client.post(`${path}/test`).expect(429);
  assert.ok(Number(headers.get("retry-after")) > 0);
});

test("deleting the webhook deletes its secret and deliveries; a new one starts over", async () => {
  const { path, body, client } = await newWebhook();
  await client.post(`${path}/test`).expect(201);
  await client.delete(path).expect(204);
  await client.delete(path).expect(204);
  assert.deepEqual((await client.read(`${path}/deliveries`)).items, []);
  const again = await client.put(path, { url }).expect(200);
  assert.match(again.body.secret!, /^whsec_/);
  assert.notEqual(again.body.secret, body.secret);
});

test("a failing test says so, with the first trace of the row, in the list and alone", async () => {
  const { id: agentId } = await makeAgent(owner);
  const { id: testId } = await makeTest(owner, agentId);
  const state = async () => (await owner.client.read(`/api/tests/${testId}/state`)).failing;
  const listed = async () =>
    (await owner.client.read(`/api/agents/${agentId}/tests/insights`)).items[0]!.failing;
  assert.deepEqual([await state(), await listed()], [null, null]);
  await addInTurn(service.db, { agentId, testId }, "FFF");
  const failing = { since: "2026-11-21T12:00:01.000Z", traceId: null };
  assert.deepEqual([await state(), await listed()], [failing, failing]);
  const body = await owner.client.read(`/api/tests/${testId.toUpperCase()}/state`);
  assert.deepEqual(body.failing, failing);
});
