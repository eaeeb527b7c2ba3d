// Manual runs ask the judge as live traffic does: counted, limited by the budget, waited for, and given back on stop.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import pino from "pino";
import { Launcher } from "../src/launcher.ts";
import { readByOf } from "../src/model/agent/read-by.ts";
import { Sandbox } from "../src/remote/sandbox/sandbox.ts";
import { updateAgent } from "../src/store/accounts/agents.ts";
import { EventPublisher } from "../src/store/events.ts";
import { listJudgeCalls } from "../src/store/judge/calls.ts";
import { decodeDetail } from "../src/store/runs/detail.ts";
import { listRunsOfLaunch } from "../src/store/runs/launched-runs.ts";
import { cancelLaunch, findLaunch, insertLaunch } from "../src/store/runs/launches.ts";
import { claimManualRuns } from "../src/store/runs/manual-claims.ts";
import { endManualRun, evaluateManualRunsAgain, parkManualRun } from "../src/store/runs/manual-runs.ts";
import { listTurns } from "../src/store/runs/turns.ts";
import { deleteTrace } from "../src/store/traces/read.ts";
import { begun } from "./store/locks.ts";
import { limits, makeSender, makeTestCase, openTwice, runnable } from "./store/traces/make-write.ts";
import { eventually } from "./support/eventually.ts";
import { obliging, refusal, silence, startJudgeServer } from "./support/judge-server.ts";
import { openTestJudges } from "./support/judges.ts";
import { startAgent } from "./support/played-agent.ts";

const { db, other, close } = await openTwice();
const sandbox = new Sandbox({ budgetMs: 5_000 });
const server = await startJudgeServer();
const agent = await startAgent((_, response) => void response.end("Hello, Ada"));
const judging = openTestJudges(db, server.connection());
const events = new EventPublisher(other);
const launchers: Launcher[] = [];
after(async () => {
  await Promise.all(launchers.map(launcher => launcher.stop(0)));
  await events.close();
  await judging.close();
  await agent.close();
  await server.close();
  await sandbox.close();
  await close();
});

function startLauncher(concurrency = 1): Launcher {
  const launcher = new Launcher({
    db: other,
    sandbox,
    judgeOf: judging.judgeOf,
    judgeDeadlineMs: 900_000,
    events,
    leaseMs: 30_000,
    debounceMs: 100,
    traceBytesMax: limits.traceBytesMax,
    log: pino({ level: "silent" }),
    call: agent.call,
    storingOf: async () => ({ revision: 0, storing: null }),
    boundsOf: async () => ({ waitMs: 0, concurrency }),
  });
  launchers.push(launcher);
  return launcher;
}

async function judgedTest(agentId: string, criteria: string) {
  return makeTestCase(db, agentId, {
    assertions: [
      { type: "response_regex", pattern: "Hello" },
      { type: "semantic", criteria },
    ],
  });
}

/** A launch of this many tests, each with a new criterion. */
async function launch(agentId: string, count = 1): Promise<string> {
  const tests = [];
  for (let at = 0; at < count; at++)
    tests.push(await judgedTest(agentId, `Greets by name, ${crypto.randomUUID()}.`));
  const { id } = await insertLaunch(db, {
    agentId,
    createdBy: "nobody",
    source: "api",
    tests: runnable(tests),
  });
  for (const launcher of launchers) launcher.wake();
  return id;
}

const ended = (id: string) =>
  eventually(async () => {
    const found = await findLaunch(db, id);
    assert.ok(found?.finishedAt, `the launch is ${found?.state}`);
    return { ...found, runs: await listRunsOfLaunch(db, id) };
  });

test("the judge's calls are stored with the run, added up, and counted for the agent and the test", async () => {
  server.script = obliging();
  const { agentId } = await makeSender(db);
  // Manual runs are always judged, however low the sampling of live traffic is.
  await db.pool.query("update agents set judge_sampling = 0 where id = $1", [agentId]);
  const launcher = startLauncher();
  const { runs } = await ended(await launch(agentId));
  await launcher.stop(0);
  const [run] = runs;
  assert.equal(run?.verdict, "passed", JSON.stringify(decodeDetail(run!.detail).results));
  const calls = await listJudgeCalls(db, run.id);
  assert.deepEqual(
    calls.map(({ kind, state }) => [kind, state]),
    [["semantic", "ok"]],
  );
  assert.equal(run.judging?.calls, 1);
  const { rows: days } = await db.pool.query(
    "select calls, input_tokens from judge_days where agent_id = $1",
    [agentId],
  );
  assert.deepEqual([days[0].calls, Number(days[0].input_tokens)], [1, calls[0]!.inputTokens]);
  const { rowCount } = await db.pool.query("select from judge_test_days where test_id = $1", [run.testId]);
  assert.equal(rowCount, 1);
});

