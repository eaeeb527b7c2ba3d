// Runs that wait for the judge over the API, and checks that it could not answer: found, and evaluated again.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { RunDetail } from "../../../src/http/traces/run-schemas.ts";
import type { Judge, SemanticAnswer } from "../../../src/model/judge/judge.ts";
import { makeAgent, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import type { Client } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { keyRejected, serverError } from "../../support/judge-answers.ts";
import { startRunWorker, type TestWorker } from "../../support/run-worker.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { startTestService, type TestService } from "../../support/service.ts";

const met: SemanticAnswer = {
  code: "ok",
  score: 1,
  votes: [{ score: 1, verdicts: [{ verdict: "met", evidence: "", reason: "Met." }] }],
  provider: "openai_compatible",
  model: "local",
  promptVersion: "1",
  cached: false,
};
const later = () => serverError(503, Date.now() + 600_000);

let answer: () => SemanticAnswer = () => met;
const judge: Judge = {
  route: async () => later(),
  ask: async questions => questions.map(answer),
};

let service: TestService;
let worker: TestWorker;
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
  worker = startRunWorker(service.databaseUrl, { judge });
});
after(async () => {
  await worker.stop();
  await service.stop();
});

/** An agent whose only test asks the judge about the reply. */
async function makeJudged() {
  const agent = await makeAgent(service.owner);
  const polite = { id: "polite", type: "semantic", criteria: "Is polite." };
  const plain = { id: "plain", type: "response_regex", pattern: "Hello" };
  const made = await makeTest(service.owner, agent.id, { assertions: [plain, polite] });
  return { agentId: agent.id, testId: made.id };
}

async function store(agentId: string): Promise<string> {
  const attributes = {
    "gen_ai.response.text": "Hello",
    "gen_ai.prompt": "Hi",
    "gen_ai.usage.input_tokens": 12,
  };
  const times = {
    start_time_unix_nano: "1700000000000000000",
    end_time_unix_nano: "1700000000250000000",
  };
  const body = canonicalBody(agentId, { spans: [canonicalSpan({ attributes, ...times })] });
  return traceIdOf(await send(service, { body }));
}

const get: Client["read"] = path => service.client.read(path);

/** The trace once its latest run is in this state; `waits`: for the judge. */
async function traceWith(traceId: string, state: string, waits = false) {
  return eventually(async () => {
    const trace = await get(`/api/traces/${traceId}`);
    assert.deepEqual([trace.runs[0]!.state, trace.runs[0]!.waiting !== null], [state, waits]);
    return trace;
  });
}

const againPath = (agentId: string) => `/api/agents/${agentId}/judge-again` as const;
const codesOf = (run: RunDetail) => run.results[0]!.checks.map(check => check.skipped ?? check.outcome);

test("a waiting run shows its deadline, its reason and its partial results in every response", async () => {
  answer = later;
  const { agentId, testId } = await makeJudged();
  const { id: conditional } = await makeTest(service.owner, agentId, {
    passiveBehavior: "manual_only",
  });
  const traceId = await store(agentId);
  const trace = await traceWith(traceId, "running", true);
  const run = trace.runs[0]!;
  const { nextTryAt, until, reason } = run.waiting!;
  assert.equal(reason, "The judge answered with status 503.");
  assert.ok(Date.parse(nextTryAt) > Date.now());
  // The deadline is 900 s after the first question, the next try 600 s after it was asked.
  assert.ok(Math.abs(Date.parse(until) - Date.parse(nextTryAt) - 300_000) < 60_000);
  assert.deepEqual(
    [run.verdict, run.counts, run.outage, run.cause, codesOf(run)],
    [null, null, false, "traffic", ["passed", "waiting"]],
  );
  assert.equal("plan" in run!, false);
  assert.deepEqual(await get(`/api/runs/${run.id}`), run);
  assert.deepEqual((await get(`/api/traces/${traceId}/outline`)).runs, [run]);
  const listed = (await get(`/api/agents/${agentId}/traces?state=running`)).items[0]!;
  assert.deepEqual([listed.id, listed.run!.waiting], [traceId, run.waiting]);
  // The waiting run knows why its tests run; for other tests it follows from what they are now.
  assert.deepEqual(
    new Map(trace.tests.map(({ testId, why }) => [testId, why])),
    new Map([
      [testId, "always_run"],
      [conditional, "manual_only"],
    ]),
  );
  assert.deepEqual(await get(`/api/tests/${testId}/runs`), { items: [], nextCursor: null });
});

