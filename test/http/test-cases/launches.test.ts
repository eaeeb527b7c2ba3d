// Launches over HTTP: choosing tests, progress, comparison with earlier runs, and cancelling.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LaunchedRun } from "../../../src/http/test-cases/launch-schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { type AgentServer, sendJson, startAgentServer } from "../../support/agent-server.ts";
import { makeTest } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { failStatements } from "../../support/failing-trigger.ts";
import { startTestService, type TestService } from "../../support/service.ts";

let service: TestService;
let server: AgentServer;
let token: string;
before(async () => {
  service = await startTestService();
  server = await startAgentServer(({ body }, response) =>
    sendJson(response, { reply: `You said ${body.message}` }),
  );
  token = (await service.client.post("/api/access-tokens", { name: "CI" }).expect(201)).body.token;
});
after(async () => {
  await service.stop();
  await server.close();
});

/** An agent that is called at the server; its traces are not waited for. */
async function makeCallable(): Promise<Agent> {
  const made = { name: "Callable", type: "http_api" };
  const { body } = await service.client.post(`/api/projects/${service.projectId}/agents`, made).expect(201);
  const connection = {
    type: "http_api",
    url: server.url,
    bodyTemplate: '{"message":"{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    headers: [{ name: "x-secret", value: "hush", secret: true }],
    waitMs: 0,
  };
  await service.client.put(`/api/agents/${body.id}/connection`, connection).expect(200);
  return body;
}

const matching = (pattern: string) => ({ assertions: [{ type: "response_regex", pattern }] });

async function ended(id: string) {
  return eventually(async () => {
    const body = await service.client.read(`/api/launches/${id}`);
    assert.notEqual(body.finishedAt, null);
    return body;
  });
}

async function launch(agentId: string, body?: object) {
  return (await service.client.post(`/api/agents/${agentId}/launches`, body).expect(201)).body;
}

test("a launch whose commit got no answer is not reported as “not created”", async () => {
  const agent = await makeCallable();
  await makeTest(service.owner, agent.id, {});
  const mend = await failStatements(service.db, agent.id, {
    ...{ table: "launches", when: "after insert", atCommit: true },
    raise: "'going down' using errcode = '57P01'",
  });
  const { body } = await service.client.post(`/api/agents/${agent.id}/launches`).expect(503);
  await mend();
  assert.equal(body.code, "UNAVAILABLE");
  assert.match(`${body.message} ${body.hint}`, /may or may not have been saved\. Check/);
  assert.doesNotMatch(body.message, /nothing was stored/);
});

test("by default every Active test runs, whatever its passive behavior; results are judged and compared", async () => {
  const agent = await makeCallable();
  const passing = await makeTest(service.owner, agent.id, { name: "Passes", ...matching("Hello") });
  const failing = await makeTest(service.owner, agent.id, {
    name: "Fails",
    passiveBehavior: "manual_only",
    ...matching("Goodbye"),
  });
  await makeTest(service.owner, agent.id, { name: "Off", status: "disabled" });
  const made = await launch(agent.id);
  assert.deepEqual(
    [made.state, made.testCount, made.source, made.counts.open],
    ["queued", 2, "dashboard", 2],
  );
  assert.equal(made.createdBy!.id, service.owner.accountId);
  const done = await ended(made.id);
  assert.deepEqual([done.state, done.counts.passed, done.counts.failed], ["completed", 1, 1]);
  assert.deepEqual(
    done.runs.map(run => [run.testId, run.verdict, run.change, run.notices]),
    [
      [passing.id, "passed", "new", ["no_trace_arrived"]],
      [failing.id, "failed", "new", ["no_trace_arrived"]],
    ],
  );
  const run = await service.client.read(`/api/runs/${done.runs[0]!.id}`);
  assert.deepEqual(
    [run.kind, run.launchId, run.testId, run.testName, run.turns!.length, run.turns![0]!.text],
    ["manual", made.id, passing.id, "Passes", 1, "You said Hello"],
  );
  assert.equal(run.results[0]!.checks[0]!.outcome, "passed");
  assert.equal(JSON.stringify(run).includes("hush"), false);
  const trace = await service.client.read(`/api/traces/${run.traceId}`);
  assert.deepEqual(
    [trace.kind, trace.notices.includes("no_trace_arrived"), trace.run!.id],
    ["test_run", true, run.id],
  );
  const again = await ended((await launch(agent.id, { testIds: [failing.id] })).id);
  assert.deepEqual([again.runs.length, again.runs[0]!.change, again.runs[0]!.flaky], [1, "same", false]);
  const list = await service.client.read(`/api/agents/${agent.id}/launches`);
  assert.deepEqual(
    list.items.map((item: { id: string }) => item.id),
    [again.id, made.id],
  );
});

