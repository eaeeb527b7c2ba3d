// Reading runs: one with its results, those that evaluated a test, and what changes when the test does.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerOf } from "../../support/answers.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { world } from "../../support/world.ts";

type AnyRun = AnswerOf<"GET", "/api/runs/:id">;

const service = world();

/** Stores a trace and returns it once its run is completed. */
async function judged(agentId: string, attributes: object = {}) {
  const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes })] });
  const traceId = await service.store(body);
  return eventually(async () => {
    const trace = await service.read(`/api/traces/${traceId}`);
    assert.equal(trace.run!.state, "completed");
    return trace;
  });
}

const status = (expected_status: unknown) => ({ id: "status", type: "http_status", expected_status });
const pattern = (pattern: string) => ({ id: "pattern", type: "response_regex", pattern });
const said = { "http.response.status_code": 200, "gen_ai.response.text": "On its way." };

test("a completed run has every field by its name, with a result of each test it evaluated", async () => {
  const agent = await makeAgent(service.owner);
  const passing = await makeTest(service.owner, agent.id, {
    name: "Answers",
    assertions: [status(200), { ...pattern("way"), depends_on: "status" }],
  });
  const failing = await makeTest(service.owner, agent.id, {
    name: "Refuses",
    assertions: [status(500), { ...pattern("way"), depends_on: "status" }],
  });
  const missing = await makeTest(service.owner, agent.id, {
    name: "Is thrifty",
    assertions: [{ id: "tokens", type: "token_limit", max_total: 5 }],
  });
  const trace = await judged(agent.id, said);
  const run = await service.read(`/api/runs/${trace.run!.id}`);
  const { results, tests, dueAt, createdAt, startedAt, finishedAt, ...rest } = run;
  assert.deepEqual(rest, {
    id: trace.run!.id,
    traceId: trace.id,
    agentId: agent.id,
    revision: 1,
    kind: "passive",
    launchId: null,
    state: "completed",
    attempts: 1,
    routing: "not_needed",
    verdict: "failed",
    score: 0.5,
    counts: { passed: 1, failed: 1, skipped: 0, missing_instrumentation: 1 },
    error: null,
    cause: "traffic",
    fullyEvaluated: true,
    outage: false,
    waiting: null,
    conventions: ["*"],
    conventionRules: [],
    judging: null,
  });
  assert.deepEqual(
    tests,
    [passing, failing, missing].map(({ id, name }) => ({
      testId: id,
      name,
      applied: true,
      why: "always_run",
    })),
  );
  for (const time of [dueAt, createdAt, startedAt, finishedAt]) assert.ok(Date.parse(time!) > 0);
  const byTest = new Map(results.map(result => [result.testId, result]));
  assert.deepEqual(
    [passing, failing, missing].map(({ id }) => [
      byTest.get(id)!.name,
      byTest.get(id)!.outcome,
      byTest.get(id)!.score,
    ]),
    [
      ["Answers", "passed", 1],
      ["Refuses", "failed", 0],
      ["Is thrifty", "missing_instrumentation", null],
    ],
  );
  const refuses = byTest.get(failing.id);
  assert.deepEqual(refuses!.counts, { passed: 0, failed: 1, skipped: 1, missing_instrumentation: 0 });
  const [check, dependent] = refuses!.checks;
  assert.deepEqual([check!.id, check!.type, check!.outcome], ["status", "http_status", "failed"]);
  assert.ok("expected" in check! && "actual" in check && check.reason.length > 0);
  assert.deepEqual(
    check.evidence.map(({ spanId, attribute }) => [spanId, attribute]),
    [["root", "http.response.status_code"]],
  );
  assert.equal(dependent!.outcome, "skipped");
  assert.equal(refuses!.test.name, "Refuses");
  assert.deepEqual(trace.runs, [run]);
  assert.deepEqual(
    new Map(trace.tests.map(said => [said.testId, [said.applied, said.why]])),
    new Map([passing, failing, missing].map(({ id }) => [id, [true, "always_run"]])),
  );
});

test("the runs of a test are listed with that test's result alone, newest first and page by page", async () => {
  const agent = await makeAgent(service.owner);
  const first = await makeTest(service.owner, agent.id, { assertions: [status(200)] });
  await makeTest(service.owner, agent.id, { assertions: [status(200)] });
  const runs: string[] = [];
  for (let count = 0; count < 3; count++) runs.unshift((await judged(agent.id, said)).run!.id);
  const items: AnyRun[] = [];
  // To the end: on a busy machine a page may be short, and the last one empty.
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = cursor && `&cursor=${cursor}`;
    const page: { items: AnyRun[]; nextCursor: string | null } = await service.read(
      `/api/tests/${first.id}/runs?limit=2${query}`,
    );
    assert.ok(page.items.length <= 2);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  assert.deepEqual(
    items.map(run => run.id),
    runs,
  );
  for (const { results } of items) {
    assert.deepEqual(
      results.map(result => result.testId),
      [first.id],
    );
  }
});