test("a used-up budget skips the check with that reason, and asks nothing", async () => {
  server.script = obliging();
  const { agentId } = await makeSender(db);
  await db.pool.query("update agents set judge_budget_tokens = 1 where id = $1", [agentId]);
  const launcher = startLauncher();
  await ended(await launch(agentId));
  const before = server.requests.length;
  const { runs } = await ended(await launch(agentId));
  await launcher.stop(0);
  assert.equal(server.requests.length, before);
  const [, semantic] = decodeDetail(runs[0]!.detail).results[0]!.checks;
  assert.equal(semantic?.outcome, "skipped");
  assert.match(semantic!.reason, /budget/i);
});

/** A launch whose runs all wait for an unavailable judge. */
async function awaiting(agentId: string, count: number) {
  server.script = () => refusal(503);
  const launcher = startLauncher();
  const id = await launch(agentId, count);
  const waiting = await eventually(async () => {
    const runs = await listRunsOfLaunch(db, id);
    assert.ok(runs.every(run => run.state === "running" && run.nextTryAt !== null));
    return runs;
  });
  return { launcher, id, waiting };
}

test("runs that wait for the judge say so, and take none of their agent's slots", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id, waiting } = await awaiting(agentId, 3);
  assert.match(waiting[0]!.waitingReason!, /The judge/);
  assert.notEqual(waiting[0]!.judgeDeadlineAt, null);
  assert.equal(agent.crowd, 1, "though they were called one by one");
  server.script = obliging();
  const { counts, runs } = await ended(id);
  await launcher.stop(0);
  assert.equal(counts.passed, 3);
  assert.deepEqual([runs[0]!.nextTryAt, runs[0]!.waitingReason], [null, null]);
});

test("runs that wait for the judge are read by the conventions and rules that they began with", async () => {
  const { agentId } = await makeSender(db);
  const rule = { from: "nothing", to: "user.id" as const };
  const began = { conventions: ["mlflow"], conventionRules: [rule] };
  await updateAgent(db, agentId, began);
  const { launcher, id } = await awaiting(agentId, 1);
  await updateAgent(db, agentId, { conventions: ["*"], conventionRules: [] });
  await db.pool.query(
    "update queue set next_try_at = now(), judge_deadline_at = now() where launch_id = $1",
    [id],
  );
  const first = (await ended(id)).runs[0]!;
  assert.deepEqual([first.outage, readByOf(decodeDetail(first.detail))], [true, began]);
  server.script = obliging();
  await evaluateManualRunsAgain(db, agentId, { launchId: id }, 900_000);
  launcher.wake();
  const again = await eventually(async () => {
    const [run] = await listRunsOfLaunch(db, id);
    assert.deepEqual([run?.state, run?.outage], ["completed", false]);
    return run!;
  });
  assert.deepEqual(readByOf(decodeDetail(again.detail)), began);
  const later = (await ended(await launch(agentId))).runs[0]!;
  await launcher.stop(0);
  assert.deepEqual(readByOf(decodeDetail(later.detail)), { conventions: ["*"], conventionRules: [] });
});

test("a launch that is cancelled while it waits for the judge ends immediately", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 2);
  await cancelLaunch(db, id);
  const { state, counts, runs } = await ended(id);
  await launcher.stop(0);
  assert.deepEqual([state, counts.cancelled, runs[0]!.nextTryAt], ["cancelled", 2, null]);
});

test("runs that wait for the judge survive their launcher: another one evaluates them, and sends nothing again", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 2);
  await launcher.stop(0);
  const between = await listRunsOfLaunch(db, id);
  assert.deepEqual(
    between.map(({ state, error, nextTryAt }) => [state, error, nextTryAt !== null]),
    [
      ["running", null, true],
      ["running", null, true],
    ],
  );
  const sent = agent.asked.length;
  server.script = obliging();
  await db.pool.query("update queue set next_try_at = now() where launch_id = $1", [id]);
  const second = startLauncher();
  const { state, runs } = await ended(id);
  await second.stop(0);
  assert.deepEqual(
    [state, runs.map(({ verdict, attempts }) => [verdict, attempts])],
    [
      "completed",
      [
        ["passed", 1],
        ["passed", 1],
      ],
    ],
  );
  assert.equal(agent.asked.length, sent);
});

