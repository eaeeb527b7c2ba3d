// 429: a key or project that has a rate limit may send that many requests a minute, to all processes together, and an account
// may have so many traces waiting to be evaluated.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeAgent, makeKey } from "../../support/app.ts";
import { canonicalBody, encodings, exportedSpan, exportOf } from "../../support/bodies.ts";
import { type Answer, refused, send } from "../../support/send.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
let other: TestService;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
  other = await startTestService({ config: { roles: ["http"] }, databaseUrl: service.databaseUrl });
});
after(async () => {
  await other.stop();
  await service.stop();
});

const sendOne = (key: string, to: { url: string } = service) =>
  send({ url: to.url, key }, { body: canonicalBody(service.agent.id) });

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);

function refusedFor(answer: Answer, what: string): void {
  const { message, hint } = refused(answer, 429, "RATE_LIMITED");
  assert.match(message, new RegExp(`^Limit of this ${what}: `));
  const seconds = Number(answer.headers["retry-after"]);
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  assert.match(hint ?? "", new RegExp(`^Retry in ${seconds} s`));
  assert.match(String(answer.headers["ratelimit"]), new RegExp(`"${what}";r=0;t=${seconds}`));
}

test("without a limit, nothing is counted and no header says so", async () => {
  const answer = await sendOne(service.key);
  assert.equal(answer.status, 201);
  assert.equal(answer.headers["ratelimit"], undefined);
  assert.equal(answer.headers["ratelimit-policy"], undefined);
});

test("a key may send as many requests a minute as its limit, to two processes together", async () => {
  const { key, id } = await makeKey(service.owner, { requestsPerMinute: 5 });
  const first = await sendOne(key);
  assert.equal(first.status, 201);
  assert.equal(first.headers["ratelimit-policy"], '"key";q=5;w=60');
  assert.match(String(first.headers["ratelimit"]), /^"key";r=4;t=\d+$/);
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, at) => sendOne(key, at % 2 ? service : other)),
  );
  assert.deepEqual(statusesOf(answers), [201, 201, 201, 201, 429, 429, 429, 429, 429]);
  refusedFor(answers.find(({ status }) => status === 429)!, "key");
  // Another key of the project is not concerned, and no limit is one.
  assert.equal((await sendOne(service.key)).status, 201);
  const { body } = await service.client.patch(`/api/keys/${id}`, { requestsPerMinute: null }).expect(200);
  assert.equal(body.requestsPerMinute, null);
  assert.equal((await sendOne(key)).status, 201);
});

test("the keys of a project share its limit, and exporters are told in their encoding", async () => {
  const owner = await service.signUp();
  const keys = [(await makeKey(owner)).key, (await makeKey(owner)).key];
  const path = `/api/projects/${owner.projectId}/rate-limit` as const;
  assert.deepEqual(await owner.client.read(path), { requestsPerMinute: null });
  await owner.client.put(path, { requestsPerMinute: 2 }).expect(200);
  assert.deepEqual(await owner.client.read(path), { requestsPerMinute: 2 });
  const answers = [];
  for (const at of [0, 1, 0, 1]) {
    const to = { url: service.url, key: keys[at]! };
    answers.push(await send(to, encodings.protobuf(exportOf([exportedSpan()], "nobody"))));
  }
  assert.deepEqual(statusesOf(answers), [404, 404, 429, 429]);
  refusedFor(answers.at(-1)!, "project");
});

test("a limit is a whole number from 1 to a million, or null", async () => {
  const { id } = await makeKey(service.owner);
  for (const requestsPerMinute of [0, -1, 1.5, 1_000_001, "5"]) {
    await service.client.patch(`/api/keys/${id}`, { requestsPerMinute }).expect(400);
    await service.client
      .put(`/api/projects/${service.projectId}/rate-limit`, { requestsPerMinute })
      .expect(400);
  }
});

test("an account with as many traces waiting as it may have is told when to retry, before its body is read", async t => {
  const full = await startTestService({ config: { roles: ["http"], pendingRunsMax: 3 } });
  t.after(() => full.stop());
  await full.db.pool.query(
    `insert into queue (id, trace_id, agent_id, due_at)
      select gen_random_uuid(), gen_random_uuid(), $1, now() from generate_series(1, 3)`,
    [full.agent.id],
  );
  const answer = await send({ url: full.url, key: full.key }, { body: "no JSON" });
  const { hint } = refused(answer, 429, "RATE_LIMITED");
  assert.equal(answer.headers["retry-after"], "5");
  assert.match(hint ?? "", /^Retry in 5 s: nothing was stored/);
  const other = await full.signUp();
  const [{ key }, { id }] = [await makeKey(other), await makeAgent(other)];
  assert.equal((await send({ url: full.url, key }, { body: canonicalBody(id) })).status, 201);
});
