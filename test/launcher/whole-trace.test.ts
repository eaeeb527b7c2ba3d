// A manual run waits for the whole trace of a turn, says when it changed afterwards, and judges the message that was sent.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { LauncherDeps } from "../../src/launcher.ts";
import { refreshStale } from "../../src/load/stale.ts";
import type { Judge, SemanticQuestion } from "../../src/model/judge/judge.ts";
import { unanswered } from "../../src/model/judge/outcome.ts";
import { countChangedRuns } from "../../src/store/runs/launch-tests.ts";
import { listRunsOfLaunch } from "../../src/store/runs/launched-runs.ts";
import { evaluateManualRunsAgain } from "../../src/store/runs/manual-runs.ts";
import { listRunsOfTrace } from "../../src/store/runs/read.ts";
import { findArrived, listTurns } from "../../src/store/runs/turns.ts";
import { findTrace } from "../../src/store/traces/read.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  makeTestCase,
  otlpId,
  otlpWrite,
  type Sender,
} from "../store/traces/make-write.ts";
import { eventually } from "../support/eventually.ts";
import { openLaunching, unaskedJudge } from "../support/launching.ts";
import type { Asked } from "../support/played-agent.ts";

const { db, agentOf, startLauncher, launch, ended, close } = await openLaunching();
after(close);
const writer = new TraceWriter(db, limits);
const hourMs = 3_600_000;
const debounceMs = 300;

/** Resolves once the trace has been quiet for longer than the debounce, and the reply is stored for as long. */
async function quiet({ agentId }: Sender, launchId: string, { w3cTraceId }: Asked): Promise<void> {
  await eventually(async () => {
    const [run] = await listRunsOfLaunch(db, launchId);
    assert.notEqual((await listTurns(db, [run!.id])).get(run!.id)?.[0]?.ms ?? null, null);
  });
  await db.pool.query("update traces set updated_at = now() where agent_id = $1", [agentId]);
  await eventually(async () => {
    const found = await findArrived(db, agentId, [w3cTraceId]);
    assert.ok(found && found.quietMs > 2 * debounceMs + 200);
  });
}

const refunds = { assertions: [{ type: "node_call", expected_name: "b", negate: true }] };

for (const [what, parentOf] of [
  ["without a parent", () => undefined],
  ["below the request that was sent", (asked: Asked) => asked.w3cTraceId.slice(16)],
] as const) {
  test(`spans alone are not judged before their root is there, ${what}`, async () => {
    const sender = await makeSender(db);
    const agent = await agentOf(async ({ w3cTraceId: externalId }, response) => {
      await writer.write(otlpWrite(sender, { externalId, parent: otlpId("f") }));
      response.end("ok");
    });
    const { stop } = startLauncher(agent, { waitMs: hourMs, debounceMs });
    const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId, refunds));
    const asked = await eventually(async () => agent.asked[0] ?? assert.fail());
    await quiet(sender, launchId, asked);
    assert.equal((await listRunsOfLaunch(db, launchId))[0]?.state, "running");
    const parent = parentOf(asked);
    const rest = { externalId: asked.w3cTraceId, spans: ["f", "b"], ...(parent && { parent }) };
    await writer.write(otlpWrite(sender, rest));
    const { runs } = await ended(launchId);
    await stop();
    assert.deepEqual([runs[0]?.verdict, runs[0]?.revision, runs[0]?.changedSince], ["failed", 2, false]);
  });
}

test("the debounce counts from the reply, however long the trace was quiet before", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(async ({ w3cTraceId: externalId }, response) => {
    await writer.write(otlpWrite(sender, { externalId }));
    await db.pool.query("update traces set updated_at = now() - interval '1 hour' where agent_id = $1", [
      sender.agentId,
    ]);
    response.end("ok");
  });
  const { stop } = startLauncher(agent, { waitMs: hourMs, debounceMs });
  const { runs } = await ended(await launch(sender.agentId, await makeTestCase(db, sender.agentId)));
  await stop();
  const [turn] = runs[0]!.turns;
  assert.ok(turn!.waitedMs! >= debounceMs, `waited ${turn?.waitedMs} ms`);
  assert.equal(runs[0]?.waitedMs, turn?.waitedMs);
});

