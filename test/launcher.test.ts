// A launcher sends each turn once, judges what came of it, and lets go of a run in every other case.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import pino from "pino";
import { Launcher, type LauncherDeps } from "../src/launcher.ts";
import { loadTraces } from "../src/load.ts";
import type { Judge, SemanticAnswer } from "../src/model/judge.ts";
import { Refusal } from "../src/model/refusal.ts";
import type { TestCase } from "../src/model/test-case.ts";
import { Sandbox } from "../src/remote/sandbox.ts";
import { EventPublisher } from "../src/store/events.ts";
import { cancelLaunch, findLaunch, insertLaunch, listRunsOfLaunch } from "../src/store/launches.ts";
import { newest } from "../src/store/listing.ts";
import { beginTurn, claimManualRuns, workerStopped } from "../src/store/manual-runs.ts";
import { decodeDetail } from "../src/store/run-detail.ts";
import { listRunsOfTrace } from "../src/store/run-reads.ts";
import { listTurns } from "../src/store/run-turns.ts";
import { listTraces } from "../src/store/trace-list.ts";
import { TraceWriter } from "../src/store/trace-writer.ts";
import { findTrace } from "../src/store/traces.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  makeTestCase,
  openTwice,
  otlpWrite,
} from "./store/make-write.ts";
import { eventually } from "./support/eventually.ts";
import { type Asked, startAgent } from "./support/played-agent.ts";

const { db, other, close } = await openTwice();
const sandbox = new Sandbox({ budgetMs: 5_000 });
const closing: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of closing.reverse()) await end();
  await sandbox.close();
  await close();
});
const writer = new TraceWriter(db, limits);
const unasked = () => assert.fail("nothing is asked of the judge");
const unaskedJudge: Judge = { route: unasked, ask: async () => unasked() as SemanticAnswer[] };

async function agentOf(answer: Parameters<typeof startAgent>[0]) {
  const agent = await startAgent(answer);
  closing.push(() => agent.close());
  return agent;
}

/** A launcher that calls `agent`; its end is awaited after the tests. */
function startLauncher(
  agent: Pick<LauncherDeps, "call">,
  {
    waitMs = 0,
    concurrency = 2,
    debounceMs = 100,
    traceBytesMax = limits.traceBytesMax,
    callable = true,
    judge = unaskedJudge,
  }: {
    waitMs?: number;
    concurrency?: number;
    debounceMs?: number;
    traceBytesMax?: number;
    callable?: boolean;
    judge?: Judge;
  } = {},
) {
  const events = new EventPublisher(other);
  const launcher = new Launcher({
    db: other,
    sandbox,
    judgeOf: () => judge,
    judgeDeadlineMs: 0,
    events,
    leaseMs: 30_000,
    debounceMs,
    traceBytesMax,
    log: pino({ level: "silent" }),
    call: agent.call,
    async boundsOf() {
      if (callable) return { waitMs, concurrency };
      throw new Refusal("CONFLICT", { message: "This agent has no connection.", hint: "Make one." });
    },
  });
  let stopped: Promise<void> | undefined;
  const stop = (graceMs = 0) => (stopped ??= launcher.stop(graceMs).then(() => events.close()));
  closing.push(() => stop());
  return { launcher, stop };
}

const createdBy = "nobody";

async function launch(agentId: string, ...tests: TestCase[]): Promise<string> {
  return insertLaunch(db, { agentId, createdBy, source: "api", tests });
}

/** The launch's runs with their turns, once it has ended. */
async function ended(launchId: string) {
  const end = await eventually(async () => {
    const found = await findLaunch(db, launchId);
    assert.ok(found?.finishedAt, `the launch is ${found?.state}`);
    return found;
  });
  const runs = await listRunsOfLaunch(db, launchId);
  const turns = await listTurns(
    db,
    runs.map(run => run.id),
  );
  return {
    state: end.state,
    counts: end.counts,
    runs: runs.map(run => ({
      ...run,
      turns: turns.get(run.id) ?? [],
      checks: decodeDetail(run.detail).results.flatMap(result => result.checks),
    })),
  };
}

