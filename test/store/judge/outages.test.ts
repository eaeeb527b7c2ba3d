// Checks that were skipped while the judge was unavailable stay listed until a later run has judged them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, suite, test } from "node:test";
import type { Verdict } from "../../../src/model/run/run.ts";
import { claimRuns } from "../../../src/store/runs/claims.ts";
import { decodeDetail } from "../../../src/store/runs/detail.ts";
import { judgeAgain, readOutages } from "../../../src/store/runs/outages.ts";
import { findRun } from "../../../src/store/runs/read.ts";
import { updateTestCase } from "../../../src/store/test-cases.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import {
  limits,
  makeSender,
  makeTestCase,
  openTwice,
  otlpWrite,
  type Sender,
  storeDueRun,
} from "../traces/make-write.ts";

const { db, other, close } = await openTwice();
after(close);

const verdict: Verdict = {
  routing: "not_needed",
  verdict: "skipped",
  score: null,
  counts: { passed: 0, failed: 0, skipped: 1, missing_instrumentation: 0 },
  fullyEvaluated: true,
  results: [],
  tests: [],
};
const unmeasured = {
  durationMs: null,
  tokens: { input: null, output: null, reasoning: null, cached: null, total: null },
  usage: [],
};
const lease = randomUUID();
const writer = new TraceWriter(db, { ...limits, debounceMs: 0 });

async function claimAll(): Promise<void> {
  await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 10_000 });
}

let revision = 0;
const revisions = new Map<string, number>();

/** Each with another revision, a later run of a trace with a higher one: a revision is evaluated once. */
const complete = (outages: Record<string, boolean>, database = db) =>
  completeRuns(
    database,
    lease,
    Object.entries(outages).map(([id, outage]) => ({
      ...{ id, revision: revisions.get(id) ?? ++revision, verdict, outage },
      ...unmeasured,
    })),
  );

/** The agent's traces with checks that the judge could not answer, oldest first. */
async function withOutage(sender: Sender, count: number): Promise<{ traceId: string; runId: string }[]> {
  const stored: { traceId: string; runId: string }[] = [];
  for (let at = 0; at < count; at++) stored.push(await storeDueRun(db, sender));
  await claimAll();
  await complete(Object.fromEntries(stored.map(({ runId }) => [runId, true])));
  return stored;
}

/** Two runs of one trace, both claimed. */
async function twoRuns(sender: Sender): Promise<{ earlier: string; later: string }> {
  const externalId = randomUUID();
  const first = otlpWrite(sender, { externalId, spans: ["a"] });
  await writer.write(first);
  await claimAll();
  // Only now: ids follow the time at which they are created.
  const second = otlpWrite(sender, { externalId, spans: ["b"] });
  await writer.write(second);
  await claimAll();
  for (const { runId } of [first, second]) revisions.set(runId, ++revision);
  return { earlier: first.runId, later: second.runId };
}

const openOf = async (runId: string) => (await findRun(db, runId))!.outage;
const none = { traces: 0, scheduled: 0, oldest: null };

suite("traces with unjudged checks", () => {
  test("are closed by a later run of the same trace, and by no other", async () => {
    const sender = await makeSender(db);
    const { earlier, later } = await twoRuns(sender);
    const [beside] = await withOutage(sender, 1);
    await complete({ [earlier]: true });
    assert.deepEqual([await openOf(earlier), (await readOutages(db, sender.agentId)).traces], [true, 2]);
    await complete({ [later]: false });
    assert.deepEqual(
      [await openOf(earlier), await openOf(later), await openOf(beside!.runId)],
      [false, false, true],
    );
    assert.equal((await readOutages(db, sender.agentId)).traces, 1);
  });

  test("stay open through a later run for which the judge was unavailable too", async () => {
    const { earlier, later } = await twoRuns(await makeSender(db));
    await complete({ [earlier]: true });
    await complete({ [later]: true });
    assert.deepEqual([await openOf(earlier), await openOf(later)], [false, true]);
  });

  test("are not listed if a later run completed first", async () => {
    const sender = await makeSender(db);
    const { earlier, later } = await twoRuns(sender);
    await complete({ [later]: false });
    await complete({ [earlier]: true });
    assert.equal(await openOf(earlier), false);
    assert.deepEqual(await readOutages(db, sender.agentId), none);
  });

  test("are not listed if both runs complete together, in one statement or in two at once", async () => {
    const sender = await makeSender(db);
    const one = await twoRuns(sender);
    await complete({ [one.earlier]: true, [one.later]: false });
    assert.equal(await openOf(one.earlier), false);
    for (let round = 0; round < 10; round++) {
      const two = await twoRuns(sender);
      await Promise.all([complete({ [two.earlier]: true }), complete({ [two.later]: false }, other)]);
    }
    assert.deepEqual(await readOutages(db, sender.agentId), none);
  });
});

suite("evaluating again", () => {
  test("schedules nothing twice, even when requested twice at once or while the run is being evaluated", async () => {
    const sender = await makeSender(db);
    await withOutage(sender, 20);
    const both = await Promise.all([judgeAgain(db, sender.agentId), judgeAgain(other, sender.agentId)]);
    assert.equal(both.flatMap(scheduled => scheduled.runs).length, 20);
    const { traces, scheduled } = await readOutages(db, sender.agentId);
    assert.deepEqual([traces, scheduled], [20, 20]);
    await claimAll();
    assert.deepEqual(await judgeAgain(db, sender.agentId), { runs: [], left: 0 });
  });

  test("uses the tests as they were when the judge was unavailable, whatever happened to them since", async () => {
    const sender = await makeSender(db, { judged: false });
    const test = await makeTestCase(db, sender.agentId);
    const { runId, traceId } = await storeDueRun(db, sender);
    await claimAll();
    await completeRuns(db, lease, [
      { id: runId, revision: 1, verdict, outage: true, plan: [test], ...unmeasured },
    ]);
    await updateTestCase(db, test.id, current => ({ ...current, name: "another", status: "disabled" }));
    const { runs } = await judgeAgain(db, sender.agentId);
    assert.deepEqual(
      runs.map(run => run.traceId),
      [traceId],
    );
    const { runs: claimed } = await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 10_000 });
    const again = claimed.find(run => run.id === runs[0]!.runId)!;
    assert.deepEqual(decodeDetail(again.detail), { results: [], tests: [], plan: [test] });
    assert.equal(again.judgeLeftMs, null);
  });

  test("takes the oldest thousand at once, and says how many are left", async () => {
    const sender = await makeSender(db);
    await db.pool.query(
      `with made as (
        insert into traces (id, agent_id, external_id, kind, path, batch_spans, batch_bytes, derived_revision, name,
          failed, span_count)
        select gen_random_uuid(), $1, number::text, 'live', 'otlp', 1, 1, 1, 'x', false, 1 from generate_series(1, 1003) number
        returning id
      )
      insert into runs (id, trace_id, agent_id, kind, state, due_at, outage_open)
      select gen_random_uuid(), id, $1, 'passive', 'completed', now(), true from made`,
      [sender.agentId],
    );
    const first = await judgeAgain(db, sender.agentId);
    assert.deepEqual([first.runs.length, first.left], [1_000, 3]);
    const second = await judgeAgain(db, sender.agentId);
    assert.deepEqual([second.runs.length, second.left], [3, 0]);
    const [older, newer] = [first, second].map(({ runs }) => runs.map(({ traceId }) => traceId).sort());
    assert.ok(older!.at(-1)! < newer![0]!);
  });
});
