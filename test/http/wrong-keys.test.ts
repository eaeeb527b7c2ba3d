// Requests with unknown keys are limited by IP address, for two nodes together; valid keys never are.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { limitWrongKeys, wrongKeysMax } from "../../src/http/frame/wrong-keys.ts";
import { makeKey as textOfKey } from "../../src/model/key.ts";
import { Refusal } from "../../src/model/refusal.ts";
import { openDatabase } from "../../src/store/db.ts";
import { canonicalBody } from "../support/bodies.ts";
import { refusalIn } from "../support/client.ts";
import { openTestDatabase } from "../support/rows.ts";
import { send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

const unauthorized = new Refusal("UNAUTHORIZED", { message: "This key is unknown.", hint: "Send another." });

let service: TestService;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] }, limitAccounts: true });
});
after(() => service.stop());

/** Counts all that one IP address may send. */
async function exhaust(limit: ReturnType<typeof limitWrongKeys>, ip: string): Promise<Refusal[]> {
  return Promise.all(Array.from({ length: wrongKeysMax }, () => limit(ip, unauthorized)));
}

test("wrong keys of one IP address, counted by two nodes, are RATE_LIMITED after the limit; those of others are not", async () => {
  const { db, close } = await openTestDatabase();
  const [one, two] = [limitWrongKeys({ db }), limitWrongKeys({ db })];
  const ip = "198.51.100.1";
  assert.ok((await exhaust(one, ip)).every(refusal => refusal === unauthorized));
  const refusal = await two(ip, unauthorized);
  assert.equal(refusal.code, "RATE_LIMITED");
  assert.match(refusal.message, /^This key is unknown\. Too many/);
  assert.ok(refusal.retryAfterSeconds! > 200 && refusal.retryAfterSeconds! <= 300);
  assert.equal(await two("198.51.100.2", unauthorized), unauthorized);
  await close();
});

test("wrong keys from many networks of IPv6 count together for their /48, ten times as many as from one", async () => {
  const { db, close } = await openTestDatabase();
  const limit = limitWrongKeys({ db });
  for (let at = 0; at < 10; at++) await exhaust(limit, `2001:db8:9:${at}::1`);
  assert.equal((await limit("2001:db8:9:a::1", unauthorized)).code, "RATE_LIMITED");
  assert.equal(await limit("2001:db8:a::1", unauthorized), unauthorized);
  await close();
});

test("while the database is unavailable, a wrong key is UNAUTHORIZED", async () => {
  const db = openDatabase("postgres://127.0.0.1:1/nowhere", 1);
  assert.equal(await limitWrongKeys({ db })("198.51.100.1", unauthorized), unauthorized);
  await db.close();
});

test("after too many wrong keys, wrong ones are 429 with Retry-After, and right ones are accepted", async () => {
  const wrong = { key: textOfKey(), body: canonicalBody(service.agent.id) };
  assert.equal((await send(service, wrong)).status, 401);
  await exhaust(limitWrongKeys({ db: service.db }), "127.0.0.1");
  const refused = await send(service, wrong);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers["retry-after"]) > 0);
  assert.equal((await send(service, { body: canonicalBody(service.agent.id) })).status, 201);
  assert.equal((await send(service, { key: null, body: canonicalBody(service.agent.id) })).status, 401);
  const authorization = { authorization: "Bearer svct_unknown" };
  const token = await service.client.request("GET", "/api/projects", undefined, authorization);
  assert.deepEqual([token.status, refusalIn(token).code], [429, "RATE_LIMITED"]);
  const { body } = await service.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  const valid = { authorization: `Bearer ${body.token}` };
  assert.equal((await service.client.request("GET", "/api/projects", undefined, valid)).status, 200);
});