test("a run that is asking the judge is given back by a launcher that stops, and taken over from one that died", async () => {
  const { agentId } = await makeSender(db);
  for (const end of ["stops", "dies"]) {
    server.script = () => silence;
    const asked = server.requests.length;
    const launcher = startLauncher();
    const id = await launch(agentId);
    await server.arrived(asked + 1);
    if (end === "dies") {
      const gone = "lease = gen_random_uuid(), lease_until = now() - interval '1 s'";
      await db.pool.query(`update queue set ${gone} where launch_id = $1`, [id]);
    } else await launcher.stop(0);
    server.script = obliging();
    const second = startLauncher();
    const { runs } = await ended(id);
    await Promise.all([launcher.stop(0), second.stop(0)]);
    assert.deepEqual(
      [
        runs[0]!.verdict,
        runs[0]!.attempts,
        agent.asked.filter(({ conversationId }) => conversationId === `run-${runs[0]!.id}`).length,
      ],
      ["passed", end === "dies" ? 2 : 1, 1],
    );
  }
});

test("a run whose checks the judge was unavailable for says so, and is evaluated again without calling the agent", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 2);
  await launcher.stop(0);
  // Their deadline has passed.
  await db.pool.query(
    "update queue set next_try_at = now(), judge_deadline_at = now() where launch_id = $1",
    [id],
  );
  const second = startLauncher();
  const { state, counts, notFullyEvaluated, runs } = await ended(id);
  assert.deepEqual([state, counts.passed, notFullyEvaluated], ["completed", 2, 2]);
  assert.deepEqual(
    runs.map(({ verdict, skipped, outage }) => [verdict, skipped, outage]),
    Array(2).fill(["passed", 0, true]),
  );
  const [first] = runs;
  const sent = agent.asked.length;
  server.script = obliging();
  // A cancelled launch keeps the results it has, and so do runs that are evaluated again.
  await db.pool.query("update launches set cancel_requested_at = now(), state = 'cancelled' where id = $1", [
    id,
  ]);
  const again = await evaluateManualRunsAgain(db, agentId, { runIds: [first!.id] }, 900_000);
  assert.deepEqual(
    again.map(run => run.id),
    [first!.id],
  );
  const during = await findLaunch(db, id);
  assert.deepEqual([during?.state, during?.counts.passed, during?.counts.open], ["cancelled", 2, 0]);
  await cancelLaunch(db, id);
  second.wake();
  const after = await eventually(async () => {
    const [run] = await listRunsOfLaunch(db, id);
    assert.deepEqual([run?.state, run?.outage], ["completed", false]);
    return run!;
  });
  await second.stop(0);
  assert.deepEqual(
    decodeDetail(after.detail).results[0]!.checks.map(({ outcome }) => outcome),
    ["passed", "passed"],
  );
  assert.deepEqual([agent.asked.length, after.finishedAt], [sent, first!.finishedAt]);
  assert.equal((await findLaunch(db, id))?.notFullyEvaluated, 1);
});

test("a run that is evaluated again in vain keeps its results, and one whose trace was deleted is left out", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 1);
  await launcher.stop(0);
  await db.pool.query(
    "update queue set next_try_at = now(), judge_deadline_at = now() where launch_id = $1",
    [id],
  );
  const second = startLauncher();
  const [run] = (await ended(id)).runs;
  const again = () => evaluateManualRunsAgain(db, agentId, { launchId: id }, 900_000);
  const byTrace = await evaluateManualRunsAgain(db, agentId, { traceIds: [run!.traceId!] }, 900_000);
  assert.deepEqual(byTrace, [{ id: run!.id, agentId, launchId: id, traceIds: [run!.traceId] }]);
  assert.deepEqual(await again(), [], "it is under way");
  await eventually(async () => assert.notEqual((await listRunsOfLaunch(db, id))[0]?.nextTryAt, null));
  await second.stop(0);
  const gone =
    "update queue set attempts = 3, lease = gen_random_uuid(), lease_until = now() - interval '1 s'";
  await db.pool.query(`${gone}, next_try_at = null where launch_id = $1`, [id]);
  const third = startLauncher();
  const kept = await eventually(async () => {
    const [found] = await listRunsOfLaunch(db, id);
    assert.equal(found?.state, "completed");
    return found;
  });
  await third.stop(0);
  assert.deepEqual(
    [kept?.state, kept?.verdict, kept?.outage, kept?.error],
    ["completed", "passed", true, null],
  );
  await db.pool.query("update run_turns set trace_id = gen_random_uuid() where run_id = $1", [run!.id]);
  assert.deepEqual(await again(), []);
});