test("manual runs of a test are listed by their kind, and not in passive lists", async () => {
  const agent = await makeCallable();
  const { id } = await makeTest(service.owner, agent.id, matching("Hello"));
  const { runs } = await ended((await launch(agent.id)).id);
  const manual = await service.client.read(`/api/tests/${id}/runs?kind=manual`);
  assert.deepEqual(
    manual.items.map(run => [run.id, run.turns!.length]),
    [[runs[0]!.id, 1]],
  );
  const passive = await service.client.read(`/api/tests/${id}/runs`);
  assert.deepEqual(passive.items, []);
  await service.client.get(`/api/tests/${id}/runs?kind=manual&outcome=passed`).expect(400);
  const insights = await service.client.read(`/api/agents/${agent.id}/tests/insights`);
  assert.equal(JSON.stringify(insights).includes('"passed":1'), false, "insights are of live traffic");
});

test("a disabled test runs when it is named", async () => {
  const agent = await makeCallable();
  const { id } = await makeTest(service.owner, agent.id, { status: "disabled", ...matching("Hello") });
  const { body } = await service.client.post(`/api/agents/${agent.id}/launches`).expect(409);
  assert.match(body.message, /no Active test/);
  const { counts } = await ended((await launch(agent.id, { testIds: [id] })).id);
  assert.equal(counts.passed, 1);
});

test("a test that cannot run is refused by its position, and nothing is launched", async () => {
  const agent = await makeCallable();
  const other = await makeCallable();
  const good = await makeTest(service.owner, agent.id);
  const foreign = await makeTest(service.owner, other.id);
  const noTurn = await makeTest(service.owner, agent.id, { status: "disabled", turns: [] });
  const noAssertion = await makeTest(service.owner, agent.id, { status: "disabled", assertions: [] });
  const testIds = [good.id, foreign.id, noTurn.id, noAssertion.id];
  const { body } = await service.client.post(`/api/agents/${agent.id}/launches`, { testIds }).expect(400);
  assert.deepEqual(
    body.issues!.map((issue: { path: string }) => issue.path),
    ["testIds[1]", "testIds[2]", "testIds[3]"],
  );
  await service.client.post(`/api/agents/${agent.id}/launches`, { tests: [] }).expect(400);
  const list = await service.client.read(`/api/agents/${agent.id}/launches`);
  assert.deepEqual(list.items, []);
});

test("an agent without a connection cannot be launched", async () => {
  await makeTest(service.owner, service.agent.id);
  const { body } = await service.client.post(`/api/agents/${service.agent.id}/launches`).expect(409);
  assert.equal(body.code, "CONFLICT");
});

test("an account with an unverified email cannot launch", async () => {
  const owner = await service.signUp({ verified: false });
  const { body: agent } = await owner.client
    .post(`/api/projects/${owner.projectId}/agents`, { name: "A" })
    .expect(201);
  const { body } = await owner.client.post(`/api/agents/${agent.id}/launches`).expect(403);
  assert.equal(body.code, "EMAIL_NOT_VERIFIED");
});

test("a launch is cancelled while its agent does not reply, and its events are sent", async () => {
  const agent = await makeCallable();
  await makeTest(service.owner, agent.id);
  const begun = Promise.withResolvers<void>();
  const { script } = server;
  server.script = () => begun.resolve();
  const stream = await fetch(`${service.url}/api/events?agentId=${agent.id}`, {
    headers: { cookie: service.client.cookie },
  });
  const { id } = await launch(agent.id);
  await begun.promise;
  server.script = script;
  const { body } = await service.client.post(`/api/launches/${id}/cancel`).expect(200);
  assert.equal(body.id, id);
  const { state, counts } = await ended(id);
  assert.deepEqual([state, counts.cancelled], ["cancelled", 1]);
  let heard = "";
  for await (const chunk of stream.body!) {
    heard += Buffer.from(chunk).toString();
    if (heard.includes(`"launchId":"${id}"`)) break;
  }
  assert.match(heard, /event: launch/);
  await service.client.post(`/api/launches/${id}/cancel`).expect(200);
});

