// A run that waits for the judge lives in the database alone: no worker holds it, and waiting costs no attempt.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, suite, test } from "node:test";
import type { Verdict } from "../../../src/model/run/run.ts";
import type { TestCase } from "../../../src/model/test-case/document.ts";
import { attemptsMax, claimRuns, failRun, giveBackRuns, nextDueMs } from "../../../src/store/runs/claims.ts";
import { decodeDetail } from "../../../src/store/runs/detail.ts";
import { findRun } from "../../../src/store/runs/read.ts";
import {
  countWaiting,
  type PartlyJudged,
  retryWaitingSoon,
  savePartial,
} from "../../../src/store/runs/waiting.ts";
import { listForAgent } from "../../../src/store/test-cases.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import { deleteAllTraces } from "../../support/delete-all-traces.ts";
import { limits, makeSender, openTwice, otlpWrite, storeDueRun } from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);
const sender = await makeSender(db);
beforeEach(() => deleteAllTraces(db));

const leaseMs = 30_000;
const plan: TestCase[] = await listForAgent(db, sender.agentId);
const verdict: Verdict = {
  routing: "not_needed",
  verdict: "passed",
  score: 1,
  counts: { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 },
  fullyEvaluated: true,
  results: [],
  tests: [{ testId: plan[0]!.id, name: "Answers \u0000 \ud800", applied: true, why: "always_run" }],
};
const unmeasured = {
  durationMs: null,
  tokens: { input: null, output: null, reasoning: null, cached: null, total: null },
  usage: [],
};
const wait = { nextTryMs: 5_000, reason: "It answered 503.", tried: true };

const partly = (id: string, more: Partial<PartlyJudged> = {}): PartlyJudged => ({
  id,
  verdict,
  plan,
  leftMs: 900_000,
  ...more,
});

/** A worker as the database sees it. */
function makeWorker() {
  const lease = randomUUID();
  return {
    lease,
    claim: async (runsMax = 100, resumedMax = runsMax) =>
      (await claimRuns(db, { lease, leaseMs, runsMax, resumedMax })).runs,
    putAway: (id: string, more: Partial<PartlyJudged> = {}) =>
      savePartial(db, lease, [partly(id, { wait, ...more })]),
    complete: (id: string) =>
      completeRuns(db, lease, [{ id, revision: 1, verdict, outage: false, ...unmeasured }]),
  };
}

async function dueRuns(count: number): Promise<string[]> {
  const stored = await Promise.all(Array.from({ length: count }, () => storeDueRun(db, sender)));
  return stored.map(({ runId }) => runId);
}

/** This many waiting runs, each to be resumed after `nextTryMs`. */
async function waitingRuns(count: number, nextTryMs = 0): Promise<string[]> {
  const runIds = await dueRuns(count);
  const worker = makeWorker();
  await worker.claim(1_000);
  const putAway = runIds.map(id => partly(id, { wait: { ...wait, nextTryMs } }));
  assert.equal((await savePartial(db, worker.lease, putAway)).size, count);
  return runIds;
}

const expire = (runId: string) =>
  db.pool.query("update queue set lease_until = now() - interval '1 second' where id = $1", [runId]);

const rowOf = async (runId: string) =>
  (await db.pool.query("select lease, lease_until, judge_tries from queue where id = $1", [runId])).rows[0];

