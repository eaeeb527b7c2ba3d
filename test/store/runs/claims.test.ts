// A run is evaluated by one worker at a time, taken over when that worker dies, and saved once.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, suite, test } from "node:test";
import { reasonText } from "../../../src/model/run/reason-text.ts";
import type { Verdict } from "../../../src/model/run/run.ts";
import type { Database } from "../../../src/store/db.ts";
import {
  attemptsMax,
  claimRuns,
  extendLeases,
  failRun,
  giveBackRuns,
  nextDueMs,
} from "../../../src/store/runs/claims.ts";
import { decodeDetail } from "../../../src/store/runs/detail.ts";
import { findRun } from "../../../src/store/runs/read.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import { deleteAllTraces } from "../../support/delete-all-traces.ts";
import { onCitus, openFresh } from "../../support/postgres.ts";
import { makeSender, openTwice, storeDueRun } from "../traces/make-write.ts";

const { url, db, close } = await openTwice();
after(close);
const sender = await makeSender(db);
beforeEach(() => deleteAllTraces(db));

const leaseMs = 30_000;

/** A worker as the database sees it. */
function makeWorker(database: Database = db) {
  const lease = randomUUID();
  return {
    lease,
    claim: async (runsMax = 10) =>
      (await claimRuns(database, { lease, leaseMs, runsMax })).runs.map(({ id, attempts }) => ({
        id,
        attempts,
      })),
    complete: (...ids: string[]) =>
      completeRuns(
        database,
        lease,
        ids.map(id => ({ id, revision: 1, verdict, ...unmeasured })),
      ),
    giveBack: (...runIds: string[]) => giveBackRuns(database, { lease, runIds }),
    extend: (...runIds: string[]) => extendLeases(database, { lease, leaseMs, runIds }),
    fail: (runId: string) => failRun(database, { lease, runId, error: { code: "internal_error" } }),
  };
}

const unmeasured = {
  outage: false,
  durationMs: null,
  tokens: { input: null, output: null, reasoning: null, cached: null, total: null },
  usage: [],
};
const counts = { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 };
const verdict: Verdict = {
  routing: "not_needed",
  verdict: "passed",
  score: 1,
  counts,
  fullyEvaluated: true,
  results: [
    {
      testId: randomUUID(),
      name: "Answers \u0000 \ud800",
      outcome: "passed",
      score: 1,
      reason: "Passed.",
      reasonCode: "checks_counted",
      counts,
      checks: [],
      fullyEvaluated: true,
      test: {} as never,
      testVersion: 1,
    },
  ],
  tests: [{ testId: randomUUID(), name: "Answers", applied: true, why: "always_run" }],
};

/** From now on, the worker of each of these runs counts as dead. */
async function expire(...runIds: string[]): Promise<void> {
  await db.pool.query(
    "update queue set lease_until = now() - interval '1 second' where id = any ($1::uuid[])",
    [runIds],
  );
}

async function dueRuns(count: number): Promise<string[]> {
  const stored = await Promise.all(Array.from({ length: count }, () => storeDueRun(db, sender)));
  return stored.map(({ runId }) => runId);
}

/** 20,000 runs of this state; running ones are another worker's. */
async function addRuns(database: Database, state: string): Promise<void> {
  const { runId } = await storeDueRun(database, await makeSender(database));
  const [into, more] =
    state === "running"
      ? ["queue (lease, lease_until, ", "gen_random_uuid(), now() + interval '1 hour', "]
      : ["runs (kind, ", "kind, "];
  await database.pool.query(
    `insert into ${into}id, trace_id, agent_id, state, due_at, created_at, detail)
      select ${more}lpad(to_hex(n), 32, '0')::uuid, trace_id, agent_id, $2, due_at, created_at,
        (select string_agg(sha512(format('%s %s', n, part)::bytea), '') from generate_series(1, 10) part)
      from queue, generate_series(1, 20000) n where id = $1`,
    [runId, state],
  );
  await database.pool.query("delete from queue where id = $1", [runId]);
}

/** Entries of the indexes of runs and the queue that the database's only connection has read so far. */
async function entriesRead(database: Database): Promise<number> {
  await database.pool.query("select pg_stat_force_next_flush()");
  const { rows } = await database.pool.query<{ entries: number }>(
    `select sum(pg_stat_get_tuples_returned(indexrelid))::int as entries
      from pg_index where indrelid in ('runs'::regclass, 'queue'::regclass)`,
  );
  return rows[0]!.entries;
}

const dueRun = async () => (await dueRuns(1))[0]!;

