// Results wait for others that are about to end, so that they are stored in one transaction.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import pino from "pino";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import { openEach } from "../../src/load.ts";
import type { EvaluatedRun } from "../../src/run.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { claimRuns } from "../../src/store/runs/claims.ts";
import { ResultWriter } from "../../src/worker/result-writer.ts";
import { makeSender, openTwice, storeDueRun } from "../store/traces/make-write.ts";
import { deleteAllTraces } from "../support/delete-all-traces.ts";
import { eventually } from "../support/eventually.ts";

const { db, close } = await openTwice();
after(close);
const lease = "00000000-0000-4000-8000-000000000001";

const counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
const verdict = {
  ...{
    routing: "not_needed" as const,
    verdict: "skipped" as const,
    fullyEvaluated: true,
    score: null,
    counts,
    results: [],
    tests: [],
  },
  ...{ conventions: [], conventionRules: [] },
};

/** Three claimed runs with their traces, and a writer that waits for others while `isComing`. */
async function threeEvaluated() {
  await deleteAllTraces(db);
  const sender = await makeSender(db);
  for (let count = 0; count < 3; count++) await storeDueRun(db, sender);
  const { runs } = await claimRuns(db, { lease, leaseMs: 30_000, runsMax: 3 });
  const byTrace = new Map(runs.map(run => [run.traceId, run]));
  const state = { isComing: true };
  const failed: string[] = [];
  const writer = new ResultWriter({
    db,
    events: new EventPublisher(db),
    log: pino({ level: "silent" }),
    lease,
    batchMax: 4,
    coming: () => state.isComing,
    gatherMs: 600_000,
    stopped: new AbortController().signal,
    letGo: () => {},
    fail: async ({ id }) => void failed.push(id),
    wake: () => {},
  });
  const evaluated: EvaluatedRun[] = [];
  for await (const outcome of openEach(db, [...byTrace.keys()], new HeapSemaphore())) {
    assert.ok("loaded" in outcome);
    const run = byTrace.get(outcome.traceId)!;
    evaluated.push({ run, loaded: outcome.loaded, verdict, outage: false, plan: [] });
  }
  const ended = async () => {
    const { rows } = await db.pool.query("select id, finished_at from runs where finished_at is not null");
    return rows as { id: string; finished_at: Date }[];
  };
  return { writer, evaluated, ended, failed, state };
}

test("stores what has ended together once nothing more is about to end", async () => {
  const { writer, evaluated, ended, state } = await threeEvaluated();
  for (const one of evaluated) {
    writer.store(one);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  }
  assert.deepEqual(await ended(), []);
  state.isComing = false;
  writer.hurry();
  await eventually(async () => assert.equal((await ended()).length, 3));
  assert.equal(new Set((await ended()).map(run => run.finished_at.getTime())).size, 1);
});

test("fails a run whose results cannot be stored, and stores those beside it", async () => {
  const { writer, evaluated, ended, failed, state } = await threeEvaluated();
  const [first, second, third] = evaluated as [EvaluatedRun, EvaluatedRun, EvaluatedRun];
  const revision = 2 ** 31; // larger than its column
  for (const one of [first, { ...second, loaded: { ...second.loaded, revision } }, third]) writer.store(one);
  state.isComing = false;
  writer.hurry();
  await eventually(() => assert.deepEqual(failed, [second.run.id]));
  await eventually(async () =>
    assert.deepEqual(new Set((await ended()).map(({ id }) => id)), new Set([first.run.id, third.run.id])),
  );
});
