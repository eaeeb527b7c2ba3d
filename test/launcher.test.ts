// The launcher sends each turn once, finds the trace it produced, and evaluates the whole conversation.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { LauncherDeps } from "../src/launcher.ts";
import { parseConnection } from "../src/model/agent/connection.ts";
import { callAgent } from "../src/remote/agent/call.ts";
import { openOutbound } from "../src/remote/outbound.ts";
import { newest } from "../src/store/listing.ts";
import { decodeDetail } from "../src/store/runs/detail.ts";
import { listRunsOfLaunch } from "../src/store/runs/launched-runs.ts";
import { insertLaunch } from "../src/store/runs/launches.ts";
import { listRunsOfTrace } from "../src/store/runs/read.ts";
import { findArrived, listTurns, listWholeTurns } from "../src/store/runs/turns.ts";
import { listTraces } from "../src/store/trace-lists/list.ts";
import { findTrace } from "../src/store/traces/read.ts";
import { TraceWriter } from "../src/store/traces/writer.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  makeTestCase,
  otlpWrite,
  runnable,
} from "./store/traces/make-write.ts";
import { eventually } from "./support/eventually.ts";
import { openLaunching } from "./support/launching.ts";
import { loadTrace } from "./support/loaded-trace.ts";
import type { Asked } from "./support/played-agent.ts";

const launching = await openLaunching();
const { db, agentOf, startLauncher, launch, ended } = launching;
after(() => launching.close());
const writer = new TraceWriter(db, limits);

test("without a trace from the agent, Onlooker creates one from the turn, and checks that need more are missing instrumentation", async () => {
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

test("a launcher also finds a launch that no other part of its process announced", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent);
  const tests = runnable([await makeTestCase(db, sender.agentId)]);
  const { id } = await insertLaunch(db, {
    agentId: sender.agentId,
    createdBy: "nobody",
    source: "api",
    tests,
  });
  const { counts } = await ended(id);
  await stop();
  assert.equal(counts.passed, 1);
});