suite("the partial results of a run", () => {
  test("are kept while its worker holds the run", async () => {
    const [runId] = (await dueRuns(1)) as [string];
    const worker = makeWorker();
    await worker.claim();
    assert.deepEqual(await savePartial(db, worker.lease, [partly(runId)]), new Set([runId]));
    const run = (await findRun(db, runId))!;
    assert.deepEqual(
      [run.state, run.attempts, run.nextTryAt, run.waitingReason, run.verdict, run.test_ids],
      ["running", 1, null, null, null, null],
    );
    const detail = { results: [], tests: verdict.tests, plan, conventions: [] };
    assert.deepEqual(decodeDetail(run.detail), detail);
    assert.deepEqual(await makeWorker().claim(), []);
    assert.deepEqual(await worker.complete(runId), new Set([runId]));
    const { counted, ...kept } = decodeDetail((await findRun(db, runId))!.detail);
    assert.deepEqual(kept, { results: [], tests: verdict.tests });
    assert.deepEqual(counted, { durationMs: null, input: null, output: null, usage: "" });
  });

  test("are each run's own when several are saved together", async () => {
    const runIds = await dueRuns(3);
    const worker = makeWorker();
    await worker.claim();
    const named = (at: number) => [{ ...verdict.tests[0]!, name: "x".repeat(100 * at) }];
    await savePartial(
      db,
      worker.lease,
      runIds.map((id, at) => partly(id, { verdict: { results: [], tests: named(at) } })),
    );
    for (const [at, id] of runIds.entries()) {
      assert.deepEqual(decodeDetail((await findRun(db, id))!.detail).tests, named(at));
    }
  });

  test("are not saved for a worker that lost the run, nor for a deleted trace", async () => {
    const [deleted, [taken]] = [await storeDueRun(db, sender), (await dueRuns(1)) as [string]];
    const [first, second] = [makeWorker(), makeWorker()];
    await first.claim();
    await deleteTrace(db, deleted.traceId);
    await expire(taken);
    await second.claim();
    const kept = await savePartial(db, first.lease, [
      partly(taken, { wait }),
      partly(deleted.runId, { wait }),
    ]);
    assert.deepEqual(kept, new Set());
    const run = (await findRun(db, taken))!;
    assert.deepEqual([run.detail, run.nextTryAt], [null, null]);
  });

  test("let another worker resume the run after its worker dies, with the rest of its deadline", async () => {
    const [runId] = (await dueRuns(1)) as [string];
    const worker = makeWorker();
    await worker.claim();
    await savePartial(db, worker.lease, [partly(runId)]);
    await expire(runId);
    const [run] = await makeWorker().claim();
    assert.deepEqual([run!.id, run!.attempts, run!.judgeTries], [runId, 2, 0]);
    assert.deepEqual(decodeDetail(run!.detail).plan, plan);
    assert.ok(run!.judgeLeftMs! > 800_000 && run!.judgeLeftMs! <= 900_000);
  });

  test("are dropped when the run ends as an error", async () => {
    const runIds = (await dueRuns(2)) as [string, string];
    const worker = makeWorker();
    await worker.claim();
    await savePartial(
      db,
      worker.lease,
      runIds.map(id => partly(id)),
    );
    await failRun(db, { lease: worker.lease, runId: runIds[0], error: { code: "internal_error" } });
    for (let death = 1; death < attemptsMax; death++) {
      await expire(runIds[1]);
      await makeWorker().claim();
    }
    await expire(runIds[1]);
    await makeWorker().claim();
    for (const id of runIds) {
      const { state, detail } = (await findRun(db, id))!;
      assert.deepEqual([state, detail], ["error", null]);
    }
  });
});