test("an agent with too many waiting launches accepts no more until one has ended", async () => {
  const agent = await makeCallable();
  await makeTest(service.owner, agent.id);
  const { script } = server;
  server.script = () => undefined;
  const ids = [];
  for (let count = 0; count < 20; count++) ids.push((await launch(agent.id)).id);
  const { body } = await service.client.post(`/api/agents/${agent.id}/launches`).expect(409);
  assert.match(body.message, /^Limit: 20 unfinished launches/);
  await service.client.post(`/api/launches/${ids.at(-1)}/cancel`).expect(200);
  await ended(ids.at(-1)!);
  ids.push((await launch(agent.id)).id);
  for (const id of ids) await service.client.post(`/api/launches/${id}/cancel`).expect(200);
  server.script = script;
  for (const id of ids) assert.equal((await ended(id)).state, "cancelled");
});

test("launches that begin at the same time do not exceed the limit together", async () => {
  const agent = await makeCallable();
  await makeTest(service.owner, agent.id);
  const { script } = server;
  server.script = () => undefined;
  for (let count = 0; count < 19; count++) await launch(agent.id);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => service.client.post(`/api/agents/${agent.id}/launches`)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
  const body = await service.client.read(`/api/agents/${agent.id}/launches`);
  for (const { id } of body.items) await service.client.post(`/api/launches/${id}/cancel`).expect(200);
  server.script = script;
  assert.equal(body.items.length, 20);
  for (const { id } of body.items) assert.equal((await ended(id)).state, "cancelled");
});

test("an access token can launch, follow and cancel", async () => {
  const agent = await makeCallable();
  await makeTest(service.owner, agent.id, matching("Hello"));
  const asks = (method: string, path: string) =>
    fetch(service.url + path, { method, headers: { authorization: `Bearer ${token}` } });
  const made = await asks("POST", `/api/agents/${agent.id}/launches`);
  assert.equal(made.status, 201);
  const { id, source } = (await made.json()) as { id: string; source: string };
  assert.equal(source, "api");
  await ended(id);
  assert.equal((await asks("GET", `/api/launches/${id}`)).status, 200);
  assert.equal((await asks("POST", `/api/launches/${id}/cancel`)).status, 200);
  assert.equal((await asks("DELETE", `/api/agents/${agent.id}`)).status, 403);
  assert.equal((await asks("PUT", `/api/agents/${agent.id}/connection`)).status, 403);
});

const inputs = ["one", "two", "three", "four", "five"].map(input => ({ input }));

test("a test runs once for each input and repeat; results are counted by test and read in pages", async () => {
  const agent = await makeCallable();
  const counting = await makeTest(service.owner, agent.id, {
    name: "Counts",
    inputs,
    repeats: 3,
    ...matching("one|two|three|five"),
  });
  const plain = await makeTest(service.owner, agent.id, { name: "Plain", ...matching("Hello") });
  const made = await launch(agent.id);
  assert.deepEqual([made.testCount, made.runCount, made.counts.open, made.passRate], [2, 16, 16, null]);
  const done = await ended(made.id);
  assert.deepEqual(
    done.tests.map(one => [one.testId, one.runs, one.passRate!.passed, one.passRate!.of]),
    [
      [counting.id, 15, 12, 15],
      [plain.id, 1, 1, 1],
    ],
  );
  assert.deepEqual([done.passRate!.passed, done.passRate!.of, done.tests[0]!.counts.failed], [13, 16, 3]);
  const placeOf = (run: LaunchedRun) => [run.row, run.repeat, run.input, run.verdict];
  assert.deepEqual(done.runs.slice(8, 11).map(placeOf), [
    [3, 3, "three", "passed"],
    [4, 1, "four", "failed"],
    [4, 2, "four", "failed"],
  ]);
  assert.deepEqual(placeOf(done.runs.at(-1)!), [null, null, null, "passed"]);
  const none = await service.client.get(`/api/launches/${made.id}?limit=0`).expect(200);
  assert.deepEqual([none.body.runs, none.body.nextCursor, none.body.tests.length], [[], null, 2]);
  const first = await service.client.read(`/api/launches/${made.id}?limit=10`);
  const path = `/api/launches/${made.id}/runs` as const;
  const rest = await service.client.read(`${path}?cursor=${first.nextCursor}`);
  assert.deepEqual(
    [...first.runs, ...rest.items].map(({ id }: { id: string }) => id),
    done.runs.map(({ id }: { id: string }) => id),
  );
  assert.equal(rest.nextCursor, null);
  const failed = await service.client.read(`${path}?result=failed&limit=2`);
  const last = await service.client.read(`${path}?result=failed&cursor=${failed.nextCursor}`);
  assert.deepEqual(
    [...failed.items, ...last.items].map(placeOf).map(([row, repeat]) => [row, repeat]),
    [
      [4, 1],
      [4, 2],
      [4, 3],
    ],
  );
  const ofInput = await service.client.read(`${path}?testId=${counting.id}&row=2`);
  assert.deepEqual(
    ofInput.items.map(run => run.input),
    ["two", "two", "two"],
  );
  const run = await service.client.read(`/api/runs/${failed.items[0]!.id}`);
  assert.deepEqual([run.turns![0]!.input, run.results[0]!.test.turns], ["four", [{ input: "four" }]]);
  assert.equal("inputs" in run.results[0]!.test || "repeats" in run.results[0]!.test, false);
});