for (const [path, identity, make] of [
  ["canonical", "x-request-id", (asked: Asked) => ({ make: canonicalWrite, externalId: asked.requestId })],
  ["canonical", "traceparent", (asked: Asked) => ({ make: canonicalWrite, externalId: asked.w3cTraceId })],
  ["OTLP", "x-request-id", (asked: Asked) => ({ make: otlpWrite, externalId: asked.requestId })],
  ["OTLP", "traceparent", (asked: Asked) => ({ make: otlpWrite, externalId: asked.w3cTraceId })],
] as const) {
  test(`a trace that the agent sends by the ${path} path under ${identity} belongs to the turn`, async () => {
    const sender = await makeSender(db);
    const agent = await agentOf(async (asked, response) => {
      const { make: write, externalId } = make(asked);
      await writer.write(write(sender, { externalId, text: "from the trace" }));
      response.end('{"arrived":false, "statusInTrace":200}');
    });
    const { stop } = startLauncher(agent, { waitMs: 60_000 });
    const test = await makeTestCase(db, sender.agentId, {
      assertions: [
        { type: "node_call", expected_name: "a" },
        { type: "response_regex", pattern: "arrived" },
      ],
    });
    const { runs } = await ended(await launch(sender.agentId, test));
    await stop();
    const [run] = runs;
    assert.equal(run?.verdict, "passed");
    assert.deepEqual(
      [run?.turns[0]?.statusInTrace, run?.turns[0]?.replyInTrace, run?.differs],
      [undefined, "from the trace", true],
    );
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

test("a call that failed fails the test as an agent error, whatever a healthy trace lets its checks find", async () => {
  const sender = await makeSender(db);
  const attributes = { "http.response.status_code": 200 };
  const agent = await agentOf(async ({ requestId }, response) => {
    await writer.write(canonicalWrite(sender, { externalId: requestId, text: "All is well", attributes }));
    response.writeHead(502).end("Bad gateway");
  });
  const { stop } = startLauncher(agent, { waitMs: 60_000 });
  const assertions = [
    { type: "response_regex", pattern: "refund", negate: true },
    { type: "http_status", expected_status: 200, negate: true },
    { type: "response_time", max_ms: 60_000 },
    { type: "node_call", expected_name: "a" },
  ];
  const asking = [...assertions, { type: "http_status", expected_status: "5xx" }];
  const { runs } = await ended(
    await launch(
      sender.agentId,
      await makeTestCase(db, sender.agentId, { assertions }),
      await makeTestCase(db, sender.agentId, { name: "asks for it", assertions: asking }),
    ),
  );
  await stop();
  assert.deepEqual(
    runs.map(({ verdict, checks }) => [verdict, new Set(checks.map(({ outcome }) => outcome))]),
    [
      ["failed", new Set(["passed"])],
      ["passed", new Set(["passed"])],
    ],
  );
  const [result] = decodeDetail(runs[0]!.detail).results;
  assert.deepEqual(
    [result?.reasonCode, result?.reason],
    ["agent_error", "Agent error: The agent answered 502."],
  );
  const [turn] = runs[0]!.turns;
  assert.deepEqual([turn?.statusInTrace, turn?.replyInTrace], [200, "All is well"]);
});

test("a reply is judged whole, however long, where its trace has no content", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(async ({ requestId }, response) => {
    await writer.write(canonicalWrite(sender, { externalId: requestId }));
    response.end(`${"a".repeat(200_000)}needle`);
  });
  const { stop } = startLauncher(agent, { waitMs: 60_000 });
  const assertions = [{ type: "response_regex", pattern: "needle" }];
  const test = await makeTestCase(db, sender.agentId, { assertions });
  const { runs } = await ended(await launch(sender.agentId, test));
  await stop();
  assert.deepEqual([runs[0]?.verdict, runs[0]?.turns[0]?.text?.length], ["passed", 100_000]);
  const [turn] = await listWholeTurns(db, runs[0]!.id);
  assert.equal(turn?.text?.length, 200_006);
});

/** Agents that say "accepted" and reply in their trace. */
const accepting = (agent: { call: LauncherDeps["call"] }): Pick<LauncherDeps, "call"> => ({
  call: async (...args) => ({ ...(await agent.call(...args)), text: null, fromTrace: true }),
});

test("where the reply is in the trace, a trace without one is waited for, and the next turn knows it", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(async ({ input, requestId }, response) => {
    await writer.write(canonicalWrite(sender, { externalId: requestId }));
    response.writeHead(202).end("started");
    const text = `You said ${input}`;
    await eventually(async () => {
      assert.equal((await findArrived(db, sender.agentId, [requestId]))?.revision, 1);
    });
    await writer.write(canonicalWrite(sender, { externalId: requestId, text }));
  });
  const { stop } = startLauncher(accepting(agent), { waitMs: 60_000 });
  const test = await makeTestCase(db, sender.agentId, {
    passiveBehavior: "manual_only",
    turns: [{ input: "one" }, { input: "two" }],
    assertions: [
      { type: "response_regex", pattern: "one", turn: 1 },
      { type: "response_regex", pattern: "started", negate: true },
      { type: "http_status", expected_status: 202 },
    ],
  });
  const { runs } = await ended(await launch(sender.agentId, test));
  await stop();
  assert.equal(runs[0]?.verdict, "passed", JSON.stringify(runs[0]?.checks));
  assert.deepEqual(
    runs[0]?.turns.map(({ status, text, error, replyFrom }) => [status, text, error, replyFrom]),
    [
      [202, "You said one", null, "trace"],
      [202, "You said two", null, "trace"],
    ],
  );
  assert.deepEqual(agent.asked[1]?.history, [
    { role: "user", content: "one" },
    { role: "assistant", content: "You said one" },
  ]);
});

for (const [what, sends] of [
  ["no trace", false],
  ["a trace without a reply", true],
] as const) {
  test(`where the reply is in the trace and ${what} arrives in time, the turn is an agent error`, async () => {
    const sender = await makeSender(db);
    const agent = await agentOf(async ({ requestId }, response) => {
      if (sends) await writer.write(canonicalWrite(sender, { externalId: requestId }));
      response.writeHead(202).end();
    });
    const { stop } = startLauncher(accepting(agent), { waitMs: 300 });
    const test = await makeTestCase(db, sender.agentId, {
      assertions: [{ type: "http_status", expected_status: 202 }],
    });
    const { runs } = await ended(await launch(sender.agentId, test));
    await stop();
    const [turn] = runs[0]!.turns;
    assert.deepEqual([runs[0]?.verdict, turn?.error?.code, turn?.arrived], ["failed", "no_reply", sends]);
    assert.equal(turn?.error?.reason, "No trace with a reply arrived within 0.3 s.");
  });
}

test("the trace of a turn whose connection broke is waited for, because the agent may have received the request", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.destroy());
  const outbound = openOutbound({ allow: ["127.0.0.1"] });
  const connection = parseConnection(
    { url: agent.url, bodyTemplate: '{"input":"{{input}}"}', reply: { kind: "text" } },
    "http_api",
    undefined,
  );
  const call: typeof agent.call = (_, turn, signal) => callAgent(outbound, connection, turn, signal);
  const { stop } = startLauncher({ call }, { waitMs: 3_600_000 });
  const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId));
  const turn = await eventually(async () => {
    const [run] = await listRunsOfLaunch(db, launchId);
    const turn = (await listTurns(db, [run!.id])).get(run!.id)?.[0];
    assert.equal(turn?.error?.code, "broken_off");
    return turn;
  });
  await writer.write(canonicalWrite(sender, { externalId: turn!.requestId }));
  const { runs } = await ended(launchId);
  await stop();
  await outbound.close();
  assert.deepEqual([runs[0]?.state, runs[0]?.turns[0]?.arrived], ["completed", true]);
});