test("a test whose scenario match is retried later is shown as waiting", async () => {
  answer = later;
  const agent = await makeAgent(service.owner);
  await makeTest(service.owner, agent.id, { passiveBehavior: "run_when_relevant", scenario: "A greeting." });
  const trace = await traceWith(await store(agent.id), "running", true);
  const said = trace.tests[0]!;
  assert.deepEqual(
    [said.why, said.applied, said.reason],
    ["routing_waiting", false, "The judge answered with status 503."],
  );
  assert.equal(trace.notices.includes("routing_unavailable"), false);
});

test("traces without a judge are counted, can be filtered, are evaluated again, and are then no longer listed", async () => {
  answer = () => keyRejected;
  const { agentId } = await makeJudged();
  const none = { traces: 0, scheduled: 0, oldest: null };
  assert.deepEqual(await get(`/api/agents/${agentId}/outages`), none);
  const [first, second] = [await store(agentId), await store(agentId)];
  const [{ runs }, { receivedAt }] = [
    await traceWith(second, "completed"),
    await traceWith(first, "completed"),
  ];
  assert.deepEqual([runs[0]!.outage, codesOf(runs[0]!)], [true, ["passed", "judge_unavailable"]]);
  answer = () => met;
  const whole = await store(agentId);
  await traceWith(whole, "completed");

  const found = async (outage: boolean) =>
    (await get(`/api/agents/${agentId}/traces?outage=${outage}`)).items.map(trace => trace.id);
  assert.deepEqual(await found(true), [second, first]);
  const counted = async () => {
    const { counts, notFullyEvaluated, passRate } = (await get(`/api/agents/${agentId}/insights`)).total!;
    return [counts.passed, notFullyEvaluated, passRate];
  };
  assert.deepEqual(await counted(), [1, 2, 1]);
  assert.deepEqual(await found(false), [whole]);
  assert.deepEqual(await get(`/api/agents/${agentId}/outages`), {
    traces: 2,
    scheduled: 0,
    oldest: receivedAt,
  });

  const one = await service.client.post(againPath(agentId), { traceIds: [second] }).expect(200);
  assert.deepEqual(one.body, { scheduled: 1, left: 1, refused: [] });
  const judged = await eventually(async () => {
    const trace = await get(`/api/traces/${second}`);
    assert.deepEqual(
      trace.runs.map(run => run.state),
      ["completed", "completed"],
    );
    return trace;
  });
  assert.deepEqual(
    judged.runs.map(run => [run.cause, run.outage, codesOf(run)]),
    [
      ["again", false, ["passed", "passed"]],
      ["traffic", false, ["passed", "judge_unavailable"]],
    ],
  );
  assert.equal(judged.run!.id, judged.runs[0]!.id);
  assert.deepEqual(await found(true), [first]);

  const rest = await service.client.post(againPath(agentId), {}).expect(200);
  assert.deepEqual(rest.body, { scheduled: 1, left: 0, refused: [] });
  await eventually(async () => assert.deepEqual(await get(`/api/agents/${agentId}/outages`), none));
  assert.deepEqual(await counted(), [3, 0, 1]);
  assert.deepEqual(await found(true), []);
});

test("evaluating again does nothing if the judge was never unavailable, and is refused for invalid ids", async () => {
  const agent = await makeAgent(service.owner);
  const { body } = await service.client.post(againPath(agent.id), {}).expect(200);
  assert.deepEqual(body, { scheduled: 0, left: 0, refused: [] });
  for (const traceIds of [[], ["1"], "all", Array(1_001).fill(agent.id)]) {
    await service.client.post(againPath(agent.id), { traceIds }).expect(400);
  }
});

test("traces of other accounts are never evaluated again", async () => {
  answer = () => keyRejected;
  const { agentId } = await makeJudged();
  const traceId = await store(agentId);
  await traceWith(traceId, "completed");
  const stranger = await service.signUp();
  const own = await makeAgent(stranger);
  await makeTest(stranger, own.id);
  const { body } = await stranger.client.post(againPath(own.id), { traceIds: [traceId] }).expect(200);
  assert.deepEqual([body.scheduled, body.left], [0, 0]);
  assert.deepEqual(
    body.refused.map(one => [one.traceId, one.reason]),
    [[traceId, "not_found"]],
  );
  assert.equal((await get(`/api/traces/${traceId}`)).runs.length, 1);
});

