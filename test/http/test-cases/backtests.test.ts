// Backtests over HTTP in the real service: estimates, comparison with stored results, the judge, and what they leave alone.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { BacktestDetail } from "../../../src/http/test-cases/backtest-schemas.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import type { Client } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { type JudgeServer, obliging, refusal, startJudgeServer } from "../../support/judge-server.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
let judge: JudgeServer;
let agentId: string;

before(async () => {
  judge = await startJudgeServer();
  service = await startTestService({ config: { judge: judge.connection({ model: "local" }) } });
});
after(async () => {
  await service.stop();
  await judge.close();
});
beforeEach(async () => {
  judge.script = obliging();
  agentId = (await makeAgent(service.owner)).id;
});

const get: Client["read"] = path => service.client.read(path);

/** Sends a trace; with a test that is active, waits until it is evaluated. */
async function store(attributes: object, evaluated = true): Promise<string> {
  const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
  const traceId = traceIdOf(await send(service, { body }));
  await eventually(async () => {
    if (evaluated) assert.equal((await get(`/api/traces/${traceId}`)).run!.state, "completed");
  });
  return traceId;
}

async function backtest(body: object) {
  const { id } = (await service.client.post(`/api/agents/${agentId}/backtests`, body).expect(201)).body;
  return eventually(async () => {
    const found = await get(`/api/backtests/${id}`);
    assert.notEqual(found.state, "running");
    return found;
  });
}

const estimate = async (body: object) =>
  (await service.client.post(`/api/agents/${agentId}/backtests/estimate`, body).expect(200)).body;

const statusIs = (expected_status: number | string) => [
  { id: "status", type: "http_status", expected_status },
];
const ok = { "http.response.status_code": 200 };
const broken = { "http.response.status_code": 500 };
const groupsOf = ({ groups }: BacktestDetail) =>
  groups.map(({ before, after, change, traces }) => [before, after, change, traces]);

test("a changed test is compared with its latest stored results, trace by trace", async () => {
  const { id: testId } = await makeTest(service.owner, agentId, { assertions: statusIs(200) });
  const passed = [await store(ok), await store(ok)];
  const failed = await store(broken);
  const missing = await store({});
  const draft = { ...(await get(`/api/tests/${testId}`)), assertions: statusIs(500) };
  const { id: _, agentId: __, version: ___, eligibility: ____, ...test } = draft;
  const done = await backtest({ test, testId });
  assert.deepEqual([done.state, done.traces, done.tried, done.testVersion], ["completed", 4, 4, null]);
  assert.deepEqual(groupsOf(done).sort(), [
    ["failed", "passed", "fixed", 1],
    ["missing_instrumentation", "missing_instrumentation", "same", 1],
    ["passed", "failed", "broke", 2],
  ]);
  const { items } = await get(`/api/backtests/${done.id}/results`);
  assert.deepEqual(
    items.map(({ traceId, change }) => [traceId, change]),
    [
      [missing, "same"],
      [failed, "fixed"],
      [passed[1], "broke"],
      [passed[0], "broke"],
    ],
  );
  assert.deepEqual(
    [items[2]!.beforeVersion, items[2]!.checkId, items[2]!.checkType, items[2]!.reason],
    [1, "status", "http_status", "The HTTP status is 200 (expected: 500)."],
  );
  const broke = await get(`/api/backtests/${done.id}/results?change=broke&limit=1`);
  assert.deepEqual(
    [broke.items.length, broke.items[0]!.traceId, broke.nextCursor !== null],
    [1, passed[1], true],
  );
  const rest = await get(`/api/backtests/${done.id}/results?change=broke&limit=1&cursor=${broke.nextCursor}`);
  assert.deepEqual([rest.items[0]!.traceId, rest.nextCursor], [passed[0], null]);
  assert.equal((await get(`/api/backtests/${done.id}/results?before=none`)).items.length, 0);
});

test("inputs and repeats are not tried, and make no draft of a saved version", async () => {
  const fields = { turns: [{ input: "a" }], assertions: statusIs(200) };
  const { id: testId } = await makeTest(service.owner, agentId, { ...fields, inputs: [{ input: "b" }] });
  await store(ok);
  const stored = await get(`/api/tests/${testId}`);
  const { id: _, agentId: __, version: ___, eligibility: ____, ...document } = stored;
  const done = await backtest({ test: { ...document, inputs: [{ input: "c" }], repeats: 3 }, testId });
  assert.deepEqual([done.testVersion, "inputs" in done.test], [1, false]);
  await service.client.delete(`/api/tests/${testId}`).expect(204);
});

