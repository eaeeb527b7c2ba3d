// Evaluating chosen traces again: which get a run, and why others do not.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import type { Result, Verdict } from "../../../src/model/run/run.ts";
import type { TestCase, TestCaseDocument } from "../../../src/model/test-case/document.ts";
import { evaluateAgain } from "../../../src/store/runs/again.ts";
import { claimRuns } from "../../../src/store/runs/claims.ts";
import { decodeDetail } from "../../../src/store/runs/detail.ts";
import { deleteTestCase, updateTestCase } from "../../../src/store/test-cases.ts";
import { storeRecords } from "../../../src/store/traces/records.ts";
import type { TraceWrite } from "../../../src/store/traces/write.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { newTraceId } from "../../support/bodies.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import {
  limits,
  makeSender,
  makeTestCase,
  openTwice,
  otlpWrite,
  questions,
  type Sender,
  storeDueRun,
} from "../traces/make-write.ts";

const { db, other, close } = await openTwice();
after(close);

const lease = randomUUID();
const unmeasured = {
  durationMs: null,
  tokens: { input: null, output: null, reasoning: null, cached: null, total: null },
  usage: [],
};
const counts = { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 };

function verdictOf(tests: TestCase[]): Verdict {
  const results = tests.map(({ id, agentId: _, version, ...document }): Result => {
    const test: TestCaseDocument = document;
    const shared = {
      testId: id,
      name: test.name,
      score: 1,
      counts,
      checks: [],
      fullyEvaluated: true,
      reason: "",
    };
    return { ...shared, reasonCode: "checks_counted", outcome: "passed", test, testVersion: version };
  });
  const all = { verdict: "passed", score: 1, counts, fullyEvaluated: true } as const;
  return { routing: "not_needed", ...all, results, tests: [] };
}

async function claimAll() {
  return (await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 10_000 })).runs;
}

/** A trace that these tests have evaluated. */
async function evaluated(sender: Sender, tests: TestCase[], write?: TraceWrite): Promise<string> {
  if (write) await new TraceWriter(db, { ...limits, debounceMs: 0 }).write(write);
  const { traceId, runId } = write ?? (await storeDueRun(db, sender));
  await claimAll();
  await completeRuns(db, lease, [
    { id: runId, revision: 1, verdict: verdictOf(tests), outage: false, ...unmeasured },
  ]);
  return traceId;
}

test("gives each evaluated trace one run, due now, with the tests as they were", async () => {
  const sender = await makeSender(db, { judged: false });
  const [first, second] = [await makeTestCase(db, sender.agentId), await makeTestCase(db, sender.agentId)];
  const traceIds = [await evaluated(sender, [first, second]), await evaluated(sender, [first])];
  await updateTestCase(db, first.id, current => ({ ...current, name: "another", status: "disabled" }));
  const { runs, refused } = await evaluateAgain(db, sender.agentId, [...traceIds, ...traceIds]);
  assert.deepEqual(refused, []);
  assert.deepEqual(new Set(runs.map(run => run.traceId)), new Set(traceIds));
  const claimed = await claimAll();
  const plans = traceIds.map(traceId => {
    const { runId } = runs.find(run => run.traceId === traceId)!;
    return decodeDetail(claimed.find(run => run.id === runId)!.detail).plan;
  });
  assert.deepEqual(plans, [[first, second], [first]]);
});

test("a trace that no test has judged is evaluated with the tests as they are, if any is active", async () => {
  const sender = await makeSender(db, { judged: false });
  const silent = await evaluated(sender, []);
  const off = await makeTestCase(db, sender.agentId);
  const broken = await evaluated(sender, [off]);
  await db.pool.query("update runs set state = 'error' where trace_id = $1", [broken]);
  await updateTestCase(db, off.id, current => ({ ...current, status: "disabled" }));
  const { refused } = await evaluateAgain(db, sender.agentId, [silent, broken]);
  assert.deepEqual(
    refused.map(({ reason }) => reason),
    ["never_evaluated", "never_evaluated"],
  );
  const active = await makeTestCase(db, sender.agentId);
  const { runs } = await evaluateAgain(db, sender.agentId, [silent, broken]);
  const claimed = await claimAll();
  const plans = runs.map(({ runId }) => decodeDetail(claimed.find(({ id }) => id === runId)!.detail).plan);
  assert.deepEqual(plans, [[active], [active]]);
});

