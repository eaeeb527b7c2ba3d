// Whatever happens to a run, an agent, a worker or the database, each manual run ends once and sends nothing twice.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import pino from "pino";
import { reasonText } from "../src/model/run/reason-text.ts";
import { openDatabase } from "../src/store/db.ts";
import { listRunsOfLaunch } from "../src/store/runs/launched-runs.ts";
import { cancelLaunch, findLaunch } from "../src/store/runs/launches.ts";
import { claimManualRuns } from "../src/store/runs/manual-claims.ts";
import { beginTurn } from "../src/store/runs/manual-runs.ts";
import { listTurns } from "../src/store/runs/turns.ts";
import { startCuttingProxy } from "./store/connection/cutting-proxy.ts";
import { begun } from "./store/locks.ts";
import { makeSender, makeTestCase } from "./store/traces/make-write.ts";
import { eventually } from "./support/eventually.ts";
import { undecided } from "./support/judge-answers.ts";
import { openLaunching, unaskedJudge } from "./support/launching.ts";
import { makeAgentRow } from "./support/rows.ts";

const workerStopped = reasonText({ code: "worker_stopped" });

const launching = await openLaunching();
const { db, other, agentOf, startLauncher, launch, ended } = launching;
after(() => launching.close());

test("an agent gets no more simultaneous runs than it allows, whichever launcher runs them", async () => {
  const sender = await makeSender(db);
  const waiting: (() => void)[] = [];
  const agent = await agentOf((_, response) => {
    waiting.push(() => response.end("ok"));
    // The third may arrive only once one of the two has ended.
    if (waiting.length === 2) for (const release of waiting.splice(0)) release();
  });
  const launchers = [startLauncher(agent), startLauncher(agent)];
  const tests = await Promise.all([1, 2, 3, 4, 5, 6].map(() => makeTestCase(db, sender.agentId)));
  const { counts } = await ended(await launch(sender.agentId, ...tests));
  for (const { stop } of launchers) await stop();
  assert.deepEqual([counts.passed, agent.asked.length, agent.crowd], [6, 6, 2]);
});

/** One run has sent its request, which the agent does not answer; the other waits for its turn. */
async function launchOfTwo() {
  const sender = await makeSender(db);
  const begun = Promise.withResolvers<void>();
  const agent = await agentOf(() => begun.resolve());
  const { stop } = startLauncher(agent, { concurrency: 1 });
  const tests = [await makeTestCase(db, sender.agentId), await makeTestCase(db, sender.agentId)];
  const launchId = await launch(sender.agentId, ...tests);
  await begun.promise;
  return { agent, launchId, stop };
}

test("a cancelled launch starts no more runs and aborts the current ones", async () => {
  const { agent, launchId, stop } = await launchOfTwo();
  assert.equal((await cancelLaunch(db, launchId)).length, 1, "the one that had not begun");
  const { state, counts } = await ended(launchId);
  assert.deepEqual([state, counts.cancelled, agent.asked.length], ["cancelled", 2, 1]);
  assert.deepEqual(await cancelLaunch(db, launchId), [], "once more changes nothing");
  await stop();
});

test("a launch that is cancelled while it waits for a trace ends immediately, and creates none", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent, { waitMs: 60_000 });
  const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId));
  await eventually(async () => {
    const [run] = await listRunsOfLaunch(db, launchId);
    assert.equal((await listTurns(db, [run!.id])).get(run!.id)?.[0]?.text, "ok");
  });
  await cancelLaunch(db, launchId);
  const { state, runs } = await ended(launchId);
  await stop();
  const [turn] = runs[0]!.turns;
  assert.deepEqual(
    [state, runs[0]?.state, turn?.arrived, turn?.traceId],
    ["cancelled", "cancelled", null, null],
  );
  assert.equal((await db.pool.query("select from traces where agent_id = $1", [sender.agentId])).rowCount, 0);
});

test("a test that is deleted while it runs is evaluated as it was", async () => {
  const sender = await makeSender(db);
  const test = await makeTestCase(db, sender.agentId);
  const agent = await agentOf(async (_, response) => {
    await db.pool.query("delete from test_cases where id = $1", [test.id]);
    response.end("ok");
  });
  const { stop } = startLauncher(agent);
  const { runs } = await ended(await launch(sender.agentId, test));
  await stop();
  assert.deepEqual([runs[0]?.verdict, runs[0]?.testDeleted], ["passed", true]);
});

test("deleting an agent during a call deletes its launch, and no other", async () => {
  const [gone, staying] = [await makeSender(db), await makeSender(db)];
  const agent = await agentOf(async (_, response) => {
    await db.pool.query("delete from agents where id = $1", [gone.agentId]);
    response.end("ok");
  });
  const logged: string[] = [];
  const { stop } = startLauncher(agent, {
    log: pino({ level: "warn" }, { write: line => void logged.push(line) }),
  });
  const launchId = await launch(gone.agentId, await makeTestCase(db, gone.agentId));
  await eventually(async () => assert.equal(await findLaunch(db, launchId), undefined));
  const { state } = await ended(await launch(staying.agentId, await makeTestCase(db, staying.agentId)));
  await stop();
  assert.equal(state, "completed");
  assert.deepEqual(logged, []);
});