suite("claiming", () => {
  test("gives a run to one worker only, however many ask at once", async () => {
    const runIds = await dueRuns(60);
    const pools = Array.from({ length: 4 }, () => openFresh(url));
    const claimed = await Promise.all(
      pools.map(async pool => {
        const worker = makeWorker(pool);
        const mine: string[] = [];
        for (;;) {
          const runs = await worker.claim(3);
          if (runs.length === 0) return mine;
          mine.push(...runs.map(run => run.id));
        }
      }),
    );
    await Promise.all(pools.map(pool => pool.close()));
    assert.equal(claimed.flat().length, 60);
    assert.deepEqual(new Set(claimed.flat()), new Set(runIds));
  });

  test("takes due runs first, and leaves others", async () => {
    const [late, early, future] = (await dueRuns(3)) as [string, string, string];
    await db.pool.query(
      `update queue set due_at = now() + case when id = $1 then interval '-1 s' when id = $2 then interval '-2 s'
        else interval '1 h' end`,
      [late, early],
    );
    const worker = makeWorker();
    assert.deepEqual(
      (await worker.claim(1)).map(run => run.id),
      [early],
    );
    assert.deepEqual(
      (await worker.claim(9)).map(run => run.id),
      [late],
    );
    assert.deepEqual(await worker.claim(9), []);
    assert.equal((await findRun(db, future))!.state, "pending");
  });

  for (const state of ["completed", "running"]) {
    const what = `and completing read none of 20,000 ${state} runs, whatever the planner expects`;
    test(what, { skip: onCitus }, async t => {
      const filled = await openTwice();
      const one = openFresh(filled.url, 1);
      t.after(async () => {
        await one.close();
        await filled.close();
      });
      // As after a long outage: nothing has been analyzed since the runs came.
      for (const table of ["runs", "queue"])
        await one.pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
      await addRuns(one, state);
      const waiting = await makeSender(one);
      const worker = makeWorker(one);
      for (const mode of ["force_custom_plan", "force_generic_plan"]) {
        await one.pool.query(`set plan_cache_mode = ${mode}`);
        const { runId } = await storeDueRun(one, waiting);
        const before = await entriesRead(one);
        assert.equal((await worker.claim(32)).length, 1);
        const between = await entriesRead(one);
        assert.equal((await worker.complete(runId)).size, 1);
        const read = [between - before, (await entriesRead(one)) - between];
        assert.ok(Math.max(...read) < 50, `index entries read by claiming and completing, ${mode}: ${read}`);
      }
    });
  }

  test("says how long until the next run is due", async () => {
    assert.equal(await nextDueMs(db), undefined);
    const runId = await dueRun();
    await db.pool.query("update queue set due_at = now() + interval '1 hour' where id = $1", [runId]);
    const wait = (await nextDueMs(db))!;
    assert.ok(wait > 3_590_000 && wait <= 3_600_000);
    await db.pool.query("update queue set due_at = now() where id = $1", [runId]);
    const [worker, other] = [makeWorker(), makeWorker()];
    await worker.claim();
    const lease = (await nextDueMs(db))!;
    assert.ok(lease > 0 && lease <= leaseMs);
    await worker.giveBack(runId);
    assert.ok((await nextDueMs(db))! <= 0);
    await other.claim();
    await other.complete(runId);
    assert.equal(await nextDueMs(db), undefined);
  });
});

suite("a lease", () => {
  test("that is valid keeps the run from every other worker", async () => {
    const runId = await dueRun();
    const worker = makeWorker();
    assert.deepEqual(await worker.claim(), [{ id: runId, attempts: 1 }]);
    assert.deepEqual(await makeWorker().claim(), []);
  });

  test("that expired lets another worker take over the run, and the first one's result is not saved", async () => {
    const runId = await dueRun();
    const [first, second] = [makeWorker(), makeWorker()];
    await first.claim();
    await expire(runId);
    assert.deepEqual(await second.claim(), [{ id: runId, attempts: 2 }]);
    assert.deepEqual(await first.complete(runId), new Set());
    const taken = (await findRun(db, runId))!;
    assert.deepEqual([taken.state, taken.verdict, taken.detail], ["running", null, null]);
    assert.deepEqual(await second.complete(runId), new Set([runId]));
    assert.deepEqual(await second.complete(runId), new Set());
  });

  test("that was extended in time has not expired", async () => {
    const runId = await dueRun();
    const worker = makeWorker();
    await worker.claim();
    await expire(runId);
    await worker.extend(runId);
    assert.deepEqual(await makeWorker().claim(), []);
  });

  test("cannot be extended, failed or given back by a worker that lost it", async () => {
    const runId = await dueRun();
    const [first, second] = [makeWorker(), makeWorker()];
    await first.claim();
    await expire(runId);
    await second.claim();
    const before = await findRun(db, runId);
    await first.extend(runId);
    await first.fail(runId);
    await first.giveBack(runId);
    assert.deepEqual(await findRun(db, runId), before);
    assert.deepEqual(await makeWorker().claim(), []);
  });
});

