// A revision of a trace is evaluated once, whatever comes between the claim of its run, the reading of the trace and the end;
// a batch that no run has read is always evaluated.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, beforeEach, suite, test } from "node:test";
import type { Verdict } from "../../../src/model/run/run.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import type { Database } from "../../../src/store/db.ts";
import { idAt } from "../../../src/store/listing.ts";
import { evaluateAgain } from "../../../src/store/runs/again.ts";
import { claimRuns, giveBackRuns } from "../../../src/store/runs/claims.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import { deleteAllTraces } from "../../support/delete-all-traces.ts";
import { begun } from "../locks.ts";
import { limits, makeSender, makeTestCase, openTwice, otlpWrite } from "../traces/make-write.ts";

const { db, other, close } = await openTwice();
after(close);
const sender = await makeSender(db, { judged: false });
const watched = await makeTestCase(db, sender.agentId);
beforeEach(async () => {
  await deleteAllTraces(db);
  await db.pool.query("delete from agent_hours; delete from test_hours");
});

const writer = new TraceWriter(db, { ...limits, debounceMs: 0 });

/** Stores a batch with one span, which schedules a run that is due now. */
async function send(externalId: string, span: string): Promise<{ traceId: string; revision: number }> {
  const outcome = await writer.write(otlpWrite(sender, { externalId, spans: [span] }));
  return outcome as { traceId: string; revision: number };
}

const counts = { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 };
const verdict: Verdict = {
  ...{ routing: "not_needed", verdict: "passed", score: 1, counts, tests: [] },
  fullyEvaluated: true,
  results: [
    {
      ...{
        testId: watched.id,
        name: "Answers",
        outcome: "passed",
        score: 1,
        reason: "Passed.",
        reasonCode: "checks_counted",
        counts,
        checks: [],
      },
      ...{ fullyEvaluated: true, test: {} as never, testVersion: 1 },
    },
  ],
};
const unmeasured = {
  outage: false,
  durationMs: null,
  tokens: { input: null, output: null, reasoning: null, cached: null, total: null },
  usage: [],
};

/** A worker that has claimed a run; `complete` as if it had read the trace at this revision. */
async function claimed(database: Database = db) {
  const lease = randomUUID();
  const { runs } = await claimRuns(database, { lease, leaseMs: 30_000, runsMax: 1 });
  const { id } = runs[0]!;
  return {
    id,
    lease,
    complete: (revision: number) => completeRuns(database, lease, [{ id, revision, verdict, ...unmeasured }]),
  };
}

/** The states of a trace's runs with the revisions that they judged, oldest first. */
async function runsOf(traceId: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ run: string }>(
    `select id, concat_ws(' ', state, revision) as run from runs where trace_id = $1
      union all select id, state from queue where trace_id = $1 order by id`,
    [traceId],
  );
  return rows.map(({ run }) => run);
}

/** How many evaluations are counted: of the agent's traces, and of the test. */
async function counted(): Promise<number[]> {
  const { rows } = await db.pool.query<{ traces: number; tests: number }>(
    `select (select coalesce(sum(runs), 0)::int from agent_hours) as traces,
      (select coalesce(sum(passed), 0)::int from test_hours) as tests`,
  );
  return [rows[0]!.traces, rows[0]!.tests];
}

suite("a batch that comes after the claim of a run", () => {
  test("causes no further run if that run has read it", async () => {
    const { traceId } = await send("a", "1");
    const run = await claimed();
    const { revision } = await send("a", "2");
    assert.deepEqual(await runsOf(traceId), ["running", "pending"]);
    assert.deepEqual(await run.complete(revision), new Set([run.id]));
    assert.deepEqual(await runsOf(traceId), ["completed 2"]);
    assert.deepEqual((await claimRuns(db, { lease: randomUUID(), leaseMs: 1, runsMax: 1 })).runs, []);
  });

  test("is evaluated by a further run if that run has not read it", async () => {
    const { traceId, revision } = await send("a", "1");
    const run = await claimed();
    await send("a", "2");
    await run.complete(revision);
    assert.deepEqual(await runsOf(traceId), ["completed 1", "pending"]);
    await (await claimed()).complete(2);
    assert.deepEqual(await runsOf(traceId), ["completed 1", "completed 2"]);
  });

  test("keeps its further run while a later batch is being stored, which then decides", async () => {
    for (const isStored of [true, false]) {
      const { traceId } = await send(`stored ${isStored}`, "1");
      const run = await claimed();
      const { revision } = await send(`stored ${isStored}`, "2");
      const batch = await begun(await placeOf(other, sender.agentId));
      await batch.query("select from traces where id = $1 for update", [traceId]);
      await batch.query("update traces set revision = revision + 1 where id = $1", [traceId]);
      await run.complete(revision);
      await (isStored ? batch.commit() : batch.rollback());
      const further = await claimed();
      const kept = await further.complete(isStored ? 3 : 2);
      assert.equal(kept.has(further.id), isStored);
      assert.deepEqual(await runsOf(traceId), isStored ? ["completed 2", "completed 3"] : ["completed 2"]);
    }
  });

  test("is evaluated once if the further run is claimed while the first one has not ended", async () => {
    const { traceId } = await send("a", "1");
    const first = await claimed();
    const { revision } = await send("a", "2");
    const further = await claimed();
    await first.complete(revision);
    assert.deepEqual(await runsOf(traceId), ["completed 2", "running"]);
    assert.deepEqual(await further.complete(revision), new Set());
    assert.deepEqual(await runsOf(traceId), ["completed 2"]);
    assert.deepEqual(await counted(), [1, 1]);
  });
});