test("refuses other traces, each with its reason", async () => {
  const [sender, another] = [
    await makeSender(db, { judged: false }),
    await makeSender(db, { judged: false }),
  ];
  const [test, gone] = [await makeTestCase(db, sender.agentId), await makeTestCase(db, sender.agentId)];
  const done = await evaluated(sender, [test, gone]);
  const orphaned = await evaluated(sender, [gone]);
  await deleteTestCase(db, gone.id);
  const manual = await evaluated(sender, [test]);
  await db.pool.query("update traces set kind = 'test_run' where id = $1", [manual]);
  const pending = (await storeDueRun(db, sender)).traceId;
  const foreign = await evaluated(another, [await makeTestCase(db, another.agentId)]);
  const missing = randomUUID();
  const all = [done, orphaned, manual, pending, foreign, missing];
  const { runs, refused } = await evaluateAgain(db, sender.agentId, all);
  assert.deepEqual(
    runs.map(run => run.traceId),
    [done],
  );
  assert.deepEqual(
    new Map(refused.map(({ traceId, reason }) => [traceId, reason])),
    new Map([
      [orphaned, "tests_deleted"],
      [manual, "test_run"],
      [pending, "in_progress"],
      [foreign, "not_found"],
      [missing, "not_found"],
    ]),
  );
});

test("schedules nothing twice, even when asked twice at once", async () => {
  const sender = await makeSender(db, { judged: false });
  const test = await makeTestCase(db, sender.agentId);
  const traceIds: string[] = [];
  for (let at = 0; at < 12; at++) traceIds.push(await evaluated(sender, [test]));
  const both = await Promise.all([
    evaluateAgain(db, sender.agentId, traceIds),
    evaluateAgain(other, sender.agentId, [...traceIds].reverse()),
  ]);
  assert.equal(both.flatMap(({ runs }) => runs).length, 12);
  assert.deepEqual(
    both.flatMap(({ refused }) => refused.map(({ reason }) => reason)),
    Array(12).fill("in_progress"),
  );
});

const added = {
  "a span": (sender: Sender, externalId: string) =>
    new TraceWriter(db, limits).write(otlpWrite(sender, { externalId, spans: ["b"] })),
  "an input": (sender: Sender, externalId: string) =>
    storeRecords(db, questions(sender, externalId, "a", "Hello"), limits),
};

for (const [what, add] of Object.entries(added)) {
  test(`becomes the trace's own run, with the tests as they are, once a batch adds ${what} before it begins`, async () => {
    const sender = await makeSender(db, { judged: false });
    const test = await makeTestCase(db, sender.agentId);
    const externalId = newTraceId();
    const first = () => otlpWrite(sender, { externalId });
    const traceId = await evaluated(sender, [test], first());
    await evaluateAgain(db, sender.agentId, [traceId]);
    const pending = async () => {
      const { rows } = await db.pool.query(
        `select cause, detail, extract(epoch from due_at - now()) > 1 as waits from queue
          where trace_id = $1 and state = 'pending'`,
        [traceId],
      );
      return rows.map(({ cause, detail, waits }) => [cause, decodeDetail(detail).plan, waits]);
    };
    assert.deepEqual(await pending(), [["again", [test], false]]);
    await new TraceWriter(db, limits).write(first());
    assert.deepEqual(await pending(), [["again", [test], true]]);
    await add(sender, externalId);
    assert.deepEqual(await pending(), [["traffic", undefined, true]]);
  });
}