test("a run whose agent cannot be called ends as an error that says so", async () => {
  const sender = await makeSender(db);
  const { stop } = startLauncher({ call: () => assert.fail("called") }, { callable: false });
  const { state, runs } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  await stop();
  assert.equal(state, "completed");
  assert.equal(runs[0]?.error, "This agent has no connection. Make one.");
});

/** A run held by a worker that is dead. */
async function abandoned(agentId: string, { sent }: { sent: boolean }): Promise<string> {
  const launchId = await launch(agentId, await makeTestCase(db, agentId));
  const lease = randomUUID();
  const bounds = { lease, leaseMs: 30_000, runsMax: 1, concurrency: new Map([[agentId, 1]]) };
  const [run] = await claimManualRuns(db, bounds);
  const turn = { turn: 1, input: "Hello", requestId: `run-${lease}`, w3cTraceId: lease.replaceAll("-", "") };
  const nothing = { status: null, ms: null, text: null, error: null, arrived: null, traceId: null };
  if (sent) {
    await beginTurn(db, { lease, run: run! }, { ...turn, ...nothing, startedAt: new Date().toISOString() });
  }
  await db.pool.query("update queue set lease_until = now() - interval '1 second' where lease = $1", [lease]);
  return launchId;
}

test("a run whose worker died after it had sent something is never sent again", async () => {
  const sender = await makeSender(db);
  const launchId = await abandoned(sender.agentId, { sent: true });
  const { stop } = startLauncher({ call: () => assert.fail("called") });
  const { state, runs } = await ended(launchId);
  await stop();
  assert.deepEqual([state, runs[0]?.state, runs[0]?.error], ["completed", "error", workerStopped]);
});

test("a run whose worker died before it had sent anything is taken over", async () => {
  const sender = await makeSender(db);
  const launchId = await abandoned(sender.agentId, { sent: false });
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent);
  const { runs } = await ended(launchId);
  await stop();
  assert.deepEqual([runs[0]?.verdict, runs[0]?.attempts, agent.asked.length], ["passed", 2, 1]);
});

test("a launcher whose leases expired while the database was down continues its runs unless they were taken over", async () => {
  const sender = await makeSender(db);
  const begun = Promise.withResolvers<() => void>();
  const agent = await agentOf((_, response) => begun.resolve(() => response.end("ok")));
  const { launcher, stop } = startLauncher(agent);
  const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId));
  const answer = await begun.promise;
  await db.pool.query("update queue set lease_until = now() - interval '1 minute' where launch_id = $1", [
    launchId,
  ]);
  launcher.wake();
  await eventually(async () => {
    const { rowCount } = await db.pool.query(
      "select from queue where launch_id = $1 and lease_until < now()",
      [launchId],
    );
    assert.equal(rowCount, 0);
  });
  answer();
  const { runs } = await ended(launchId);
  await stop();
  assert.deepEqual([runs[0]?.state, runs[0]?.verdict, runs[0]?.error], ["completed", "passed", null]);
});

test("after the database was down, other launchers' runs get the time of a lease before they count as abandoned", async t => {
  const proxy = await startCuttingProxy(launching.url);
  const over = openDatabase(proxy.url);
  t.after(async () => {
    await over.close();
    await proxy.close();
  });
  const sender = await makeSender(db);
  const held = await abandoned(sender.agentId, { sent: true });
  const agent = await agentOf((_, response) => void response.end("ok"));
  proxy.loseAnswerTo("recursive waiting");
  let now = Date.now();
  const { stop } = startLauncher(agent, { over, now: () => now });
  assert.equal((await ended(held)).runs[0]?.error, workerStopped, "what ran out before is ended");
  await eventually(async () => assert.equal(proxy.lost, 1));
  const other = await abandoned(sender.agentId, { sent: true });
  const { state } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  assert.deepEqual([state, (await findLaunch(db, other))?.state], ["completed", "running"]);
  now += 30_000;
  assert.equal((await ended(other)).runs[0]?.error, workerStopped);
  await stop();
});

for (const statement of [
  "insert into run_turns",
  "update run_turns",
  "insert_traces",
  "delete from queue where id",
]) {
  test(`a database that goes down at “${statement}” is waited for, and nothing is sent or stored twice`, async t => {
    const proxy = await startCuttingProxy(launching.url);
    const over = openDatabase(proxy.url);
    t.after(async () => {
      await over.close();
      await proxy.close();
    });
    const sender = await makeSender(db);
    const agent = await agentOf((_, response) => void response.end("ok"));
    const { stop } = startLauncher(agent, { over });
    const test = await makeTestCase(db, sender.agentId);
    proxy.loseAnswerTo(statement);
    const { runs } = await ended(await launch(sender.agentId, test));
    await stop();
    const [run] = runs;
    assert.deepEqual(
      [proxy.lost, agent.asked.length, run?.verdict, run?.error, run?.turns.map(({ arrived }) => arrived)],
      [1, 1, "passed", null, [false]],
    );
    const { rows } = await db.pool.query("select id from traces where agent_id = $1", [sender.agentId]);
    assert.deepEqual(rows, [{ id: run?.traceId }]);
  });
}