test("the runs of a test are listed by that test's outcome, not by the verdict of the run", async () => {
  const agent = await makeAgent(service.owner);
  const { id } = await makeTest(service.owner, agent.id, { assertions: [status(200)] });
  await makeTest(service.owner, agent.id, { name: "Fails", assertions: [status(499)] });
  const expected: Record<string, string[]> = {
    passed: [],
    failed: [],
    missing_instrumentation: [],
    skipped: [],
  };
  for (const [outcome, attributes] of [
    ["passed", said],
    ["failed", { "http.response.status_code": 500 }],
    ["passed", said],
    ["missing_instrumentation", {}],
    ["failed", { "http.response.status_code": 404 }],
    ["passed", said],
  ] as const) {
    expected[outcome]!.unshift((await judged(agent.id, attributes)).run!.id);
  }
  for (const [outcome, ids] of Object.entries(expected)) {
    const found: string[] = [];
    let cursor: string | null = "";
    do {
      const query = new URLSearchParams({ outcome, limit: "1", ...(cursor && { cursor }) });
      const body: { items: AnyRun[]; nextCursor: string | null } = await service.read(
        `/api/tests/${id}/runs?${query}`,
      );
      found.push(...body.items.map(run => run.id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(found, ids, outcome);
  }
  const all = await service.read(`/api/tests/${id}/runs`);
  const [second, first] = [all.items[0]!.createdAt, all.items.at(-1)!.createdAt];
  const within = async (search: object) => {
    const { body } = await service.client.get(`/api/tests/${id}/runs?${new URLSearchParams({ ...search })}`);
    return body.items.map(run => run.createdAt);
  };
  assert.deepEqual(await within({ from: second }), [second]);
  assert.deepEqual(
    await within({ from: first, to: second }),
    all.items.slice(1).map(run => run.createdAt),
  );
  assert.deepEqual(await within({ to: first }), []);
  await service.client.get(`/api/tests/${id}/runs?from=yesterday`).expect(400);
  const reversed = new URLSearchParams({ from: second, to: first });
  const { body: refused } = await service.client.get(`/api/tests/${id}/runs?${reversed}`).expect(400);
  assert.deepEqual(refused.issues, [{ path: "from", message: "Must not be after `to`." }]);
  await service.client.get(`/api/tests/${id}/runs?outcome=excellent`).expect(400);
});

test("a result keeps the test as it was evaluated when the test is changed or deleted later", async () => {
  const agent = await makeAgent(service.owner);
  const { id } = await makeTest(service.owner, agent.id, { name: "Before", assertions: [status(200)] });
  const trace = await judged(agent.id, said);
  await service.client.patch(`/api/tests/${id}`, { name: "After", assertions: [status(404)] }).expect(200);
  const read = async () => (await service.read(`/api/runs/${trace.run!.id}`)).results[0];
  const { name, test: kept } = (await read())!;
  assert.deepEqual([name, kept.assertions], ["Before", [{ ...status(200), negate: false, depends_on: [] }]]);
  await service.client.delete(`/api/tests/${id}`).expect(204);
  await service.client.get(`/api/tests/${id}/runs`).expect(404);
  assert.equal((await read())!.testId, id);
});

test("a reason is a sentence with its code and data", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id, { assertions: [status(404)] });
  const { run } = await judged(agent.id, said);
  const body = await service.read(`/api/runs/${run!.id}`);
  const [result] = body.results;
  assert.deepEqual(
    [result!, result!.checks[0]!].map(({ reason, reasonCode, reasonData }) => [
      reason,
      reasonCode,
      reasonData,
    ]),
    [
      ["Failed, 1 of 1 checked, 1 failed", "checks_counted", undefined],
      ["The HTTP status is 200 (expected: 404).", "http_status", { status: 200, expected: 404 }],
    ],
  );
});

test("a test created after a run is not evaluated on its trace, and its own list is empty", async () => {
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id, { assertions: [status(200)] });
  const trace = await judged(agent.id, said);
  const late = await makeTest(service.owner, agent.id);
  const body = await service.read(`/api/traces/${trace.id}`);
  const told = body.tests.find(said => said.testId === late.id);
  assert.deepEqual([told!.applied, told!.why], [false, "not_evaluated"]);
  const runs = await service.client.get(`/api/tests/${late.id}/runs`).expect(200);
  assert.deepEqual(runs.body, { items: [], nextCursor: null });
});

test("a pending run has no results, and null for values that are not known yet", async () => {
  const agent = await makeAgent(service.owner, { otlpServiceName: "later" });
  await makeTest(service.owner, agent.id);
  const attributes = [{ key: "service.name", value: { stringValue: "later" } }];
  const span = { traceId: "ab".repeat(16), spanId: "cd".repeat(8), name: "n" };
  const body = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: [span] }] }] };
  const answer = await service.send({ body });
  const trace = await service.read(`/api/traces/${answer.headers["x-svc-trace-id"]}`);
  const run = await service.read(`/api/runs/${trace.run!.id}`);
  const { state, results, verdict, score, counts, routing, revision, startedAt, finishedAt } = run;
  assert.deepEqual(
    { state, results, verdict, score, counts, routing, revision, startedAt, finishedAt },
    {
      state: "pending",
      results: [],
      verdict: null,
      score: null,
      counts: null,
      routing: null,
      revision: null,
      startedAt: null,
      finishedAt: null,
    },
  );
});

test("runs of another account are not found", async () => {
  const agent = await makeAgent(service.owner);
  const { id } = await makeTest(service.owner, agent.id, { assertions: [status(200)] });
  const { run } = await judged(agent.id, said);
  const { client } = await service.signUp();
  for (const path of [`/api/runs/${run!.id}`, `/api/tests/${id}/runs`, `/api/runs/${crypto.randomUUID()}`]) {
    const { body } = await client.get(path).expect(404);
    assert.equal(body.code, "NOT_FOUND");
  }
});