test("a run that crashes every worker ends as an error that says so", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 1);
  await launcher.stop(0);
  const gone =
    "update queue set attempts = 3, lease = gen_random_uuid(), lease_until = now() - interval '1 s'";
  await db.pool.query(`${gone}, next_try_at = null where launch_id = $1`, [id]);
  const second = startLauncher();
  const { state, runs } = await ended(id);
  await second.stop(0);
  assert.deepEqual(
    [state, runs[0]!.state, runs[0]!.error],
    ["completed", "error", "The worker crashed 3 times while evaluating this run."],
  );
});

test("a launch that is cancelled while no launcher holds its runs ends immediately", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 2);
  await launcher.stop(0);
  assert.equal((await cancelLaunch(db, id)).length, 2);
  const { state, counts, runs } = await ended(id);
  assert.deepEqual([state, counts.cancelled, runs[0]!.nextTryAt], ["cancelled", 2, null]);
});

test("a run whose launch is being cancelled does not start to wait", async () => {
  const { agentId } = await makeSender(db);
  const id = await launch(agentId);
  const lease = randomUUID();
  const concurrency = new Map([[agentId, 1]]);
  const [run] = await claimManualRuns(db, { lease, leaseMs: 30_000, runsMax: 1, concurrency });
  const client = await begun(db);
  await client.query("update launches set cancel_requested_at = now() where id = $1", [id]);
  const put = parkManualRun(other, { lease, run: run! }, { nextTryMs: 0, reason: "Away.", tried: true });
  await eventually(async () => {
    const { rowCount } = await db.pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    assert.equal(rowCount, 1, "it waits");
  });
  await client.commit();
  assert.equal(await put, false);
  await endManualRun(db, { lease, run: run! }, { code: "internal_error" });
  assert.equal((await ended(id)).state, "cancelled");
});

test("a run whose turn's trace is deleted while it waits ends as an error that says so", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id, waiting } = await awaiting(agentId, 1);
  await launcher.stop(0);
  const [turn] = (await listTurns(db, [waiting[0]!.id])).get(waiting[0]!.id)!;
  await deleteTrace(db, turn!.traceId!);
  await db.pool.query("update queue set next_try_at = now() where launch_id = $1", [id]);
  const second = startLauncher();
  const { runs } = await ended(id);
  await second.stop(0);
  assert.deepEqual(
    [runs[0]!.state, runs[0]!.error],
    ["error", "The trace of a turn was deleted during the run."],
  );
});

test("a judge that stays unavailable is given up at the deadline", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 1);
  await db.pool.query(
    "update queue set judge_deadline_at = now(), next_try_at = now() where launch_id = $1",
    [id],
  );
  const { runs } = await ended(id);
  await launcher.stop(0);
  const [plain, judged] = decodeDetail(runs[0]!.detail).results[0]!.checks;
  assert.deepEqual(
    [runs[0]!.verdict, plain!.outcome, judged!.skipped],
    ["passed", "passed", "judge_unavailable"],
  );
  assert.match(judged!.reason, /The judge answered with status 503/);
});

test("a run whose content is forgotten just as it is to be evaluated again is left out", async () => {
  const { agentId } = await makeSender(db);
  const { launcher, id } = await awaiting(agentId, 1);
  await launcher.stop(0);
  await db.pool.query(
    "update queue set next_try_at = now(), judge_deadline_at = now() where launch_id = $1",
    [id],
  );
  const second = startLauncher();
  const [run] = (await ended(id)).runs;
  await second.stop(0);
  // As forgetting does: the trace first, then its runs.
  const forgets = await begun(db);
  await forgets.query("select from traces where id = $1 for update", [run!.traceId]);
  await forgets.query("select from runs where id = $1 for update", [run!.id]);
  const again = evaluateManualRunsAgain(db, agentId, { launchId: id }, 900_000);
  await eventually(async () => {
    const { rowCount } = await db.pool.query(
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    assert.equal(rowCount, 1);
  });
  await forgets.query("update traces set content = 'forgotten' where id = $1", [run!.traceId]);
  await forgets.query("update runs set detail = detail where id = $1", [run!.id]);
  await forgets.commit();
  assert.deepEqual(await again, []);
  assert.equal((await listRunsOfLaunch(db, id))[0]?.state, "completed");
});