test("a launch can be cancelled while its runs are being claimed, without a deadlock", async () => {
  const sender = await makeSender(db);
  const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId));
  const waiting = async (count: number) =>
    eventually(async () => {
      const { rows } = await db.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      assert.equal(rows.length, count);
    });
  const held = await begun(db);
  await held.query("select from launches where id = $1 for update", [launchId]);
  const cancelling = cancelLaunch(db, launchId);
  await waiting(1);
  const bounds = { lease: randomUUID(), leaseMs: 30_000, runsMax: 1 };
  const claiming = claimManualRuns(other, { ...bounds, concurrency: new Map([[sender.agentId, 1]]) });
  await waiting(2);
  await held.rollback();
  assert.deepEqual([(await cancelling).length, await claiming], [1, []]);
  assert.equal((await findLaunch(db, launchId))?.state, "cancelled");
});

test("agents take turns: many runs of one do not block another's", async () => {
  const [busy, other] = [await makeSender(db), await makeSender(db)];
  const tests = await Promise.all([1, 2, 3, 4].map(() => makeTestCase(db, busy.agentId)));
  const launches = [await launch(busy.agentId, ...tests)];
  launches.push(await launch(other.agentId, await makeTestCase(db, other.agentId)));
  const concurrency = new Map([busy, other].map(({ agentId }) => [agentId, 20]));
  const claim = async () =>
    (await claimManualRuns(db, { lease: randomUUID(), leaseMs: 30_000, runsMax: 2, concurrency })).map(
      ({ agentId }) => agentId,
    );
  assert.deepEqual(await claim(), [busy.agentId, other.agentId]);
  assert.deepEqual(await claim(), [busy.agentId, busy.agentId]);
  for (const id of launches) await cancelLaunch(db, id);
});

test("accounts take turns: an agent waits no longer for three of another account than for one", async () => {
  const other = await makeSender(db);
  const busy = await makeSender(db);
  const agents = [busy.agentId];
  for (let more = 0; more < 2; more++) agents.push(await makeAgentRow(db, { projectId: busy.projectId }));
  const launches: string[] = [];
  for (const agentId of [...agents, other.agentId]) {
    const tests = await Promise.all([1, 2, 3].map(() => makeTestCase(db, agentId)));
    launches.push(await launch(agentId, ...tests));
  }
  const concurrency = new Map([...agents, other.agentId].map(agentId => [agentId, 20]));
  const bounds = { lease: randomUUID(), leaseMs: 30_000, runsMax: 2, concurrency };
  for (let turn = 0; turn < 3; turn++) {
    const claimed = (await claimManualRuns(db, bounds)).map(({ agentId }) => agentId);
    assert.deepEqual(new Set(claimed), new Set([agents[turn], other.agentId]));
  }
  for (const id of launches) await cancelLaunch(db, id);
});

test("an account has a share of the places, however many agents it has", async () => {
  const [other, busy] = [await makeSender(db), await makeSender(db)];
  const agents = [busy.agentId, await makeAgentRow(db, { projectId: busy.projectId })];
  const launches: string[] = [];
  for (const agentId of [...agents, other.agentId]) {
    const tests = await Promise.all([1, 2, 3].map(() => makeTestCase(db, agentId)));
    launches.push(await launch(agentId, ...tests));
  }
  const concurrency = new Map([...agents, other.agentId].map(agentId => [agentId, 20]));
  const bounds = { leaseMs: 30_000, runsMax: 20, accountMax: 4, concurrency };
  const claim = async () =>
    (await claimManualRuns(db, { ...bounds, lease: randomUUID() })).map(({ agentId }) => agentId);
  const claimed = await claim();
  assert.equal(claimed.filter(agentId => agentId !== other.agentId).length, 4);
  assert.equal(claimed.filter(agentId => agentId === other.agentId).length, 3);
  assert.deepEqual(await claim(), []);
  for (const id of launches) await cancelLaunch(db, id);
});

test("a trace that is deleted before its run is evaluated ends the run with that reason", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent, {
    judge: {
      ...unaskedJudge,
      async ask(questions) {
        await db.pool.query("select delete_traces(array(select id from traces where agent_id = $1))", [
          sender.agentId,
        ]);
        return questions.map(() => undecided);
      },
    },
  });
  const test = await makeTestCase(db, sender.agentId, {
    assertions: [{ type: "semantic", criteria: "Is polite." }],
  });
  const { runs } = await ended(await launch(sender.agentId, test));
  await stop();
  assert.deepEqual(
    [runs[0]?.state, runs[0]?.error],
    ["error", "The trace of a turn was deleted during the run."],
  );
});

test("a launcher that stops ends the runs it has sent, and leaves the others to other launchers", async () => {
  const { launchId, stop } = await launchOfTwo();
  await stop();
  const [sent, waiting] = await listRunsOfLaunch(db, launchId);
  assert.deepEqual([sent?.state, sent?.error], ["error", workerStopped]);
  assert.equal(waiting?.state, "pending");
  await cancelLaunch(db, launchId);
});
