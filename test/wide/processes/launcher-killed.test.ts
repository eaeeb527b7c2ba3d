// A worker process that dies in the middle of a manual run: nothing is sent twice, and the launch ends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { reasonText } from "../../../src/model/run/reason-text.ts";
import { openDatabase } from "../../../src/store/db.ts";
import {
  type Bootstrapped,
  bootstrapped,
  type ServiceProcess,
  signedIn,
  startProcess,
  stopProcess,
  stopProcesses,
} from "../../flow/processes.ts";
import { type AgentServer, httpAgent, sendJson, startAgentServer } from "../../support/agent-server.ts";
import { makeTest, type Owner } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { columnsWith } from "../../support/leftovers.ts";
import { freshDatabase } from "../../support/postgres.ts";

const database = await freshDatabase();
const db = openDatabase(database.url, 2);
const env = {
  DATABASE_URL: database.url,
  SVC_LEASE_MS: "1000",
  SVC_SECRET_KEY: "5".repeat(64),
  SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.0/8",
};
const workers: ServiceProcess[] = [];
async function start(role: string): Promise<ServiceProcess> {
  const started = await startProcess({ ...env, SVC_ROLES: role });
  if (role === "worker") workers.push(started);
  return started;
}
let server: AgentServer;
let made: Bootstrapped;
let owner: Owner;
before(async () => {
  server = await startAgentServer();
  made = await bootstrapped(env);
  owner = await signedIn(await start("http"), made);
  await owner.client
    .put(`/api/agents/${made.agentId}/connection`, {
      type: "http_api",
      url: server.url,
      bodyTemplate: '{"message":"{{input}}"}',
      reply: { kind: "json", pointer: "/reply" },
      headers: [{ name: "Authorization", value: "Bearer agent-key", secret: true }],
      waitMs: 0,
      concurrency: 1,
    })
    .expect(200);
});
after(async () => {
  await stopProcesses();
  await server.close();
  await db.close();
  await database.drop();
});

async function launch(...names: string[]): Promise<string> {
  const testIds = [];
  for (const name of names) testIds.push((await makeTest(owner, made.agentId, { name })).id);
  const { body } = await owner.client.post(`/api/agents/${made.agentId}/launches`, { testIds }).expect(201);
  return body.id;
}

const read = (id: string) => owner.client.read(`/api/launches/${id}`);

const ended = (id: string) =>
  eventually(async () => {
    const now = await read(id);
    assert.notEqual(now.finishedAt, null);
    return now;
  });

test("a run whose worker is killed before it sent anything is taken over by another process and sent once", async () => {
  const held = await db.pool.connect();
  // A turn is recorded here before it is sent.
  await held.query("begin; lock table run_turns in exclusive mode");
  const doomed = await start("worker");
  const id = await launch("first");
  await eventually(async () => assert.equal((await read(id)).runs[0]!.state, "running"));
  doomed.kill("SIGKILL");
  await doomed.exited;
  await held.query("rollback");
  held.release();
  assert.equal(server.requests.length, 0);

  const other = await start("worker");
  const { state, runs } = await ended(id);
  assert.equal(state, "completed");
  assert.deepEqual([runs[0]!.state, runs[0]!.verdict, runs[0]!.attempts], ["completed", "passed", 2]);
  assert.equal(server.requests.length, 1);
  assert.equal(server.requests[0]?.headers.authorization, "Bearer agent-key");
  await stopProcess(other);
});

test("a run whose worker is killed after it sent its request ends as an error that says so, and the other runs continue", async () => {
  const before = server.requests.length;
  const arrived = Promise.withResolvers<void>();
  server.script = () => arrived.resolve();
  const doomed = await start("worker");
  const id = await launch("under way", "waiting");
  await arrived.promise;
  doomed.kill("SIGKILL");
  await doomed.exited;

  server.script = httpAgent;
  await start("worker");
  const { state, runs, counts } = await ended(id);
  assert.deepEqual([state, counts.error, counts.passed, counts.open], ["completed", 1, 1, 0]);
  const [sent, waiting] = runs;
  assert.deepEqual(
    [sent!.state, sent!.error, sent!.verdict],
    ["error", reasonText({ code: "worker_stopped" }), null],
  );
  assert.deepEqual([waiting!.testName, waiting!.verdict], ["waiting", "passed"]);
  assert.equal(server.requests.length, before + 2, "each was sent once");
  const shown = await owner.client.read(`/api/runs/${sent!.id}`);
  assert.deepEqual([shown.turns!.length, shown.turns![0]!.status], [1, null], "what was sent is still shown");
});