test("the saved version changes nothing, and a test without results is new everywhere", async () => {
  const { id: testId } = await makeTest(service.owner, agentId, { assertions: statusIs(200) });
  await store(ok);
  const saved = await backtest({ testId });
  assert.deepEqual([saved.testVersion, saved.test.name], [1, "Answers quickly"]);
  assert.deepEqual(groupsOf(saved), [["passed", "passed", "same", 1]]);
  const draft = await backtest({
    test: { name: "Draft", passiveBehavior: "manual_only", assertions: statusIs(500) },
  });
  assert.deepEqual([draft.testId, draft.testName, draft.judged], [null, "Draft", false]);
  assert.deepEqual(groupsOf(draft), [[null, "failed", "new", 1]]);
  const { items } = await get(`/api/agents/${agentId}/backtests`);
  assert.deepEqual(
    items.map(({ id }) => id),
    [draft.id, saved.id],
  );
});

test("nothing of a backtest counts as an evaluation", async () => {
  const { id: testId } = await makeTest(service.owner, agentId, { assertions: statusIs(200) });
  const traceId = await store(ok);
  const counted = async () => {
    const { run, runs, revision } = await get(`/api/traces/${traceId}`);
    const { series, total } = await get(`/api/agents/${agentId}/insights?by=test`);
    const { items } = await get(`/api/tests/${testId}/versions`);
    const { items: listed } = await get(`/api/agents/${agentId}/tests/insights`);
    return { run, runs, revision, series, total, items, listed };
  };
  const earlier = await counted();
  await backtest({ testId, test: { name: "Draft", assertions: statusIs(500) } });
  assert.deepEqual(await counted(), earlier);
});

const semantic = { id: "s", type: "semantic", criteria: "Says where the parcel is." };
const conversation = { "gen_ai.prompt": "Where is my parcel?", "gen_ai.response.text": "It is in Lyon." };

test("the judge is asked only if the cost was confirmed, as estimated, and then from the cache", async () => {
  const prompts = ["Where is it?", "Where is my parcel?", "A refund, please"];
  for (const prompt of prompts) await store({ ...conversation, "gen_ai.prompt": prompt }, false);
  const drafted = {
    name: "Parcel",
    passiveBehavior: "run_when_relevant",
    scenario: "Asks where a parcel is.",
    assertions: [semantic],
  };
  judge.script = obliging({ label: (_, input) => (/refund/.test(input) ? "no_match" : "match") });
  judge.requests.length = 0;
  const figures = await estimate({ test: drafted, traces: 50 });
  assert.deepEqual(
    [
      figures.traces,
      figures.sampled,
      figures.needsJudge,
      figures.calls,
      figures.costUsd,
      figures.unavailable,
    ],
    [3, 3, true, 6, null, null],
  );
  assert.ok(figures.inputTokens > 1_000 && figures.outputTokens > 0);
  const without = await backtest({ test: drafted });
  assert.deepEqual(groupsOf(without), [[null, null, "none", 3]]);
  const row = (await get(`/api/backtests/${without.id}/results`)).items[0]!;
  assert.equal(row.reason, "The judge was not asked: the cost was not confirmed.");
  assert.equal(judge.requests.length, 0);

  const judged = await backtest({ test: drafted, judge: true });
  assert.deepEqual(groupsOf(judged), [
    [null, "passed", "new", 2],
    [null, "skipped", "new", 1],
  ]);
  assert.equal(judge.requests.length, 5);
  assert.deepEqual([judged.usage.calls, judged.usage.unpricedTokens > 0], [5, true]);
  const usage = await get(`/api/agents/${agentId}/judging`);
  assert.equal(usage.days.at(-1)!.calls, 5);
  assert.equal((await estimate({ test: drafted })).calls, 0);
  const cached = await backtest({ test: drafted });
  assert.deepEqual([groupsOf(cached), judge.requests.length], [groupsOf(judged), 5]);
});

test("a semantic check that was not judged neither passes nor fixes a test; a failed check still fails it", async () => {
  await store({ ...conversation, ...ok }, false);
  await store({ ...conversation, ...broken }, false);
  const test = { name: "Both", passiveBehavior: "always_run", assertions: [...statusIs(200), semantic] };
  const done = await backtest({ test });
  assert.deepEqual(groupsOf(done).sort(), [
    [null, null, "none", 1],
    [null, "failed", "new", 1],
  ]);
});