test("two launches are compared by test and input, wherever the input is in the list", async () => {
  const agent = await makeCallable();
  const made = { name: "Counts", inputs: inputs.slice(0, 4), ...matching("one|two|three") };
  const counting = await makeTest(service.owner, agent.id, made);
  const gone = await makeTest(service.owner, agent.id, { name: "Gone", ...matching("Hello") });
  const earlier = await ended((await launch(agent.id)).id);
  await service.client.delete(`/api/tests/${gone.id}`).expect(204);
  // One mended, one broke; the first is gone, the order is another, and there is a new one.
  const changed = { inputs: [...inputs.slice(1)].reverse(), ...matching("two|four|five") };
  await service.client.patch(`/api/tests/${counting.id}`, changed).expect(200);
  const later = await ended((await launch(agent.id)).id);
  assert.deepEqual(
    later.runs.map(run => [run.input, run.change]),
    [
      ["five", "new"],
      ["four", "mended"],
      ["three", "broke"],
      ["two", "same"],
    ],
  );
  const firstRuns = ({ runs }: { runs: { firstRun: boolean }[] }) => runs.map(({ firstRun }) => firstRun);
  assert.deepEqual(
    [firstRuns(earlier), firstRuns(later)],
    [
      [true, true, true, true, true],
      [false, false, false, false],
    ],
    "a new input of a test that ran before is no first run of it",
  );
  const path = `/api/launches/${later.id}/compare?with=${earlier.id}` as const;
  const body = await service.client.read(path);
  assert.deepEqual(
    body.items.map(({ input, row, rowBefore, change }) => [input, row, rowBefore, change]),
    [
      ["five", 1, null, "new"],
      ["four", 2, 4, "mended"],
      ["three", 3, 3, "broke"],
      ["two", 4, 2, "same"],
      ["one", null, 1, "gone"],
      [null, null, null, "gone"],
    ],
  );
  assert.deepEqual(body.changes, { broke: 1, mended: 1, same: 1, new: 1, gone: 2, undecided: 0 });
  assert.deepEqual(
    body.tests.map(one => [one.testName, one.testDeleted, one.before !== null, one.after !== null]),
    [
      ["Counts", false, true, true],
      ["Gone", true, true, false],
    ],
  );
  const difference = { broke: 1, mended: 1, significant: false };
  assert.deepEqual([body.difference, body.tests[0]!.difference], [difference, difference]);
  const page = await service.client.read(`${path}&limit=4`);
  const next = await service.client.read(`${path}&limit=4&cursor=${page.nextCursor}`);
  assert.deepEqual([...page.items, ...next.items], body.items);
  const only = await service.client.read(`${path}&change=gone&testId=${counting.id}`);
  assert.deepEqual(
    only.items.map(item => item.input),
    ["one"],
  );
  const unlike = await service.client.read(`${path}&changed=true`);
  assert.equal(unlike.items.length, 5);
  const other = await makeCallable();
  await makeTest(service.owner, other.id);
  const foreign = (await launch(other.id)).id;
  for (const id of [foreign, crypto.randomUUID()]) {
    await service.client.get(`/api/launches/${later.id}/compare?with=${id}`).expect(404);
  }
  await service.client.get(`/api/launches/${later.id}/compare`).expect(400);
});

