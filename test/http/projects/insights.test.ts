// Insights: the numbers behind the dashboard's charts, cards and strips.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Counts } from "../../../src/model/run/outcome.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { world } from "../../support/world.ts";

const service = world();

/** Sends traces to the agent and waits until each is evaluated. */
async function judge(agentId: string, ...traces: object[]): Promise<void> {
  for (const attributes of traces) {
    const times = { start_time_unix_nano: "1000000000", end_time_unix_nano: "1100000000" };
    const body = canonicalBody(agentId, { spans: [canonicalSpan({ ...times, attributes })] });
    const traceId = await service.store(body);
    await eventually(async () => {
      assert.equal((await service.read(`/api/traces/${traceId}`)).run!.state, "completed");
    });
  }
}

const status = (expected_status: number) => ({ id: "status", type: "http_status", expected_status });
const ok = {
  "http.response.status_code": 200,
  "gen_ai.usage.input_tokens": 7,
  "gen_ai.usage.output_tokens": 3,
};
const broken = { "http.response.status_code": 500 };
const countsOf = (passed: number, failed: number, skipped = 0, missing_instrumentation = 0) => ({
  passed,
  failed,
  skipped,
  missing_instrumentation,
});

/** All points of a series as one, because an hour may end while the test runs. */
function summed(points: { counts: Counts }[]): object {
  const counts = countsOf(0, 0);
  for (const point of points) {
    for (const outcome of Object.keys(counts) as (keyof typeof counts)[])
      counts[outcome] += point.counts[outcome];
  }
  return counts;
}

test("an agent's insights count runs with durations and tokens, and results by test and check", async () => {
  const agent = await makeAgent(service.owner);
  const passing = await makeTest(service.owner, agent.id, { name: "Is well", assertions: [status(200)] });
  await makeTest(service.owner, agent.id, {
    name: "Is broken",
    assertions: [status(500), { ...status(200), id: "other" }],
  });
  await judge(agent.id, ok, {});
  const insights = await service.read(`/api/agents/${agent.id}/insights`);
  const series = insights.series[0]!;
  assert.deepEqual([series.testId, series.checkId, series.name], [null, null, null]);
  assert.deepEqual(summed(series.points), countsOf(0, 1, 0, 1));
  const { at, passRate, runs, routingUnavailable, durationMs, tokens } = series.points.at(-1)!;
  assert.ok(insights.from <= at && at < insights.to);
  assert.deepEqual(passRate, series.points.length === 1 ? 0 : null);
  assert.ok(runs! > 0);
  assert.equal(routingUnavailable, 0);
  assert.ok(durationMs!.p50! > 90 && durationMs!.p50! < 110 && durationMs!.p95 === durationMs!.p50);
  assert.deepEqual(Object.keys(tokens!), ["input", "output"]);
  const { counts, ...total } = insights.total!;
  assert.deepEqual(counts, summed(series.points));
  assert.deepEqual(total, {
    notFullyEvaluated: 0,
    passRate: 0,
    runs: 2,
    routingUnavailable: 0,
    durationMs,
    tokens: { input: 7, output: 3 },
  });
  const day = (await service.read(`/api/agents/${agent.id}/insights?interval=day`)).series[0]!.points[0]!;
  assert.match(day.at, /T00:00:00\.000Z$/);

  const byTest = (await service.read(`/api/agents/${agent.id}/insights?by=test`)).series;
  assert.deepEqual(
    byTest.map(({ name, points }) => [name, summed(points)]),
    [
      ["Is well", countsOf(1, 0, 0, 1)],
      ["Is broken", countsOf(0, 1, 0, 1)],
    ],
  );
  const byCheck = (await service.read(`/api/agents/${agent.id}/insights?by=check&interval=day`)).series;
  assert.deepEqual(
    byCheck.map(({ name, checkId, points }) => [name, checkId, summed(points)]),
    [
      ["Is well", "status", countsOf(1, 0, 0, 1)],
      ["Is broken", "other", countsOf(1, 0, 0, 1)],
      ["Is broken", "status", countsOf(0, 1, 0, 1)],
    ],
  );
  const ofOne = (await service.read(`/api/agents/${agent.id}/insights?by=test&testId=${passing.id}`)).series;
  assert.deepEqual(
    ofOne.map(({ testId }) => testId),
    [passing.id],
  );
});

test("a time range must be whole intervals, not too many, and start before it ends", async () => {
  const path = `/api/agents/${service.agentId}/insights` as const;
  const { from, to, series, total } = await service.read(
    `${path}?from=2026-01-01T10:20:00Z&to=2026-01-01T12:00:00Z`,
  );
  assert.deepEqual([from, to], ["2026-01-01T10:00:00.000Z", "2026-01-01T12:00:00.000Z"]);
  assert.deepEqual(series, [{ testId: null, checkId: null, name: null, points: [] }]);
  assert.deepEqual(total!.durationMs, { p50: null, p95: null });
  assert.deepEqual([total!.runs, total!.passRate, total!.counts], [0, null, countsOf(0, 0)]);
  for (const query of [
    "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
    "from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
    "interval=day&from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
    "interval=week",
    "from=yesterday",
    "to=0000-01-01T00:00:00Z",
    "from=0000-01-01T00:00:00%2B01:00&to=0000-01-01T02:00:00%2B01:00",
    "to=9999-12-31T23:30:00Z",
  ]) {
    const { body } = await service.client.get(`${path}?${query}`).expect(400);
    assert.equal(body.code, "VALIDATION_ERROR", query);
  }
});

