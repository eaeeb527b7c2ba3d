// Results wait for others that are about to end, so that they are stored in one transaction.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import pino from "pino";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import { openEach } from "../../src/load.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { claimRuns } from "../../src/store/runs/claims.ts";
import { ResultWriter } from "../../src/worker/result-writer.ts";
import { makeSender, openTwice, storeDueRun } from "../store/traces/make-write.ts";
import { eventually } from "../support/eventually.ts";

const { db, close } = await openTwice();
after(close);
const lease = "00000000-0000-4000-8000-000000000001";

it("stores what has ended together once nothing more is about to end", async () => {
  const sender = await makeSender(db);
  for (let count = 0; count < 3; count++) await storeDueRun(db, sender);
  const { runs } = await claimRuns(db, { lease, leaseMs: 30_000, runsMax: 3 });
  const byTrace = new Map(runs.map(run => [run.traceId, run]));
  let isComing = true;
  const writer = new ResultWriter({
    db,
    events: new EventPublisher(db),
    log: pino({ level: "silent" }),
    lease,
    batchMax: 4,
    coming: () => isComing,
    gatherMs: 600_000,
    stopped: new AbortController().signal,
    letGo: () => {},
    wake: () => {},
  });
  for await (const outcome of openEach(db, [...byTrace.keys()], new HeapSemaphore())) {
    assert.ok("loaded" in outcome);
    const counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
    const verdict = {
      ...{
        routing: "not_needed" as const,
        verdict: "skipped" as const,
        score: null,
        counts,
        results: [],
        tests: [],
      },
      ...{ conventions: [], conventionRules: [] },
    };
    const run = byTrace.get(outcome.traceId)!;
    writer.store({ run, loaded: outcome.loaded, verdict, outage: false, plan: [] });
    for (let turn = 0; turn < 20; turn++) await nextTurn();
  }
  const ends = async () =>
    (await db.pool.query("select finished_at from runs where finished_at is not null")).rows.map(row =>
      row.finished_at.getTime(),
    );
  assert.deepEqual(await ends(), []);
  isComing = false;
  writer.hurry();
  await eventually(async () => assert.equal((await ends()).length, 3));
  assert.equal(new Set(await ends()).size, 1);
});
