// The overview of an agent: every number equals the length of the list that its link opens.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "../../../src/http/frame/schemas.ts";
import type { Overview } from "../../../src/http/projects/overview-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { Routing } from "../../../src/model/run/run.ts";
import type { Database } from "../../../src/store/db.ts";
import { countNotEvaluated, countTraffic } from "../../../src/store/runs/overview.ts";
import { type ListName, numbersOf, resultsIn, tracesOf } from "../../../web/pages/overview/lists.ts";
import { insightsSpan } from "../../../web/queries/insights-span.ts";
import { traceQuery } from "../../../web/queries/trace-search.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { countRuns, hourWithRoom } from "../../support/counts.ts";
import { resultOf, semanticCheck, storeJudgedRun } from "../../support/judged-runs.ts";
import { openFresh } from "../../support/postgres.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { type StoredTrace, storeTrace } from "../../support/stored-traces.ts";

let service: TestService;
let db: Database;
before(async () => {
  service = await startTestService();
  db = openFresh(service.databaseUrl);
});
after(async () => {
  await db.close();
  await service.stop();
});

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

const overviewOf = async (agentId: string): Promise<Overview> =>
  await service.client.read(`/api/agents/${agentId}/overview`);

async function count(path: string, query: URLSearchParams): Promise<number> {
  let items = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = new URLSearchParams(query);
    if (cursor) page.set("cursor", cursor);
    const body = (await service.client.read(`${path}?${page}`)) as Page<unknown>;
    items += body.items.length;
    cursor = body.nextCursor;
  }
  return items;
}

/** Every number, checked against its list. */
async function numbersAndLists(agentId: string): Promise<Record<ListName, number>> {
  const overview = await overviewOf(agentId);
  const lists = tracesOf(overview);
  const numbers: Record<string, number> = {};
  for (const [name, { count: number, atLeast }] of Object.entries(numbersOf(overview))) {
    const listed = await count(`/api/agents/${agentId}/traces`, traceQuery(lists[name as ListName]));
    assert.equal(number, listed, name);
    assert.equal(atLeast, false);
    numbers[name] = number;
  }
  for (const { testId, failures } of overview.failing.tests) {
    const query = new URLSearchParams(resultsIn(overview.results.now, "failed"));
    assert.equal(failures, await count(`/api/tests/${testId}/runs`, query), "failing");
  }
  for (const { testId, results } of overview.missing) {
    const query = new URLSearchParams(resultsIn(overview.results.now, "missing_instrumentation"));
    assert.equal(results, await count(`/api/tests/${testId}/runs`, query), "missing");
  }
  return numbers as Record<ListName, number>;
}

async function evaluated(
  agentId: string,
  testId: string,
  outcome: Outcome | null,
  trace: StoredTrace = {},
  routing: Routing = "not_needed",
): Promise<string> {
  const traceId = await storeTrace(db, agentId, trace);
  const results = outcome
    ? [resultOf({ id: testId }, [semanticCheck("reply", { criteria: [] }, { outcome })])]
    : [];
  await storeJudgedRun(db, { agentId, traceId }, { results, routing });
  return traceId;
}

test("each number of the overview is as long as its list", async () => {
  const agent = await makeAgent(service.owner);
  const { id: testId } = await makeTest(service.owner, agent.id, { name: "Replies" });
  const ago = (ms: number) => ({ receivedAt: new Date(Date.now() - ms) });
  await evaluated(agent.id, testId, "passed", ago(hourMs));
  await evaluated(agent.id, testId, "passed", ago(2 * hourMs));
  const failed = await evaluated(agent.id, testId, "failed", { durationMs: 9_000 });
  await evaluated(agent.id, testId, "missing_instrumentation");
  await evaluated(agent.id, testId, "skipped", {}, "unavailable");
  await evaluated(agent.id, testId, null, {}, "no_user_input");
  await storeTrace(db, agent.id, { userInput: "Nobody looked at me" });
  await storeTrace(db, agent.id, { run: { state: "error", error: "The worker died." } });
  await storeTrace(db, agent.id, { run: { state: "pending", dueAt: new Date(Date.now() + hourMs) } });
  // Beyond the 24 hours, of a manual run, and a week before.
  await evaluated(agent.id, testId, "failed", ago(26 * hourMs));
  await storeTrace(db, agent.id, { kind: "test_run" });
  await evaluated(agent.id, testId, "failed", ago(weekMs + hourMs));
  await evaluated(agent.id, testId, "passed", ago(weekMs + 2 * hourMs));
  await evaluated(agent.id, testId, "passed", ago(weekMs + 22 * hourMs));

  const numbers = await numbersAndLists(agent.id);
  assert.deepEqual(numbers, {
    ...{ traffic: 9, trafficBefore: 3, passed: 2, failed: 1, missing: 1, skipped: 0, noVerdict: 1 },
    ...{
      notFullyEvaluated: 1,
      notEvaluated: 1,
      pending: 1,
      running: 0,
      error: 1,
      unrouted: 1,
      passedBefore: 2,
      failedBefore: 1,
    },
  });
  const overview = await overviewOf(agent.id);
  assert.equal(overview.results.now.passRate, 2 / 3);
  assert.deepEqual(
    overview.failures.map(({ id, failedTests }) => [id, failedTests]),
    [[failed, [{ testId, name: "Replies" }]]],
  );
  assert.equal(overview.slowest.traces[0]!.id, failed);
  assert.deepEqual(overview.missing, [{ testId, name: "Replies", results: 1 }]);
  assert.deepEqual([overview.tests, overview.eligibleTests], [1, 1]);

  // Evaluated again with another verdict, the trace still counts once.
  const results = [resultOf({ id: testId }, [semanticCheck("reply", { criteria: [] })])];
  await storeJudgedRun(db, { agentId: agent.id, traceId: failed }, { results });
  const again = await numbersAndLists(agent.id);
  assert.deepEqual([again.traffic, again.passed, again.failed], [9, 3, 0]);
});