test("without a trace of the agent's, one is made of what was seen, and what asks for more is missing", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("Hello, Ada"));
  const { stop } = startLauncher(agent);
  const launchId = await launch(
    sender.agentId,
    await makeTestCase(db, sender.agentId, {
      turns: [{ input: "Hi, I am Ada" }],
      assertions: [
        { type: "response_regex", pattern: "Hello" },
        { type: "http_status", expected_status: "2xx" },
        { type: "response_time", max_ms: 60_000 },
        { type: "tool_call", expected_name: "search" },
        { type: "tool_call", expected_name: "delete_all", negate: true },
        { type: "node_call", expected_name: "plan" },
        { type: "token_limit", max_total: 10 },
      ],
    }),
  );
  const { state, counts, runs } = await ended(launchId);
  await stop();
  assert.equal(state, "completed");
  assert.deepEqual(counts.missing_instrumentation, 1);
  const [run] = runs;
  assert.deepEqual(
    run?.checks.map(({ outcome }) => outcome),
    ["passed", "passed", "passed", ...Array(4).fill("missing_instrumentation")],
  );
  const [turn] = run!.turns;
  assert.deepEqual([turn?.arrived, turn?.text, turn?.status], [false, "Hello, Ada", 200]);
  assert.deepEqual([run?.turnsEnded, run?.unseen], [1, true]);
  const trace = await findTrace(db, turn!.traceId!);
  assert.deepEqual(
    [trace?.kind, trace?.externalId, trace?.userInput, trace?.responseText, trace?.httpStatus],
    ["test_run", turn?.requestId, "Hi, I am Ada", "Hello, Ada", 200],
  );
  for (const table of ["agent_hours", "test_hours", "check_hours"]) {
    assert.equal((await db.pool.query(`select from ${table}`)).rowCount, 0, "manual runs are in no insights");
  }
});

for (const [path, identity, make] of [
  ["canonical", "x-request-id", (asked: Asked) => ({ make: canonicalWrite, externalId: asked.requestId })],
  ["OTLP", "traceparent", (asked: Asked) => ({ make: otlpWrite, externalId: asked.w3cTraceId })],
] as const) {
  test(`a trace that the agent sends by the ${path} path under ${identity} is the turn's`, async () => {
    const sender = await makeSender(db);
    const agent = await agentOf(async (asked, response) => {
      const { make: write, externalId } = make(asked);
      await writer.write(write(sender, { externalId, text: "from the trace" }));
      response.end('{"arrived":false}');
    });
    const { stop } = startLauncher(agent, { waitMs: 60_000 });
    const test = await makeTestCase(db, sender.agentId, {
      assertions: [{ type: "response_regex", pattern: "from the trace" }],
    });
    const { runs } = await ended(await launch(sender.agentId, test));
    await stop();
    const [run] = runs;
    assert.equal(run?.verdict, "passed");
    assert.deepEqual([run?.turns[0]?.arrived, run?.turnsEnded, run?.unseen], [true, 1, false]);
    assert.equal((await findTrace(db, run!.traceId!))?.kind, "test_run");
    const ofTrace = await listRunsOfTrace(db, run!.traceId!);
    assert.deepEqual(
      ofTrace.map(({ kind }) => kind),
      ["manual"],
      "it is not judged passively",
    );
  });
}

test("a trace that comes when the wait is over takes the made one's place and stays a test run's", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent);
  const { runs } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  await stop();
  const { requestId, traceId } = runs[0]!.turns[0]!;
  const late = await writer.write(canonicalWrite(sender, { externalId: requestId, text: "late" }));
  assert.deepEqual([late.traceId, late.state, late.evaluation], [traceId, "replaced", "none"]);
  assert.equal((await findTrace(db, traceId!))?.kind, "test_run");
});