suite("a run whose worker died", () => {
  test("is claimed alone, before fresh ones", async () => {
    const runIds = await dueRuns(3);
    await makeWorker().claim();
    await expire(...runIds);
    await dueRun();
    const worker = makeWorker();
    const claims = [await worker.claim(), await worker.claim(), await worker.claim(), await worker.claim()];
    assert.deepEqual(
      claims.map(runs => runs.map(({ attempts }) => attempts)),
      [[2], [2], [2], [1]],
    );
  });

  test("becomes an error after three deaths, and blocks no other run", async () => {
    const runId = await dueRun();
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      assert.deepEqual(await makeWorker().claim(), [{ id: runId, attempts: attempt }]);
      await expire(runId);
    }
    const fresh = await dueRun();
    const worker = makeWorker();
    const claim = await claimRuns(db, { lease: worker.lease, leaseMs, runsMax: 10 });
    assert.deepEqual(
      claim.runs.map(run => run.id),
      [fresh],
    );
    assert.deepEqual(
      claim.ended.map(run => run.id),
      [runId],
    );
    const ended = (await findRun(db, runId))!;
    assert.deepEqual([ended.state, ended.attempts], ["error", attemptsMax]);
    assert.match(ended.error!, /crashed 3 times/);
    assert.ok(ended.finishedAt);
    assert.deepEqual(await worker.complete(runId), new Set());
    assert.equal(await nextDueMs(db).then(ms => ms! > 0), true);
  });
});

suite("giving back", () => {
  test("lets any worker start the run immediately, as if it had never started", async () => {
    const runId = await dueRun();
    for (let round = 0; round <= attemptsMax; round++) {
      const worker = makeWorker();
      assert.deepEqual(await worker.claim(), [{ id: runId, attempts: 1 }]);
      await worker.giveBack(runId);
    }
    assert.deepEqual(await makeWorker().claim(), [{ id: runId, attempts: 1 }]);
  });
});

suite("saving a run", () => {
  test("stores its verdict with every result, once, and the evaluated revision of the trace", async () => {
    const runId = await dueRun();
    const worker = makeWorker();
    await worker.claim();
    await worker.complete(runId);
    const {
      state,
      verdict: word,
      score,
      passed,
      revision,
      test_ids,
      routing,
      detail,
    } = (await findRun(db, runId))!;
    assert.deepEqual(
      { state, word, score, passed, revision, test_ids, routing },
      {
        state: "completed",
        word: "passed",
        score: 1,
        passed: 1,
        revision: 1,
        test_ids: [verdict.results[0]!.testId],
        routing: "not_needed",
      },
    );
    const { counted: _, ...kept } = decodeDetail(detail);
    assert.deepEqual(kept, { results: verdict.results, tests: verdict.tests });
  });

  test("stores each run's own results when several are saved together", async () => {
    const runIds = await dueRuns(5);
    const lease = randomUUID();
    await claimRuns(db, { lease, leaseMs, runsMax: 5 });
    const completed = runIds.map((id, at) => {
      const tests = [{ ...verdict.tests[0]!, name: `${id} ${"x".repeat(at * 100)}` }];
      return { id, revision: at + 1, verdict: { ...verdict, results: [], tests }, ...unmeasured };
    });
    assert.deepEqual(await completeRuns(db, lease, completed), new Set(runIds));
    for (const { id, revision, verdict: one } of completed) {
      const run = (await findRun(db, id))!;
      assert.equal(run.revision, revision);
      assert.deepEqual(run.test_ids, null);
      assert.deepEqual(decodeDetail(run.detail).tests, one.tests);
    }
  });

  test("stores nothing if the trace was deleted in the meantime, and still stores the others", async () => {
    const deleted = await storeDueRun(db, sender);
    const kept = await dueRun();
    const worker = makeWorker();
    await worker.claim();
    await deleteTrace(db, deleted.traceId);
    assert.deepEqual(await worker.complete(deleted.runId, kept), new Set([kept]));
    assert.equal(await findRun(db, deleted.runId), undefined);
  });

  test("stores the reason if an error ended the evaluation", async () => {
    const runId = await dueRun();
    const worker = makeWorker();
    await worker.claim();
    await worker.fail(runId);
    const { state, error } = (await findRun(db, runId))!;
    assert.deepEqual([state, error], ["error", reasonText({ code: "internal_error" })]);
    assert.deepEqual(await makeWorker().claim(), []);
  });
});