test("the last 24 hours are those of Insights and of the agent's card", async () => {
  const agent = await makeAgent(service.owner);
  await storeTrace(db, agent.id);
  await hourWithRoom();
  const hour = Math.floor(Date.now() / hourMs) * hourMs;
  await countRuns(db, agent.id, hour, [
    { ago: 0, passed: 1 },
    { ago: 24, passed: 2 },
    { ago: 25, passed: 4 },
  ]);
  const { results, traffic } = await overviewOf(agent.id);
  const { from, to } = insightsSpan({ interval: "hour", span: { hours: 24 } });
  const query = new URLSearchParams({ interval: "hour", from: from!, ...(to && { to }) });
  const insights = await service.client.read(`/api/agents/${agent.id}/insights?${query}`);
  const { body: cards } = await service.client.get(
    `/api/projects/${service.owner.projectId}/insights/agents?limit=200`,
  );
  const card = cards.items.find(({ id }: { id: string }) => id === agent.id);
  assert.deepEqual(
    [results.now.counts.passed, insights.total!.counts.passed, card!.counts.passed],
    [3, 3, 3],
  );
  assert.deepEqual([results.now.from, traffic.now.from], [insights.from, insights.from]);
});

test("tests that began to fail last come first, with their failures", async () => {
  const agent = await makeAgent(service.owner);
  const [older, newer, well] = await Promise.all(
    ["Older", "Newer", "Well"].map(name => makeTest(service.owner, agent.id, { name })),
  );
  for (const [{ id }, outcome] of [
    [older!, "failed"],
    [newer!, "failed"],
    [well!, "passed"],
  ] as const) {
    for (let run = 0; run < 4; run++) await evaluated(agent.id, id, outcome);
  }
  const { failing } = await overviewOf(agent.id);
  assert.deepEqual(
    [failing.total, failing.tests.map(({ name, failures }) => [name, failures])],
    [
      2,
      [
        ["Newer", 4],
        ["Older", 4],
      ],
    ],
  );
  assert.ok(failing.tests.every(({ traceId }) => traceId !== null));
  await numbersAndLists(agent.id);
});

test("an agent without traces or tests has an empty overview", async () => {
  const agent = await makeAgent(service.owner);
  const { traffic: _, results: __, slowest, ...overview } = await overviewOf(agent.id);
  const none = { count: 0, atLeast: false };
  assert.deepEqual(overview, {
    lastTraceAt: null,
    tests: 0,
    eligibleTests: 0,
    open: { pending: none, running: none, error: none },
    notEvaluated: none,
    failing: { total: 0, tests: [] },
    failures: [],
    missing: [],
  });
  assert.deepEqual(slowest.traces, []);
  assert.ok(Object.values(await numbersAndLists(agent.id)).every(number => number === 0));
});

test("traffic without a test is all not evaluated, and counting stops at its bounds", async () => {
  const agent = await makeAgent(service.owner);
  for (let trace = 0; trace < 4; trace++) {
    await storeTrace(db, agent.id, { receivedAt: new Date(Date.now() - trace * hourMs) });
  }
  const numbers = await numbersAndLists(agent.id);
  assert.deepEqual([numbers.traffic, numbers.notEvaluated], [4, 4]);
  const within = { from: new Date(Date.now() - 24 * hourMs), to: new Date() };
  assert.deepEqual(await countTraffic(db, agent.id, within, 3), { count: 3, atLeast: true });
  assert.deepEqual(await countNotEvaluated(db, agent.id, within, { ms: 0, stretch: 2 }), {
    count: 2,
    atLeast: true,
  });
});