test("the same by OTLP, under the identity that the made one bears, leaves nothing of the made one", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent);
  const { runs } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  await stop();
  const { requestId, traceId } = runs[0]!.turns[0]!;
  const late = await writer.write(otlpWrite(sender, { externalId: requestId, text: "late" }));
  assert.deepEqual([late.traceId, late.evaluation], [traceId, "none"]);
  const loaded = (await loadTraces(db, [traceId!])).get(traceId!)!;
  assert.deepEqual(
    loaded.trace.spans.map(span => span.name),
    ["a"],
  );
  assert.equal(loaded.derived.notices.includes("no_trace_arrived"), false);
});

test("turns share a conversation, see what was said, and are judged as one", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(({ input }, response) => void response.end(`You said ${input}`));
  const { stop } = startLauncher(agent);
  const test = await makeTestCase(db, sender.agentId, {
    passiveBehavior: "manual_only",
    turns: [{ input: "one" }, { input: "two" }, { input: "three" }],
    assertions: [
      { type: "response_regex", pattern: "three" },
      { type: "response_regex", pattern: "one", turn: 1 },
      { type: "response_regex", pattern: "one", turn: "last", negate: true },
      { type: "node_call", expected_name: "Call of the agent", min: 3 },
    ],
  });
  const { runs } = await ended(await launch(sender.agentId, test));
  await stop();
  const [run] = runs;
  assert.equal(run?.verdict, "passed", JSON.stringify(run?.checks));
  assert.equal(new Set(agent.asked.map(asked => asked.conversationId)).size, 1);
  assert.equal(new Set(agent.asked.map(asked => asked.requestId)).size, 3);
  assert.deepEqual(agent.asked[2]?.history, [
    { role: "user", content: "one" },
    { role: "assistant", content: "You said one" },
    { role: "user", content: "two" },
    { role: "assistant", content: "You said two" },
  ]);
  assert.equal(run?.traceId, run?.turns[2]?.traceId);
  const ofFirst = await listRunsOfTrace(db, run!.turns[0]!.traceId!);
  assert.deepEqual(
    ofFirst.map(({ id }) => id),
    [run?.id],
    "the run is found from each of its traces",
  );
  const listing = { before: newest, rowsMax: 10 };
  const listed = await listTraces(db, sender.agentId, { kind: "test_run", verdict: "passed" }, listing);
  assert.deepEqual(
    listed.rows.map(row => [row.id, row.run?.id]),
    run!.turns.map(({ traceId }) => [traceId, run!.id]).reverse(),
    "in lists, too, each turn's trace bears the run",
  );
  const { rows: unrun } = await listTraces(db, sender.agentId, { state: "none" }, listing);
  assert.deepEqual(unrun, []);
});

test("a turn that fails ends the run, which is judged by what is known", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(({ input }, response) => {
    if (input === "two") response.statusCode = 500;
    response.end(input);
  });
  const { stop } = startLauncher(agent);
  const test = await makeTestCase(db, sender.agentId, {
    passiveBehavior: "manual_only",
    turns: [{ input: "one" }, { input: "two" }, { input: "three" }],
    assertions: [
      { type: "http_status", expected_status: 500 },
      { type: "http_status", expected_status: 200, turn: 1 },
      { type: "response_regex", pattern: "three", turn: 3 },
    ],
  });
  const { state, runs } = await ended(await launch(sender.agentId, test));
  await stop();
  const [run] = runs;
  assert.deepEqual([state, run?.state, agent.asked.length], ["completed", "completed", 2]);
  assert.deepEqual(
    run?.checks.map(({ outcome }) => outcome),
    ["passed", "passed", "failed"],
  );
  assert.equal(run?.turns[1]?.error?.code, "http_status");
  assert.equal((await findTrace(db, run!.traceId!))?.failed, true);
});

const talkative = (count: number) => ({
  passiveBehavior: "manual_only",
  turns: Array.from({ length: count }, () => ({ input: "Go on" })),
  assertions: [{ type: "response_regex", pattern: "a", turn: 1 }],
});