test("when the wait is over, the turn has the part of the trace that has arrived", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(async ({ w3cTraceId }, response) => {
    await writer.write(otlpWrite(sender, { externalId: w3cTraceId }));
    response.end("ok");
  });
  const { stop } = startLauncher(agent, { waitMs: 0, debounceMs: 3_600_000 });
  const { runs } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  await stop();
  assert.deepEqual([runs[0]?.state, runs[0]?.turns[0]?.arrived], ["completed", true]);
});

/** A completed run whose trace was created by Onlooker. */
async function turnWithoutTrace() {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("ok"));
  const { stop } = startLauncher(agent);
  const { runs } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  await stop();
  const { requestId, traceId } = runs[0]!.turns[0]!;
  return { sender, requestId, traceId };
}

test("a trace that arrives after the wait replaces the one Onlooker created, and still belongs to the test run", async () => {
  const { sender, requestId, traceId } = await turnWithoutTrace();
  const late = await writer.write(canonicalWrite(sender, { externalId: requestId, text: "late" }));
  assert.deepEqual([late.traceId, late.state, late.evaluation], [traceId, "replaced", "none"]);
  assert.equal((await findTrace(db, traceId!))?.kind, "test_run");
});

test("an OTLP trace under the identity of the one Onlooker created leaves nothing of that one", async () => {
  const { sender, requestId, traceId } = await turnWithoutTrace();
  const late = await writer.write(otlpWrite(sender, { externalId: requestId, text: "late" }));
  assert.deepEqual([late.traceId, late.evaluation], [traceId, "none"]);
  const loaded = await loadTrace(db, traceId!);
  assert.deepEqual(
    loaded.trace.spans.map(span => span.name),
    ["a"],
  );
  assert.equal(loaded.derived.notices.includes("no_trace_arrived"), false);
});

test("turns share a conversation, see its history, and are evaluated as one", async () => {
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

test("a turn that fails ends the run, which is evaluated with what is known", async () => {
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

test("a conversation that becomes too long ends, and no trace repeats all of it", async () => {
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

test("a conversation whose traces together exceed the limit of one trace ends as an error that says so", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf((_, response) => void response.end("a".repeat(1_000)));
  const { stop } = startLauncher(agent, { traceBytesMax: 3_000 });
  const { runs } = await ended(
    await launch(sender.agentId, await makeTestCase(db, sender.agentId, talkative(3))),
  );
  await stop();
  assert.match(runs[0]!.error!, /^The traces of all turns together exceed the size limit of a trace\. /);
});

test("only the last ten runs make a test flaky", async () => {
  const sender = await makeSender(db);
  let reply = "";
  const agent = await agentOf((_, response) => void response.end(reply));
  const { stop } = startLauncher(agent);
  const test = await makeTestCase(db, sender.agentId, {
    assertions: [{ type: "response_regex", pattern: "good" }],
  });
  const flaky = [];
  for (reply of ["good", "bad", ...Array<string>(9).fill("good")]) {
    const launchId = await launch(sender.agentId, test);
    flaky.push((await ended(launchId)).runs[0]?.flaky);
  }
  await stop();
  assert.deepEqual(flaky, [false, false, ...Array(8).fill(true), false]);
});

test("a run is compared with the previous run of its test, and is flaky once its outcome has gone back and forth", async () => {
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