test("a project's agents are listed with their last trace and their day, including agents without any", async () => {
  const { client, projectId } = service;
  const busy = await makeAgent(service.owner);
  const idle = await makeAgent(service.owner);
  await makeTest(service.owner, busy.id, { assertions: [status(200)] });
  await judge(busy.id, ok, ok, broken);
  const { items, nextCursor } = await service.read(`/api/projects/${projectId}/insights/agents?limit=2`);
  const [first, last] = items;
  const { lastTraceAt, ...second } = last!;
  const none = { counts: countsOf(0, 0), notFullyEvaluated: 0, passRate: null };
  const nothing = { runs: 0, routingUnavailable: 0, ...none };
  assert.deepEqual(first, { id: idle.id, lastTraceAt: null, ...nothing });
  assert.deepEqual(second, {
    id: busy.id,
    runs: 3,
    routingUnavailable: 0,
    counts: countsOf(2, 1),
    notFullyEvaluated: 0,
    passRate: 2 / 3,
  });
  const trace = (await service.read(`/api/agents/${busy.id}/traces`)).items[0]!;
  assert.equal(lastTraceAt, trace.receivedAt);
  const next = await client.get(`/api/projects/${projectId}/insights/agents?limit=200&cursor=${nextCursor}`);
  assert.ok(next.body.items.every(({ id }) => id !== busy.id && id !== idle.id));
});

test("an agent's tests are listed with their last outcome and thirty days, disabled ones too", async () => {
  const agent = await makeAgent(service.owner);
  const judged = await makeTest(service.owner, agent.id, { assertions: [status(200)] });
  const unjudged = await makeTest(service.owner, agent.id, { status: "disabled" });
  await judge(agent.id, broken, ok);
  const { items, nextCursor } = await service.read(`/api/agents/${agent.id}/tests/insights`);
  assert.equal(nextCursor, null);
  assert.deepEqual(
    items.map(({ id, lastOutcome }) => [id, lastOutcome]),
    [
      [unjudged.id, null],
      [judged.id, "passed"],
    ],
  );
  const [none, strip] = items;
  assert.deepEqual([none!.lastRunAt, none!.lastManualOutcome, none!.lastManualRunAt], [null, null, null]);
  assert.ok(Date.parse(strip!.lastRunAt!) > 0);
  assert.deepEqual([strip!.days.length, none!.days.length], [30, 30]);
  assert.deepEqual(summed(strip!.days), countsOf(1, 1));
  assert.deepEqual(summed(none!.days), countsOf(0, 0));
  assert.equal(none!.days[29]!.passRate, null);
  assert.ok(strip!.days[0]!.at < strip!.days[29]!.at);
});

test("tokens and cost are counted by model, and tokens without a price beside them", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id, { name: "Is well", assertions: [status(200)] });
  const call = (model: string) => ({
    ...{ "gen_ai.provider.name": "openai", "gen_ai.request.model": model },
    ...{ "gen_ai.usage.input_tokens": 1_000, "gen_ai.usage.output_tokens": 100 },
    "gen_ai.usage.cache_read.input_tokens": 400,
  });
  await judge(agent.id, call("gpt-4o"), call("gpt-4o"), call("house-7b"));
  const insights = await service.read(`/api/agents/${agent.id}/insights/models?interval=day`);
  const priced = (2 * (600 * 2.5 + 400 * 1.25 + 100 * 10)) / 1e6;
  const tokens = (calls: number) => ({ input: calls * 1_000, cached: calls * 400, output: calls * 100 });
  assert.deepEqual(
    insights.series.map(({ points: _, ...series }) => series),
    [
      {
        ...{ provider: "openai", model: "gpt-4o" },
        total: { calls: 2, unmeasuredCalls: 0, tokens: tokens(2), costUsd: priced, unpricedTokens: 0 },
      },
      {
        ...{ provider: "openai", model: "house-7b" },
        total: { calls: 1, unmeasuredCalls: 0, tokens: tokens(1), costUsd: 0, unpricedTokens: 1_100 },
      },
    ],
  );
  assert.deepEqual(insights.total, {
    ...{ calls: 3, unmeasuredCalls: 0, tokens: tokens(3), costUsd: priced, unpricedTokens: 1_100 },
  });
  const summedCalls = insights.series[0]!.points.reduce((sum: number, { calls }) => sum + calls, 0);
  assert.equal(summedCalls, 2);
  const other = await makeAgent(service.owner);
  assert.deepEqual((await service.read(`/api/agents/${other.id}/insights/models`)).series, []);
  await service.client.get(`/api/agents/${agent.id}/insights/models?from=2020-01-01T00:00:00Z`).expect(400);
});
