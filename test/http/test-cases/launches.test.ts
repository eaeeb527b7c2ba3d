// Launches over HTTP: choosing tests, progress, comparison with earlier runs, and cancelling.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { type AgentServer, sendJson, startAgentServer } from "../../support/agent-server.ts";
import { makeTest } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
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
    const { body } = await service.client.get(`/api/launches/${id}`).expect(200);
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
  await service.db.pool.query(
    `create function lose_commit() returns trigger language plpgsql as
       $$ begin raise exception 'going down' using errcode = '57P01'; end $$;
     create constraint trigger lose_commit after insert on launches deferrable initially deferred
       for each row when (new.agent_id = '${agent.id}') execute function lose_commit()`,
  );
  const { body } = await service.client.post(`/api/agents/${agent.id}/launches`).expect(503);
  await service.db.pool.query("drop function lose_commit cascade");
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
  assert.equal(made.createdBy.id, service.owner.accountId);
  const done = await ended(made.id);
  assert.deepEqual([done.state, done.counts.passed, done.counts.failed], ["completed", 1, 1]);
  assert.deepEqual(
    done.runs.map((run: { testId: string; verdict: string; change: string; notices: string[] }) => [
      run.testId,
      run.verdict,
      run.change,
      run.notices,
    ]),
    [
      [passing.id, "passed", "new", ["no_trace_arrived"]],
      [failing.id, "failed", "new", ["no_trace_arrived"]],
    ],
  );
  const { body: run } = await service.client.get(`/api/runs/${done.runs[0].id}`).expect(200);
  assert.deepEqual(
    [run.kind, run.launchId, run.testId, run.testName, run.turns.length, run.turns[0].text],
    ["manual", made.id, passing.id, "Passes", 1, "You said Hello"],
  );
  assert.equal(run.results[0].checks[0].outcome, "passed");
  assert.equal(JSON.stringify(run).includes("hush"), false);
  const { body: trace } = await service.client.get(`/api/traces/${run.traceId}`).expect(200);
  assert.deepEqual(
    [trace.kind, trace.notices.includes("no_trace_arrived"), trace.run.id],
    ["test_run", true, run.id],
  );
  const again = await ended((await launch(agent.id, { testIds: [failing.id] })).id);
  assert.deepEqual([again.runs.length, again.runs[0].change, again.runs[0].flaky], [1, "same", false]);
  const { body: list } = await service.client.get(`/api/agents/${agent.id}/launches`).expect(200);
  assert.deepEqual(
    list.items.map((item: { id: string }) => item.id),
    [again.id, made.id],
  );
});

test("manual runs of a test are listed by their kind, and not in passive lists", async () => {
  const agent = await makeCallable();
  const { id } = await makeTest(service.owner, agent.id, matching("Hello"));
  const { runs } = await ended((await launch(agent.id)).id);
  const { body: manual } = await service.client.get(`/api/tests/${id}/runs?kind=manual`).expect(200);
  assert.deepEqual(
    manual.items.map((run: { id: string; turns: object[] }) => [run.id, run.turns.length]),
    [[runs[0].id, 1]],
  );
  const { body: passive } = await service.client.get(`/api/tests/${id}/runs`).expect(200);
  assert.deepEqual(passive.items, []);
  await service.client.get(`/api/tests/${id}/runs?kind=manual&outcome=passed`).expect(400);
  const { body: insights } = await service.client.get(`/api/agents/${agent.id}/tests/insights`).expect(200);
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
    body.issues.map((issue: { path: string }) => issue.path),
    ["testIds[1]", "testIds[2]", "testIds[3]"],
  );
  await service.client.post(`/api/agents/${agent.id}/launches`, { tests: [] }).expect(400);
  const { body: list } = await service.client.get(`/api/agents/${agent.id}/launches`).expect(200);
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
  await ended(ids.at(-1));
  ids.push((await launch(agent.id)).id);
  for (const id of ids) await service.client.post(`/api/launches/${id}/cancel`).expect(200);
  server.script = script;
  for (const id of ids) assert.equal((await ended(id)).state, "cancelled");
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