test("a launch may repeat its tests, and more runs than allowed are refused with the way out", async () => {
  const agent = await makeCallable();
  const many = Array.from({ length: 1_000 }, (_, at) => ({ input: `Question ${at}` }));
  const testIds: string[] = [];
  for (let count = 0; count < 11; count++) {
    testIds.push((await makeTest(service.owner, agent.id, { name: `Set ${count}`, inputs: many })).id);
  }
  const path = `/api/agents/${agent.id}/launches` as const;
  const { body: large } = await service.client.post(path).expect(400);
  assert.match(large.message, /11,000 runs\. The limit is 10,000 at a time: run fewer tests/);
  assert.equal(large.issues![0]!.path, "testIds");
  const { body: repeated } = await service.client
    .post(path, { testIds: [testIds[0]], repeats: 2 })
    .expect(400);
  assert.match(repeated.message, /“Set 0”: 1,000 inputs × 2 repeats are 2,000 runs/);
  await service.client.post(path, { repeats: 0 }).expect(400);
  const small = await makeTest(service.owner, agent.id, { repeats: 5, ...matching("Hello") });
  const made = await launch(agent.id, { testIds: [small.id], repeats: 2 });
  assert.equal(made.runCount, 2);
  const done = await ended(made.id);
  assert.deepEqual(
    done.runs.map(run => [run.row, run.repeat, run.change]),
    [
      [null, 1, "new"],
      [null, 2, "new"],
    ],
  );
});

test("a launch of inputs and repeats is estimated, has its place, and is compared with the one before", async () => {
  const agent = await makeCallable();
  const inputs = ["one", "two"].map(input => ({ input }));
  const semantic = { type: "semantic", criteria: "Is polite." };
  const { id: testId } = await makeTest(service.owner, agent.id, { ...matching("one"), inputs, repeats: 2 });
  const { id: other } = await makeTest(service.owner, agent.id, {
    turns: [{ input: "a" }, { input: "b" }],
    assertions: [...matching("said").assertions, semantic],
  });
  const estimate = (body?: object) =>
    service.client.post(`/api/agents/${agent.id}/launches/estimate`, body).expect(200);
  assert.deepEqual((await estimate()).body, { tests: 2, runs: 5, requests: 6, semanticChecks: 1 });
  assert.deepEqual((await estimate({ testIds: [testId], repeats: 3 })).body, {
    ...{ tests: 1, runs: 6, requests: 6, semanticChecks: 0 },
  });
  await service.client
    .post(`/api/agents/${agent.id}/launches/estimate`, { testIds: [testId], repeats: 21 })
    .expect(400);

  const first = await ended((await launch(agent.id, { testIds: [testId] })).id);
  const otherTests = await ended((await launch(agent.id, { testIds: [other] })).id);
  const second = await ended((await launch(agent.id, { testIds: [testId] })).id);
  assert.deepEqual([first.previousId, otherTests.previousId, second.previousId], [null, null, first.id]);
  assert.deepEqual(
    second.tests.map(({ inputCount, repeats, runs }) => [inputCount, repeats, runs]),
    [[2, 2, 4]],
  );

  const strips = await service.client.get(`/api/agents/${agent.id}/tests/insights`).expect(200);
  const rates = strips.body.items.map(
    ({ lastManualPassRate }: { lastManualPassRate: unknown }) => lastManualPassRate,
  );
  assert.deepEqual(rates, [null, second.tests[0]!.passRate]);

  const [run] = second.runs;
  const like = await service.client.read(`/api/tests/${testId}/runs?kind=manual&like=${run!.id}`);
  const places = like.items.map(({ launchId, row, repeat }: Record<string, unknown>) => [
    launchId,
    row,
    repeat,
  ]);
  assert.deepEqual(places, [
    [first.id, 1, 2],
    [first.id, 1, 1],
  ]);
  await service.client.get(`/api/tests/${testId}/runs?like=${run!.id}`).expect(400);
  // A run of another test, perhaps of another account, says nothing about its input.
  const twin = await makeTest(service.owner, agent.id, { inputs: [{ input: run!.input }] });
  const { runs: others } = await ended((await launch(agent.id, { testIds: [twin.id] })).id);
  assert.equal(others[0]!.input, run!.input);
  const unlike = `/api/tests/${testId}/runs?kind=manual&like=${others[0]!.id}` as const;
  assert.deepEqual((await service.client.read(unlike)).items, []);
});