test("a run whose worker is killed before its results are stored, of an agent that stores no content, says so and is not sent again", async () => {
  const before = server.requests.length;
  await owner.client.patch(`/api/agents/${made.agentId}`, { content: "none" }).expect(200);
  server.script = (_request, response) => sendJson(response, { reply: "This is kept in memory only." });
  // Results wait here before they are stored.
  const held = await db.pool.connect();
  await held.query("select pg_advisory_lock(4711)");
  await db.pool.query(`create function wait_for_4711() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(4711); return new; end $$`);
  await db.pool.query(`create trigger wait before insert on runs for each row
    when (new.state = 'completed') execute function wait_for_4711()`);
  const test = await makeTest(owner, made.agentId, {
    name: "in memory",
    assertions: [
      { type: "response_regex", pattern: "kept in \\w+ only" },
      { type: "http_status", expected_status: 200 },
    ],
  });
  const { body } = await owner.client
    .post(`/api/agents/${made.agentId}/launches`, { testIds: [test.id] })
    .expect(201);
  const waiting =
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'";
  const { rows } = await eventually(async () => {
    const found = await db.pool.query<{ pid: number }>(waiting);
    assert.equal(found.rows.length, 1);
    return found;
  });
  for (const one of workers) {
    one.kill("SIGKILL");
    await one.exited;
  }
  await db.pool.query("select pg_terminate_backend($1)", [rows[0]!.pid]);
  await held.query("drop trigger wait on runs");
  await held.query("select pg_advisory_unlock(4711)");
  held.release();

  await start("worker");
  const { runs } = await ended(body.id);
  const run = await owner.client.read(`/api/runs/${runs[0]!.id}`);
  assert.deepEqual(
    run.results[0]!.checks.map(({ outcome, reasonCode }) => [outcome, reasonCode]),
    [
      ["missing_instrumentation", "content_not_stored"],
      ["passed", "http_status"],
    ],
  );
  assert.equal(server.requests.length, before + 1);
  assert.deepEqual(await columnsWith(database.url, "kept in memory only"), []);
});

for (const content of ["none", "forget"] as const) {
  test(`a run whose worker is killed between its turns ends as an error, and of its replies nothing stays (${content})`, async () => {
    const said = `said-before-the-kill-${content}`;
    await owner.client
      .patch(`/api/agents/${made.agentId}`, {
        content,
        ...(content === "forget" && { contentForgetAfterSeconds: 60 }),
      })
      .expect(200);
    for (const one of workers.splice(0)) await stopProcess(one);
    const before = server.requests.length;
    const second = Promise.withResolvers<void>();
    server.script = (_request, response) => {
      if (server.requests.length === before + 1) sendJson(response, { reply: said });
      else second.resolve();
    };
    const doomed = await start("worker");
    const test = await makeTest(owner, made.agentId, {
      turns: [{ input: "One" }, { input: "Two" }],
      assertions: [{ type: "response_regex", pattern: "said" }],
    });
    const { body } = await owner.client
      .post(`/api/agents/${made.agentId}/launches`, { testIds: [test.id] })
      .expect(201);
    await second.promise;
    doomed.kill("SIGKILL");
    await doomed.exited;

    server.script = httpAgent;
    await start("worker");
    const { runs } = await ended(body.id);
    assert.deepEqual(
      [runs[0]!.state, runs[0]!.verdict, runs[0]!.error],
      ["error", null, reasonText({ code: "worker_stopped" })],
    );
    assert.equal(server.requests.length, before + 2, "nothing is sent again");
    if (content === "forget") {
      assert.notDeepEqual(await columnsWith(database.url, said), [], "the time has not passed");
      const hour = "interval '1 hour'";
      await db.pool.query(`update traces set updated_at = updated_at - ${hour}`);
      await db.pool.query(`update runs set finished_at = finished_at - ${hour}`);
      await db.pool.query(`update content_deadlines set check_at = check_at - ${hour}`);
    }
    await eventually(async () => assert.deepEqual(await columnsWith(database.url, said), []));
    const run = await owner.client.read(`/api/runs/${runs[0]!.id}`);
    assert.deepEqual(
      run.turns!.map(({ input, text }: { input: string; text: string | null }) => [input, text]),
      [
        ["One", null],
        ["Two", null],
      ],
    );
  });
}
