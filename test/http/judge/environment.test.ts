// The environment's judge as the settings show it, and its connection test.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { trialsPerMinute } from "../../../src/http/frame/rate-limit.ts";
import { eventually } from "../../support/eventually.ts";
import {
  completion,
  type JudgeServer,
  obliging,
  refusal,
  silence,
  startJudgeServer,
} from "../../support/judge-server.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const apiKey = "sk-never-to-be-shown";
let judge: JudgeServer;
let service: TestService;
before(async () => {
  judge = await startJudgeServer();
  const asked = judge.connection({ model: "local-7b", apiKey });
  service = await startTestService({ config: { roles: ["http"], judge: asked } });
});
after(async () => {
  await service.stop();
  await judge.close();
});
beforeEach(() => {
  judge.script = obliging();
});

test("the judge's host and model are returned, never its key or the rest of its URL", async () => {
  const body = await service.client.read("/api/judge");
  assert.deepEqual(body, { configured: true, host: new URL(judge.url).host, model: "local-7b" });
});

test("a connection test asks one question of each kind, and reports that they were answered and how long that took", async () => {
  const asked = judge.requests.length;
  const { body } = await service.client.post("/api/judge/test").expect(200);
  const { tried, ...said } = body;
  const mode = "json_schema";
  assert.deepEqual({ ...said, ms: 0 }, { ok: true, mode, ms: 0, reason: "The judge works.", fault: null });
  assert.ok(Number.isInteger(body.ms) && body.ms >= 0);
  assert.equal(judge.requests.length, asked + 3);
  assert.equal(judge.requests.at(-1)!.headers.authorization, `Bearer ${apiKey}`);
});

test("an account with an unverified email cannot call a judge", async () => {
  const asked = judge.requests.length;
  const { client } = await service.signUp({ verified: false });
  assert.equal((await client.post("/api/judge/test").expect(403)).body.code, "EMAIL_NOT_VERIFIED");
  assert.equal(judge.requests.length, asked);
});

test("a judge that rejects, answers something else or misjudges the obvious is reported in words", async () => {
  for (const [script, reason] of [
    [() => refusal(401, { message: `Wrong key ${apiKey}` }), /rejected the API key \(401\)/],
    [() => refusal(404), /does not know this URL or model/],
    [obliging({ label: () => "no_match" }), /misjudged an obvious reply/],
    [obliging({ label: () => "perhaps" }), /misjudged an obvious reply/],
    [() => completion("Certainly!"), /not in any of the supported output modes/],
  ] as const) {
    judge.script = script;
    const { body } = await service.client.post("/api/judge/test").expect(200);
    assert.equal(body.ok, false);
    assert.match(body.reason, reason);
    assert.equal(JSON.stringify(body).includes(apiKey), false);
  }
});

test("a successful connection test ends the pause of a judge that rejected its key", async () => {
  const reasonOf = async () => {
    const body = await service.client.read(`/api/projects/${service.owner.projectId}/judge`);
    return body.pausedReason;
  };
  judge.script = () => refusal(401);
  await service.client.post("/api/judge/test").expect(200);
  assert.match((await reasonOf())!, /rejected the API key/);
  judge.script = obliging();
  await service.client.post("/api/judge/test").expect(200);
  assert.equal(await reasonOf(), null);
});

test("an account runs one connection test at a time, without affecting others, and may start again after disconnecting", async () => {
  const other = await service.signUp();
  judge.script = () => silence;
  const waiting = new AbortController();
  const asked = judge.requests.length;
  const first = fetch(`${service.url}/api/judge/test`, {
    method: "POST",
    headers: { cookie: service.client.cookie },
    signal: waiting.signal,
  }).catch(error => error.name);
  await judge.arrived(asked + 1);
  const second = await service.client.post("/api/judge/test").expect(429);
  assert.equal(second.body.code, "RATE_LIMITED");
  judge.script = obliging();
  assert.equal((await other.client.post("/api/judge/test").expect(200)).body.ok, true);
  waiting.abort();
  assert.equal(await first, "AbortError");
  await eventually(async () => {
    assert.equal((await service.client.post("/api/judge/test")).status, 200);
  });
});

test("an account may run a limited number of connection tests per minute", async () => {
  const { client } = await service.signUp();
  judge.script = obliging();
  const asked = judge.requests.length;
  for (let at = 0; at < trialsPerMinute; at += 1) await client.post("/api/judge/test").expect(200);
  const { headers } = await client.post("/api/judge/test").expect(429);
  assert.ok(Number(headers.get("retry-after")) > 0);
  assert.equal(judge.requests.length, asked + 3 * trialsPerMinute);
});

test("without a judge the response says so, and which variables to set", async () => {
  const bare = await startTestService({ config: { roles: ["http"] } });
  try {
    const body = await bare.client.read("/api/judge");
    assert.deepEqual(body, { configured: false, host: null, model: null });
    const trial = await bare.client.post("/api/judge/test").expect(200);
    assert.equal(trial.body.ok, false);
    assert.match(trial.body.reason, /set SVC_JUDGE_MODEL/);
  } finally {
    await bare.stop();
  }
});