test("a conversation that has grown too long ends, and no trace repeats all of it", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("a".repeat(1_000_000)));
  const { stop } = startLauncher(agent);
  const { runs } = await ended(
    await launch(sender.agentId, await makeTestCase(db, sender.agentId, talkative(6))),
  );
  await stop();
  const [run] = runs;
  assert.deepEqual(
    [run?.verdict, run?.turns.map(turn => turn.error?.code)],
    ["passed", [undefined, undefined, undefined, "too_large"]],
  );
  const { rows } = await db.pool.query("select max(batch_bytes) as bytes from traces where agent_id = $1", [
    sender.agentId,
  ]);
  assert.ok(rows[0].bytes < 1_200_000, `a trace of ${rows[0].bytes} bytes`);
});

test("a conversation whose traces are larger than one may be ends as an error that says so", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("a".repeat(1_000)));
  const { stop } = startLauncher(agent, { traceBytesMax: 3_000 });
  const { runs } = await ended(
    await launch(sender.agentId, await makeTestCase(db, sender.agentId, talkative(3))),
  );
  await stop();
  assert.match(runs[0]!.error!, /^The traces of its turns are together larger than a trace may be\. /);
});

test("no more runs of an agent are under way than it bears, whoever runs them", async () => {
  const sender = await makeSender(db);
  const waiting: (() => void)[] = [];
  const agent = await agentOf((_, response) => {
    waiting.push(() => response.end("ok"));
    // The third may come only once one of two has ended.
    if (waiting.length === 2) for (const release of waiting.splice(0)) release();
  });
  const launchers = [startLauncher(agent), startLauncher(agent)];
  const tests = await Promise.all([1, 2, 3, 4, 5, 6].map(() => makeTestCase(db, sender.agentId)));
  const { counts } = await ended(await launch(sender.agentId, ...tests));
  for (const { stop } of launchers) await stop();
  assert.deepEqual([counts.passed, agent.asked.length, agent.crowd], [6, 6, 2]);
});

test("a cancelled launch begins nothing more and gives up what is under way", async () => {
  const sender = await makeSender(db);
  const begun = Promise.withResolvers<void>();
  const agent = await agentOf(() => begun.resolve());
  const { stop } = startLauncher(agent, { concurrency: 1 });
  const tests = [await makeTestCase(db, sender.agentId), await makeTestCase(db, sender.agentId)];
  const launchId = await launch(sender.agentId, ...tests);
  await begun.promise;
  assert.equal((await cancelLaunch(db, launchId)).length, 1, "the one that had not begun");
  const { state, counts } = await ended(launchId);
  assert.deepEqual([state, counts.cancelled, agent.asked.length], ["cancelled", 2, 1]);
  assert.deepEqual(await cancelLaunch(db, launchId), [], "once more changes nothing");
  await stop();
});

test("an agent that nobody knows how to call ends the run as an error that says so", async () => {
  const sender = await makeSender(db);
  const { stop } = startLauncher({ call: () => assert.fail("called") }, { callable: false });
  const { state, runs } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  await stop();
  assert.equal(state, "completed");
  assert.equal(runs[0]?.error, "This agent has no connection. Make one.");
});

/** A run in the hands of a worker that is heard of no more. */
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
  await db.pool.query("update runs set lease_until = now() - interval '1 second' where lease = $1", [lease]);
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

test("a run whose worker died before it had sent anything is taken up again", async () => {
  const sender = await makeSender(db);
  const launchId = await abandoned(sender.agentId, { sent: false });
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent);
  const { runs } = await ended(launchId);
  await stop();
  assert.deepEqual([runs[0]?.verdict, runs[0]?.attempts, agent.asked.length], ["passed", 2, 1]);
});