/** Agents that say "accepted" and reply in their trace. */
const accepting = (agent: Pick<LauncherDeps, "call">): Pick<LauncherDeps, "call"> => ({
  call: async (...args) => ({ ...(await agent.call(...args)), text: null, fromTrace: true }),
});

test("where the reply is in the trace, a text before the root is none", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(async ({ w3cTraceId: externalId }, response) => {
    await writer.write(otlpWrite(sender, { externalId, parent: otlpId("f"), text: "Let me look" }));
    response.writeHead(202).end();
  });
  const over = startLauncher(accepting(agent), { waitMs: 300, debounceMs: 100 });
  const test = await makeTestCase(db, sender.agentId);
  const { runs: without } = await ended(await launch(sender.agentId, test));
  assert.deepEqual(
    [without[0]?.verdict, without[0]?.turns[0]?.error?.code, without[0]?.turns[0]?.text],
    ["failed", "no_reply", null],
  );
  // The root comes after the wait.
  const { w3cTraceId: externalId } = agent.asked[0]!;
  await writer.write(otlpWrite(sender, { externalId, spans: ["f"], text: "It left today" }));
  await evaluateManualRunsAgain(db, sender.agentId, { runIds: [without[0]!.id] }, 0);
  over.launcher.wake();
  const turn = await eventually(async () => {
    const [run] = await listRunsOfLaunch(db, without[0]!.launchId);
    assert.deepEqual([run?.verdict, run?.changedSince], ["passed", false]);
    return (await listTurns(db, [run!.id])).get(run!.id)?.[0];
  });
  await over.stop();
  assert.deepEqual([turn?.error, turn?.text, agent.asked.length], [null, "It left today", 1]);
});

test("a root that ends with the 202 makes no reply of what a model says before its tools", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(async ({ w3cTraceId: externalId }, response) => {
    await writer.write(otlpWrite(sender, { externalId, spans: ["f"], parent: externalId.slice(16) }));
    await writer.write(otlpWrite(sender, { externalId, parent: otlpId("e"), text: "Let me look" }));
    response.writeHead(202).end();
  });
  const { stop } = startLauncher(accepting(agent), { waitMs: hourMs, debounceMs });
  const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId));
  const asked = await eventually(async () => agent.asked[0] ?? assert.fail());
  await quiet(sender, launchId, asked);
  const externalId = asked.w3cTraceId;
  assert.equal((await listRunsOfLaunch(db, launchId))[0]?.state, "running");
  await writer.write(
    otlpWrite(sender, { externalId, spans: ["b"], parent: otlpId("e"), text: "It left today" }),
  );
  await writer.write(otlpWrite(sender, { externalId, spans: ["e"], parent: otlpId("f") }));
  const { runs } = await ended(launchId);
  await stop();
  assert.deepEqual([runs[0]?.turns[0]?.text, runs[0]?.turns[0]?.error], ["It left today", null]);
});

for (const identity of ["requestId", "w3cTraceId"] as const) {
  test(`a trace that comes after the wait by its ${identity} is said, and evaluated without a call of the agent`, async () => {
    const sender = await makeSender(db);
    const agent = await agentOf((_, response) => void response.end("ok"));
    const { launcher, stop } = startLauncher(agent, { waitMs: 100 });
    const launchId = await launch(sender.agentId, await makeTestCase(db, sender.agentId, refunds));
    const { runs } = await ended(launchId);
    const { id, traceId, agentId } = runs[0]!;
    assert.deepEqual(
      [runs[0]?.verdict, runs[0]?.unseen, runs[0]?.changedSince],
      ["missing_instrumentation", true, false],
    );
    assert.ok(runs[0]!.waitedMs! >= 100);
    const late = otlpWrite(sender, { externalId: agent.asked[0]![identity], spans: ["a", "b"] });
    assert.equal((await writer.write(late)).traceId, traceId);
    assert.equal(await countChangedRuns(db, { id: launchId, agentId }), 1);
    const again = await evaluateManualRunsAgain(db, agentId, { launchId }, 0);
    assert.deepEqual(
      again.map(run => run.id),
      [id],
    );
    launcher.wake();
    await eventually(async () => {
      const [run] = await listRunsOfLaunch(db, launchId);
      assert.deepEqual([run?.verdict, run?.unseen, run?.changedSince], ["failed", false, false]);
    });
    await stop();
    assert.equal(agent.asked.length, 1);
    assert.deepEqual(await evaluateManualRunsAgain(db, agentId, { launchId }, 0), [], "nothing has changed");
    await db.pool.query("select delete_traces(array[$1::uuid])", [traceId]);
    const left = await db.pool.query("select from trace_identities where agent_id = $1", [agentId]);
    assert.equal(left.rowCount, 0, "a deletion takes both identities along");
  });
}