suite("a run that is scheduled by a process whose clock is behind", () => {
  test("is later than those before, and so is one that was asked for", async () => {
    const { traceId } = await send("a", "1");
    const ahead = idAt(Date.now() + 540_000);
    await db.pool.query("update queue set id = $1 where trace_id = $2", [ahead, traceId]);
    await (await claimed()).complete(1);
    await send("a", "2");
    await (await claimed()).complete(2);
    assert.deepEqual(await runsOf(traceId), ["completed 1", "completed 2"]);
    const { runs } = await evaluateAgain(db, sender.agentId, [traceId]);
    const asked = await claimed();
    assert.equal(runs[0]!.runId, asked.id);
    await asked.complete(2);
    const { rows } = await db.pool.query<{ id: string }>("select id from runs order by id desc limit 1");
    assert.deepEqual(rows, [{ id: asked.id }]);
  });
});

suite("a run that was taken over", () => {
  test("leaves it to the pending run to evaluate a batch that came after a later run", async () => {
    const { traceId } = await send("a", "1");
    const dead = await claimed();
    await send("a", "2");
    await (await claimed()).complete(2);
    const { revision } = await send("a", "3");
    assert.deepEqual(await dead.complete(revision), new Set());
    assert.deepEqual(await runsOf(traceId), ["completed 2", "pending"]);
    await (await claimed()).complete(revision);
    assert.deepEqual(await runsOf(traceId), ["completed 2", "completed 3"]);
  });

  test("stores nothing if a later one has evaluated the same revision meanwhile", async () => {
    const { traceId } = await send("a", "1");
    const dead = await claimed();
    const { revision } = await send("a", "2");
    const further = await claimed();
    await further.complete(revision);
    await giveBackRuns(db, { lease: dead.lease, runIds: [dead.id] });
    const again = await claimed();
    assert.equal(again.id, dead.id);
    assert.deepEqual(await again.complete(revision), new Set());
    assert.deepEqual(await runsOf(traceId), ["completed 2"]);
  });
});

suite("two runs that have read the same revision", () => {
  async function twoRuns(externalId: string) {
    const { traceId } = await send(externalId, "1");
    const first = await claimed(db);
    await send(externalId, "2");
    return { traceId, first, second: await claimed(other) };
  }

  test("leave one when two workers complete them at the same time", async () => {
    for (let round = 1; round <= 20; round++) {
      const { traceId, first, second } = await twoRuns(`round ${round}`);
      const kept = await Promise.all([first.complete(2), second.complete(2)]);
      assert.equal(kept[0]!.size + kept[1]!.size, 1);
      assert.deepEqual(await runsOf(traceId), ["completed 2"]);
      assert.deepEqual(await counted(), [round, round]);
    }
  });

  test("leave the earlier one when one worker completes them together", async () => {
    const { traceId, first, second } = await twoRuns("a");
    await db.pool.query("update queue set lease = $1", [first.lease]);
    const items = [second, first].map(({ id }) => ({ id, revision: 2, verdict, ...unmeasured }));
    assert.deepEqual(await completeRuns(db, first.lease, items), new Set([first.id]));
    assert.deepEqual(await runsOf(traceId), ["completed 2"]);
    assert.deepEqual(await counted(), [1, 1]);
  });
});

suite("an evaluation that was asked for", () => {
  test("is made of a revision that was evaluated, and takes nothing from a batch that came after it began", async () => {
    const { traceId } = await send("a", "1");
    await (await claimed()).complete(1);
    await evaluateAgain(db, sender.agentId, [traceId]);
    const asked = await claimed();
    const { revision } = await send("a", "2");
    assert.deepEqual(await asked.complete(revision), new Set([asked.id]));
    assert.deepEqual(await runsOf(traceId), ["completed 1", "completed 2", "pending"]);
    const further = await claimed();
    assert.deepEqual(await further.complete(revision), new Set([further.id]));
    await evaluateAgain(db, sender.agentId, [traceId]);
    const once = await claimed();
    assert.deepEqual(await once.complete(revision), new Set([once.id]));
    assert.equal((await runsOf(traceId)).length, 4);
  });
});