test("a launcher whose leases ran out while the database was away goes on with what nobody took over", async () => {
  const sender = await makeSender(db);
  const begun = Promise.withResolvers<() => void>();
  const agent = await agentOf((_, response) => begun.resolve(() => response.end("ok")));
  const { launcher, stop } = startLauncher(agent);
  const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId));
  const answer = await begun.promise;
  await db.pool.query("update runs set lease_until = now() - interval '1 minute' where launch_id = $1", [
    launchId,
  ]);
  launcher.wake();
  await eventually(async () => {
    const { rowCount } = await db.pool.query(
      "select from runs where launch_id = $1 and lease_until < now()",
      [launchId],
    );
    assert.equal(rowCount, 0);
  });
  answer();
  const { runs } = await ended(launchId);
  await stop();
  assert.deepEqual([runs[0]?.state, runs[0]?.verdict, runs[0]?.error], ["completed", "passed", null]);
});

test("a launch is cancelled while its runs are claimed, and neither stops the other", async () => {
  const sender = await makeSender(db);
  const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId));
  const waiting = async (count: number) =>
    eventually(async () => {
      const { rows } = await db.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      assert.equal(rows.length, count);
    });
  const held = await db.pool.connect();
  await held.query("begin");
  await held.query("select from launches where id = $1 for update", [launchId]);
  const cancelling = cancelLaunch(db, launchId);
  await waiting(1);
  const bounds = { lease: randomUUID(), leaseMs: 30_000, runsMax: 1 };
  const claiming = claimManualRuns(other, { ...bounds, concurrency: new Map([[sender.agentId, 1]]) });
  await waiting(2);
  await held.query("rollback");
  held.release();
  assert.deepEqual([(await cancelling).length, await claiming], [1, []]);
  assert.equal((await findLaunch(db, launchId))?.state, "cancelled");
});

test("agents take turns: many runs of one do not keep another's waiting", async () => {
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

test("a trace that is deleted before its run is judged ends the run with that reason", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent, {
    judge: {
      ...unaskedJudge,
      async ask(questions) {
        await db.pool.query("delete from traces where agent_id = $1", [sender.agentId]);
        return questions.map(() => ({ state: "undecided", reason: "Nobody knows." }));
      },
    },
  });
  const test = await makeTestCase(db, sender.agentId, {
    assertions: [{ type: "semantic", criteria: "Is polite." }],
  });
  const { runs } = await ended(await launch(sender.agentId, test));
  await stop();
  assert.deepEqual([runs[0]?.state, runs[0]?.error], ["error", "A turn's trace was deleted while it ran."]);
});

test("a launcher that stops ends what it has sent, and leaves the rest to others", async () => {
  const sender = await makeSender(db);
  const begun = Promise.withResolvers<void>();
  const agent = await agentOf(() => begun.resolve());
  const { stop } = startLauncher(agent, { concurrency: 1 });
  const tests = [await makeTestCase(db, sender.agentId), await makeTestCase(db, sender.agentId)];
  const launchId = await launch(sender.agentId, ...tests);
  await begun.promise;
  await stop();
  const [sent, waiting] = await listRunsOfLaunch(db, launchId);
  assert.deepEqual([sent?.state, sent?.error], ["error", workerStopped]);
  assert.equal(waiting?.state, "pending");
  await cancelLaunch(db, launchId);
});

test("a run is compared with the one before it of its test, and flaky once it has gone back and forth", async () => {
  const sender = await makeSender(db);
  let reply = "";
  const agent = await agentOf((_, response) => void response.end(reply));
  const { stop } = startLauncher(agent);
  const test = await makeTestCase(db, sender.agentId, {
    assertions: [{ type: "response_regex", pattern: "good" }],
  });
  const seen = [];
  for (reply of ["good", "good", "bad", "bad", "good"]) {
    const { runs } = await ended(await launch(sender.agentId, test));
    seen.push([runs[0]?.change, runs[0]?.flaky]);
  }
  assert.deepEqual(seen, [
    ["new", false],
    ["same", false],
    ["broke", false],
    ["same", false],
    ["mended", true],
  ]);
  const changed = { ...test, assertions: [{ ...test.assertions[0]!, description: "reworded" }] };
  const { runs } = await ended(await launch(sender.agentId, changed));
  await stop();
  assert.deepEqual([runs[0]?.change, runs[0]?.flaky], ["same", false], "another version is not flaky yet");
});