suite("a run that waits", () => {
  test("has a next try, a deadline and a reason, is held by no worker, and counts no attempt", async () => {
    const [runId] = (await dueRuns(1)) as [string];
    const worker = makeWorker();
    await worker.claim();
    await worker.putAway(runId);
    const run = (await findRun(db, runId))!;
    assert.deepEqual([run.state, run.attempts, run.waitingReason], ["running", 0, "It answered 503."]);
    assert.equal(run.judgeDeadlineAt!.getTime() - run.nextTryAt!.getTime(), 895_000);
    assert.deepEqual(await rowOf(runId), { lease: null, lease_until: null, judge_tries: 1 });
    assert.deepEqual([await makeWorker().claim(), await worker.complete(runId)], [[], new Set()]);
    assert.equal(await countWaiting(db), 1);
  });

  test("keeps its first deadline, and counts only failed tries", async () => {
    const [runId] = await waitingRuns(1);
    const { judgeDeadlineAt } = (await findRun(db, runId!))!;
    for (const [tried, tries] of [
      [true, 2],
      [false, 2],
      [true, 3],
    ] as const) {
      const worker = makeWorker();
      const [run] = await worker.claim();
      assert.equal(run!.id, runId);
      await worker.putAway(runId!, { leftMs: 1, wait: { ...wait, nextTryMs: 0, tried } });
      assert.equal((await rowOf(runId!)).judge_tries, tries);
    }
    assert.deepEqual((await findRun(db, runId!))!.judgeDeadlineAt, judgeDeadlineAt);
  });

  test("is claimed with others once it is due, and not as one whose worker died", async () => {
    const later = await waitingRuns(2, 60_000);
    const waiting = await waitingRuns(10);
    const runs = await makeWorker().claim();
    assert.deepEqual(new Set(runs.map(run => run.id)), new Set(waiting));
    for (const run of runs) {
      assert.deepEqual([run.attempts, run.judgeTries, decodeDetail(run.detail).plan], [1, 1, plan]);
      const { nextTryAt, waitingReason, startedAt, createdAt } = (await findRun(db, run.id))!;
      assert.deepEqual([nextTryAt, waitingReason, startedAt! >= createdAt], [null, null, true]);
    }
    assert.equal(await countWaiting(db), later.length);
  });

  test("is claimed by only one of many workers that look at once", async () => {
    const waiting = await waitingRuns(12);
    const claims = await Promise.all(Array.from({ length: 6 }, () => makeWorker().claim(4)));
    const more = await makeWorker().claim();
    const ids = [...claims.flat(), ...more].map(run => run.id);
    assert.deepEqual([ids.length, new Set(ids)], [waiting.length, new Set(waiting)]);
  });

  test("resumes soon after its project's judge changed, unlike waiting runs of other projects and claimed ones", async () => {
    const other = await makeSender(db);
    const stored = await storeDueRun(db, other);
    const [mine, soon, held] = (await dueRuns(3)) as [string, string, string];
    const worker = makeWorker();
    await worker.claim();
    for (const id of [mine, stored.runId])
      await worker.putAway(id, { wait: { ...wait, nextTryMs: 600_000 } });
    await worker.putAway(soon, { wait: { ...wait, nextTryMs: 500 } });
    const before = (await findRun(db, soon))!.nextTryAt;
    const { rows } = await db.pool.query("select project_id as id from agents where id = $1", [
      sender.agentId,
    ]);
    await retryWaitingSoon(db, rows[0].id, 2_000);
    const leftMs = async (id: string) => (await findRun(db, id))!.nextTryAt!.getTime() - Date.now();
    assert.ok((await leftMs(mine)) <= 2_000);
    assert.ok((await leftMs(stored.runId)) > 60_000);
    assert.deepEqual((await findRun(db, soon))!.nextTryAt, before);
    assert.equal((await findRun(db, held))!.nextTryAt, null);
    await retryWaitingSoon(db, null, 1_000);
    assert.ok((await leftMs(stored.runId)) <= 1_000, "after a restart");
  });

  test("uses no more attempts, however often it waits", async () => {
    const [runId] = await waitingRuns(1);
    for (let round = 0; round < 3 * attemptsMax; round++) {
      const worker = makeWorker();
      const [run] = await worker.claim();
      assert.equal(run!.attempts, 1);
      await worker.putAway(runId!, { wait: { ...wait, nextTryMs: 0 } });
    }
    assert.equal((await findRun(db, runId!))!.state, "running");
  });

  test("shares a claim with fresh runs, so neither starves the other", async () => {
    const waiting = new Set(await waitingRuns(20));
    const fresh = await dueRuns(20);
    const worker = makeWorker();
    const claims: [number, number][] = [];
    for (;;) {
      const runs = await worker.claim(10);
      if (runs.length === 0) break;
      const resumed = runs.filter(run => waiting.has(run.id)).length;
      claims.push([resumed, runs.length - resumed]);
    }
    assert.deepEqual(claims.slice(0, 4), Array(4).fill([5, 5]));
    assert.equal(
      claims.flat().reduce((sum, count) => sum + count, 0),
      waiting.size + fresh.length,
    );
  });

  test("is not resumed by a worker that may not ask any more, which still takes fresh runs", async () => {
    await waitingRuns(3);
    const [fresh] = await dueRuns(1);
    const worker = makeWorker();
    assert.deepEqual(
      (await worker.claim(10, 0)).map(run => run.id),
      [fresh],
    );
    assert.equal((await nextDueMs(db, { inHand: [fresh!], resumes: false })) ?? null, null);
    assert.ok((await nextDueMs(db, { inHand: [fresh!] }))! <= 0);
    assert.equal((await worker.claim(10, 2)).length, 2);
  });

  test("is not claimed again by the worker that is about to release it", async () => {
    const [runId] = await waitingRuns(1);
    const { runs } = await claimRuns(db, { lease: randomUUID(), leaseMs, runsMax: 10, inHand: [runId!] });
    assert.deepEqual(runs, []);
    assert.equal(await nextDueMs(db, { inHand: [runId!] }), undefined);
  });

  test("says how long until it resumes", async () => {
    await waitingRuns(1, 60_000);
    const ms = (await nextDueMs(db))!;
    assert.ok(ms > 50_000 && ms <= 60_000);
  });

  test("is claimed immediately after being given back by a worker that resumed it, with its plan", async () => {
    const [runId] = await waitingRuns(1);
    const worker = makeWorker();
    await worker.claim();
    await giveBackRuns(db, { lease: worker.lease, runIds: [runId!] });
    const [run] = await makeWorker().claim();
    assert.deepEqual([run!.id, run!.attempts, decodeDetail(run!.detail).plan], [runId, 1, plan]);
  });
});

suite("a batch that arrives while the run of its trace waits", () => {
  const writer = new TraceWriter(db, { ...limits, debounceMs: 0 });
  const runsOf = async (traceId: string): Promise<string[]> =>
    (
      await db.pool.query(
        `select id, state from runs where trace_id = $1 union all select id, state from queue where trace_id = $1
          order by id`,
        [traceId],
      )
    ).rows.map(run => run.state);

  test("schedules one more run if it adds a span, and none if it repeats one", async () => {
    const first = otlpWrite(sender, { externalId: "merged", spans: ["a"] });
    const { traceId } = await writer.write(first);
    const worker = makeWorker();
    await worker.claim();
    await worker.putAway(first.runId);
    const { evaluation } = await writer.write(otlpWrite(sender, { externalId: "merged", spans: ["a"] }));
    assert.deepEqual([evaluation, await runsOf(traceId)], ["none", ["running"]]);
    await writer.write(otlpWrite(sender, { externalId: "merged", spans: ["b"] }));
    await writer.write(otlpWrite(sender, { externalId: "merged", spans: ["c"] }));
    assert.deepEqual(await runsOf(traceId), ["running", "pending"]);
    assert.ok((await findRun(db, first.runId))!.nextTryAt);
  });
});