test("a change of an earlier turn's trace is one, and only of that trace", async () => {
  const sender = await makeSender(db);
  const agent = await agentOf(async ({ requestId: externalId }, response) => {
    await writer.write(canonicalWrite(sender, { externalId, spans: ["a", "c"] }));
    response.end("ok");
  });
  const { launcher, stop } = startLauncher(agent, { waitMs: hourMs });
  const turns = [{ input: "one" }, { input: "two" }];
  const test = await makeTestCase(db, sender.agentId, { ...refunds, passiveBehavior: "manual_only", turns });
  const launchId = await launch(sender.agentId, test);
  const [first, last] = (await ended(launchId)).runs[0]!.turns;
  await writer.write(canonicalWrite(sender, { externalId: first!.requestId, spans: ["a", "b"] }));
  const judgedRevisions = async () => {
    const runs = await Promise.all([first!, last!].map(turn => listRunsOfTrace(db, turn.traceId!)));
    return runs.map(([run]) => run?.revision);
  };
  const [changed] = await listRunsOfLaunch(db, launchId);
  assert.deepEqual(
    [changed?.verdict, changed?.changedSince, await judgedRevisions()],
    ["passed", true, [1, 1]],
  );
  await evaluateManualRunsAgain(db, sender.agentId, { traceIds: [last!.traceId!] }, 0);
  launcher.wake();
  await eventually(async () => {
    const [run] = await listRunsOfLaunch(db, launchId);
    assert.deepEqual([run?.verdict, run?.changedSince], ["failed", false]);
  });
  await stop();
  assert.deepEqual(await judgedRevisions(), [2, 1]);
});

test("the message that was sent is the input, whatever prompt the model was given", async () => {
  const sender = await makeSender(db);
  const prompt = JSON.stringify([
    { role: "user", parts: [{ type: "text", content: "Be brief. User: Hello" }] },
  ]);
  const attributes = { "gen_ai.request.model": "m", "gen_ai.input.messages": prompt };
  const agent = await agentOf(async ({ requestId: externalId }, response) => {
    await writer.write(canonicalWrite(sender, { externalId, text: "Hi!", attributes }));
    response.end("Hi!");
  });
  const asked: SemanticQuestion[] = [];
  const judge: Judge = {
    ...unaskedJudge,
    ask: async questions => {
      asked.push(...questions);
      return questions.map(() => unanswered("not_configured", { code: "no_judge" }));
    },
  };
  const { stop } = startLauncher(agent, { waitMs: hourMs, judge });
  const assertions = [{ type: "semantic", criteria: "It greets.", context: "conversation" }];
  const { runs } = await ended(
    await launch(sender.agentId, await makeTestCase(db, sender.agentId, { assertions })),
  );
  await stop();
  assert.equal(asked[0]?.userInput, "Hello");
  const shown = asked[0]?.material?.items.map(({ kind, is, text }) => [is ?? kind, text]);
  assert.deepEqual(shown?.slice(0, 2), [
    ["user_input", ""],
    ["user", "Be brief. User: Hello"],
  ]);
  assert.equal((await findTrace(db, runs[0]!.traceId!))?.userInput, "Hello");
  // What replaces the trace is listed by the same message, once its columns are derived.
  await writer.write(canonicalWrite(sender, { externalId: agent.asked[0]!.requestId, attributes }));
  await refreshStale(db, { agentId: sender.agentId });
  assert.equal((await findTrace(db, runs[0]!.traceId!))?.userInput, "Hello");
});