test("chosen traces are evaluated again by the tests as they were, counted once, and refusals are listed", async () => {
  answer = () => met;
  const { agentId, testId } = await makeJudged();
  const traceId = await store(agentId);
  await traceWith(traceId, "completed");
  const none = await makeAgent(service.owner);
  const unjudged = await store(none.id);
  const changed = { name: "Renamed", assertions: [{ type: "response_regex", pattern: "never" }] };
  await service.client.patch(`/api/tests/${testId}`, changed).expect(200);

  const { body } = await service.client
    .post(againPath(agentId), { traceIds: [traceId.toUpperCase(), traceId, unjudged] })
    .expect(200);
  assert.deepEqual([body.scheduled, body.left], [1, 0]);
  assert.deepEqual(body.refused, [
    { traceId: unjudged, reason: "not_found", message: "This agent has no such trace." },
  ]);
  const trace = await eventually(async () => {
    const read = await get(`/api/traces/${traceId}`);
    assert.deepEqual(
      read.runs.map(run => [run.state, run.cause]),
      [
        ["completed", "again"],
        ["completed", "traffic"],
      ],
    );
    return read;
  });
  const [again, first] = trace.runs;
  assert.deepEqual(codesOf(again!), codesOf(first!));
  assert.deepEqual(
    [again!.results[0]!.name, again!.results[0]!.testVersion],
    [first!.results[0]!.name, first!.results[0]!.testVersion],
  );
  const { rows } = await service.db.pool.query(
    `select sum(runs)::int as runs, sum(passed)::int as passed, sum(not_fully_evaluated)::int as others, sum(input_tokens)::int as tokens,
       sum((select sum(one) from unnest(durations) as one))::int as durations
     from agent_hours where agent_id = $1`,
    [agentId],
  );
  assert.deepEqual(rows, [{ runs: 1, passed: 1, others: 0, tokens: 12, durations: 1 }]);
  const ofTest = await service.db.pool.query(
    "select sum(passed)::int as passed from test_hours where test_id = $1",
    [testId],
  );
  assert.deepEqual(ofTest.rows, [{ passed: 1 }]);
  const listed = await get(`/api/tests/${testId}/runs?outcome=passed`);
  assert.deepEqual(
    listed.items.map(run => run.id),
    [again!.id],
  );
  const alone = await service.client.post(againPath(none.id), { traceIds: [unjudged] }).expect(200);
  assert.deepEqual(
    alone.body.refused.map(one => one.reason),
    ["never_evaluated"],
  );

  await makeTest(service.owner, none.id);
  await service.client.post(againPath(none.id), { traceIds: [unjudged] }).expect(200);
  await eventually(async () => {
    const { runs } = await get(`/api/traces/${unjudged}`);
    assert.deepEqual(
      runs.map(run => [run.state, run.cause, run.results.length]),
      [["completed", "again", 1]],
    );
  });
  const checked = await service.db.pool.query(
    "select sum(runs)::int as runs from agent_hours where agent_id = $1",
    [none.id],
  );
  assert.deepEqual(checked.rows, [{ runs: 1 }]);
});

test("the number of waiting runs is a metric", async () => {
  answer = later;
  const { agentId } = await makeJudged();
  const waitingNow = async () => {
    const text = (await service.client.read("/metrics")) as string;
    return Number(/^svc_runs_waiting (\d+)$/m.exec(text)![1]);
  };
  const before = await waitingNow();
  await traceWith(await store(agentId), "running", true);
  await eventually(async () => assert.equal(await waitingNow(), before + 1));
});

test("traces beside manual runs or a launch are a 400, and nothing is scheduled", async () => {
  const { agentId } = await makeJudged();
  const traceIds = [await store(agentId)];
  const id = traceIds[0]!;
  for (const more of [{ runIds: [id] }, { launchId: id }, { runIds: [id], launchId: id }]) {
    const { body } = await service.client.post(againPath(agentId), { traceIds, ...more }).expect(400);
    assert.equal(body.code, "VALIDATION_ERROR");
    assert.deepEqual(
      body.issues!.map(({ path }: { path: string }) => path),
      ["traceIds"],
    );
  }
});