test("a backtest stays within the agent's daily budget, and a judge that fails decides nothing", async () => {
  for (let at = 0; at < 6; at++) await store({ ...conversation, "gen_ai.prompt": `Parcel ${at}?` }, false);
  const test = { name: "Parcel", passiveBehavior: "always_run", assertions: [semantic] };
  const settings = { sampling: 1, budgetUsd: null, budgetTokens: 1 };
  await service.client.put(`/api/agents/${agentId}/judge-settings`, settings).expect(200);
  const limited = await backtest({ test, judge: true });
  assert.ok(limited.usage.calls >= 1 && limited.usage.calls <= 4, "calls under way may exceed it slightly");
  const { items } = await get(`/api/backtests/${limited.id}/results?after=none`);
  assert.equal(items.length, 6 - limited.usage.calls);
  assert.match(items[0]!.reason, /daily judge budget/);
  assert.equal((await estimate({ test })).unavailable!.state, "budget");

  await service.client
    .put(`/api/agents/${agentId}/judge-settings`, { ...settings, budgetTokens: null })
    .expect(200);
  judge.script = () => refusal(400);
  const failing = { ...test, assertions: [{ ...semantic, criteria: "Is kind." }] };
  assert.deepEqual(groupsOf(await backtest({ test: failing, judge: true })), [[null, null, "none", 6]]);
});

test("a backtest is cancelled, deleted with its test or trace, and refused where it makes no sense", async () => {
  const post = (body: object) => service.client.post(`/api/agents/${agentId}/backtests`, body);
  const test = { name: "Draft", assertions: statusIs(200) };
  assert.match((await post({ test }).expect(409)).body.message, /no live traces/);
  const traceId = await store(ok, false);
  for (const body of [
    {},
    { test: { name: "Empty" } },
    { testId: traceId },
    { test, traces: 1_001 },
    { test, x: 1 },
  ]) {
    await post(body).expect(400);
  }
  const { id: emptyId } = await makeTest(service.owner, agentId, { status: "disabled", assertions: [] });
  assert.match((await post({ testId: emptyId }).expect(409)).body.message, /no assertions/);
  const { id: testId } = await makeTest(service.owner, agentId, { status: "disabled" });
  const done = await backtest({ testId, test });
  const after = (await service.client.post(`/api/backtests/${done.id}/cancel`).expect(200)).body;
  assert.equal(after.state, "completed");
  await service.client.delete(`/api/traces/${traceId}`).expect(204);
  assert.deepEqual((await get(`/api/backtests/${done.id}/results`)).items, []);
  await service.client.delete(`/api/tests/${testId}`).expect(204);
  await service.client.get(`/api/backtests/${done.id}`).expect(404);
  await store(ok, false);
  const other = await backtest({ test });
  await service.client.delete(`/api/backtests/${other.id}`).expect(204);
  await service.client.get(`/api/backtests/${other.id}`).expect(404);
});

test("a backtest is interrupted when its service stops, and the next service may start another", async () => {
  const database = await freshDatabase();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  judge.script = async (request, index) => {
    await stopped;
    return obliging()(request, index);
  };
  const options = { databaseUrl: database.url, config: { judge: judge.connection({ model: "local" }) } };
  const first = await startTestService(options);
  const spans = [canonicalSpan({ attributes: conversation })];
  await send(first, { body: canonicalBody(first.agent.id, { spans }) });
  const body = {
    test: { name: "Parcel", passiveBehavior: "always_run", assertions: [semantic] },
    judge: true,
  };
  const path = `/api/agents/${first.agent.id}/backtests` as const;
  const asked = judge.requests.length;
  const { id } = (await first.client.post(path, body).expect(201)).body;
  await first.client.post(path, body).expect(409);
  await judge.arrived(asked + 1);
  await first.stop();
  stop();
  const second = await startTestService(options);
  const { rows } = await second.db.pool.query("select state, finished_at from backtests where id = $1", [id]);
  assert.deepEqual([rows[0].state, rows[0].finished_at instanceof Date], ["interrupted", true]);
  await second.stop();
  await database.drop();
});

test("results are counted by version of the test", async () => {
  const { id: testId } = await makeTest(service.owner, agentId, { assertions: statusIs(200) });
  await store(ok);
  await store(broken);
  await service.client.patch(`/api/tests/${testId}`, { assertions: statusIs(500) }).expect(200);
  await store(broken);
  const { items } = await get(`/api/tests/${testId}/versions`);
  assert.deepEqual(
    items.map(({ version, counts, passRate }) => [version, counts.passed, counts.failed, passRate]),
    [
      [2, 1, 0, 1],
      [1, 1, 1, 0.5],
    ],
  );
  assert.ok(items[0]!.firstRunAt >= items[1]!.lastRunAt);
});
