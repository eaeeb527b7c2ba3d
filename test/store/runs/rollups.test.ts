// Hourly counts equal a recount of the runs' results, whichever worker completes the runs, in whatever order.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, suite, test } from "node:test";
import fc from "fast-check";
import { bucketOf } from "../../../src/model/run/histogram.ts";
import type { Outcome, Tally } from "../../../src/model/run/outcome.ts";
import type { Routing, RunCause, Verdict } from "../../../src/model/run/run.ts";
import { usageOf } from "../../../src/reading/derived/usage.ts";
import { deleteAgent } from "../../../src/store/accounts/agents.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import type { Database } from "../../../src/store/db.ts";
import { newest } from "../../../src/store/listing.ts";
import { newId } from "../../../src/store/new-id.ts";
import { claimRuns, giveBackRuns } from "../../../src/store/runs/claims.ts";
import { decodeDetail } from "../../../src/store/runs/detail.ts";
import { listAgentHours, listTestStrips } from "../../../src/store/runs/insights.ts";
import { listModelPoints } from "../../../src/store/runs/model-hours.ts";
import { deleteTestCase } from "../../../src/store/test-cases.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import { begun, waiting } from "../locks.ts";
import { makeSender, makeTestCase, openTwice, type Sender, storeDueRun } from "../traces/make-write.ts";

const { db, other, close } = await openTwice();
after(close);

const outcomes: Outcome[] = ["passed", "failed", "skipped", "missing_instrumentation"];
const none = () => ({ passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 });

type Judgement = {
  /** Of the first tests, the rest not having been applied; each check bears its test's outcome. */
  outcomes: Outcome[];
  verdict: Outcome | null;
  /** Of the run and of its results. */
  fully?: boolean;
  routing: Routing;
  durationMs: number | null;
  tokens: number | null;
};

const judgement: fc.Arbitrary<Judgement> = fc.record({
  outcomes: fc.array(fc.constantFrom(...outcomes), { maxLength: 3 }),
  verdict: fc.constantFrom(...outcomes, null),
  fully: fc.boolean(),
  routing: fc.constantFrom("ok", "not_needed", "no_user_input", "unavailable"),
  durationMs: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true })),
  tokens: fc.option(fc.nat(10_000)),
});

type Judged = { sender: Sender; tests: string[] };

async function makeJudged(): Promise<Judged> {
  const sender = await makeSender(db, { judged: false });
  const tests: string[] = [];
  for (let at = 0; at < 3; at++) tests.push((await makeTestCase(db, sender.agentId)).id);
  return { sender, tests };
}

function verdictOf({ tests }: Judged, { outcomes, verdict, fully = true, routing }: Judgement): Verdict {
  const results = outcomes.map((outcome, at) => ({
    testId: tests[at]!,
    name: "Answers",
    outcome,
    score: null,
    reason: "",
    reasonCode: "checks_counted" as const,
    counts: none(),
    checks: [{ id: `nul \0 ${at}`, outcome } as never],
    fullyEvaluated: fully,
    test: {} as never,
    testVersion: outcome === "failed" ? 2 : 1,
  }));
  return { routing, verdict, score: null, counts: none(), fullyEvaluated: fully, results, tests: [] };
}

/** Claims a due run in this database and completes it this way, on one of two workers' connections. */
async function complete(database: Database, judged: Judged, one: Judgement, lease: string): Promise<void> {
  const [run] = (await claimRuns(database, { lease, leaseMs: 60_000, runsMax: 1 })).runs;
  await completeRuns(database, lease, [completed(run!.id, judged, one)]);
}

const failedOnce: Judgement = {
  outcomes: ["failed"],
  verdict: "failed",
  routing: "ok",
  durationMs: null,
  tokens: null,
};

/** Schedules another run of a trace, and claims it; its id. */
async function claimAnother(traceId: string, { sender }: Judged, lease: string): Promise<string> {
  const id = newId();
  await db.pool.query("insert into queue (id, trace_id, agent_id, due_at) values ($1, $2, $3, now())", [
    id,
    traceId,
    sender.agentId,
  ]);
  await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 });
  return id;
}

let revision = 0;

/** Of another revision each time: a revision is evaluated once. */
function completed(id: string, judged: Judged, one: Judgement) {
  const tokens = { input: one.tokens, output: one.tokens, reasoning: null, cached: null, total: null };
  const verdict = verdictOf(judged, one);
  return {
    id,
    revision: ++revision,
    verdict,
    outage: false,
    durationMs: one.durationMs,
    tokens,
    usage: [],
  };
}

/** The counts of the tables, all hours together, next to the same counted from the stored runs. */
async function bothCounts({ sender, tests }: Judged) {
  const { rows: kept } = await db.pool.query<Tally & { key: string }>(
    `select key, sum(passed)::int as passed, sum(failed)::int as failed, sum(skipped)::int as skipped,
      sum(missing_instrumentation)::int as missing_instrumentation, sum(not_fully_evaluated)::int as not_fully_evaluated
    from (
      select agent_id::text as key, ${outcomes}, not_fully_evaluated from agent_hours where agent_id = $1
      union all select test_id::text, ${outcomes}, not_fully_evaluated from test_hours where test_id = any ($2)
      union all select test_id || check_id, ${outcomes}, 0 from check_hours where test_id = any ($2)
      union all select test_id || ' version ' || version, ${outcomes}, not_fully_evaluated
        from test_versions where test_id = any ($2)
    ) as every group by key`,
    [sender.agentId, tests],
  );
  const { rows: runs } = await db.pool.query<{ verdict: Outcome | null; fully: boolean; detail: Buffer }>(
    "select verdict, fully_evaluated as fully, detail from runs where agent_id = $1 and state = 'completed'",
    [sender.agentId],
  );
  const recounted = new Map<string, Tally>();
  const add = (key: string, outcome: keyof Tally | null) => {
    if (!recounted.has(key)) recounted.set(key, { ...none(), not_fully_evaluated: 0 });
    if (outcome) recounted.get(key)![outcome]++;
  };
  for (const { verdict, fully, detail } of runs) {
    add(sender.agentId, fully ? verdict : "not_fully_evaluated");
    for (const result of decodeDetail(detail).results) {
      const counted = result.fullyEvaluated ? result.outcome : "not_fully_evaluated";
      add(result.testId, counted);
      add(`${result.testId} version ${result.testVersion}`, counted);
      for (const { id, outcome } of result.checks) add(result.testId + id.replace("\0", "\uFFFD"), outcome);
    }
  }
  return { kept: new Map(kept.map(({ key, ...counts }) => [key, counts])), recounted };
}

const whenever = { from: new Date(0), to: new Date(Date.now() + 1e10) };

suite("hourly counts", () => {
  test("equal a recount of the runs' results after any sequence", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(judgement, { minLength: 1, maxLength: 8 }), fc.nat(), async (all, seed) => {
        const judged = await makeJudged();
        for (const _ of all) await storeDueRun(db, judged.sender);
        // Some hours apart, as if the runs were created at other times.
        await (await placeOf(db, judged.sender.agentId)).pool.query(
          `update queue set created_at = now() - (hashtext(id::text || $2) & 3) * interval '1 hour'
            where agent_id = $1`,
          [judged.sender.agentId, String(seed)],
        );
        const lease = randomUUID();
        const { runs } = await claimRuns(db, { lease, leaseMs: 60_000, runsMax: all.length });
        const items = runs.map((run, at) => completed(run.id, judged, all[at]!));
        const cut = seed % (items.length + 1);
        await completeRuns(db, lease, items.slice(0, cut));
        await completeRuns(db, lease, items); // those before the cut again: they are kept and counted once
        const { kept, recounted } = await bothCounts(judged);
        assert.deepEqual(kept, recounted);
        const hours = await listAgentHours(db, judged.sender.agentId, whenever);
        const sum = (read: (hour: (typeof hours)[number]) => number) =>
          hours.reduce((total, hour) => total + read(hour), 0);
        const tokens = all.reduce((total, one) => total + (one.tokens ?? 0), 0);
        assert.equal(
          sum(hour => hour.runs),
          all.length,
        );
        assert.equal(
          sum(hour => hour.inputTokens),
          tokens,
        );
        assert.equal(
          sum(hour => hour.outputTokens),
          tokens,
        );
        assert.equal(
          sum(hour => hour.routingUnavailable),
          all.filter(one => one.routing === "unavailable").length,
        );
        const buckets = all.flatMap(({ durationMs }) => (durationMs === null ? [] : [bucketOf(durationMs)]));
        for (const bucket of new Set([0, ...buckets])) {
          assert.equal(
            sum(hour => hour.durations[bucket] ?? 0),
            buckets.filter(one => one === bucket).length,
          );
        }
      }),
      { numRuns: 25 },
    );
  });

  test("lose nothing when two workers complete runs of the same agents at the same time", async () => {
    const agents = [await makeJudged(), await makeJudged()];
    const one: Judgement = {
      outcomes: ["passed", "failed", "skipped"],
      verdict: "failed",
      routing: "unavailable",
      durationMs: 100,
      tokens: 5,
    };
    for (const { sender } of agents) {
      await Promise.all(Array.from({ length: 40 }, () => storeDueRun(db, sender)));
    }
    const tests = new Map(agents.map(judged => [judged.sender.agentId, judged]));
    await Promise.all(
      [db, other, db, other].map(async database => {
        const lease = randomUUID();
        for (;;) {
          const { runs } = await claimRuns(database, { lease, leaseMs: 60_000, runsMax: 5 });
          if (runs.length === 0) return;
          const items = runs.map(run => completed(run.id, tests.get(run.agentId)!, one));
          assert.equal((await completeRuns(database, lease, items)).size, items.length);
        }
      }),
    );
    for (const judged of agents) {
      const { kept, recounted } = await bothCounts(judged);
      assert.deepEqual(kept, recounted);
      assert.equal(kept.get(judged.sender.agentId)!.failed, 40);
    }
  });

  test("count a trace once, by its latest evaluation, in the hour in which it arrived", async () => {
    const judged = await makeJudged();
    const { traceId } = await storeDueRun(db, judged.sender);
    const hour = new Date(Math.floor(Date.now() / 3_600_000 - 3) * 3_600_000);
    const receivedAt = new Date(hour.getTime() + 60_000);
    await db.pool.query("update traces set received_at = $2 where id = $1", [traceId, receivedAt]);
    const result = (verdict: Outcome | null, routing: Routing): Judgement => {
      return { outcomes: [], verdict, routing, durationMs: null, tokens: null };
    };
    const again = async () => {
      const id = newId();
      await db.pool.query("insert into queue (id, trace_id, agent_id, due_at) values ($1, $2, $3, now())", [
        id,
        traceId,
        judged.sender.agentId,
      ]);
      return id;
    };
    const counted = async () => {
      const hours = await listAgentHours(db, judged.sender.agentId, whenever);
      return hours.map(({ at, runs, passed, failed, skipped, routingUnavailable }) => ({
        at,
        counts: [runs, passed, failed, skipped, routingUnavailable],
      }));
    };
    await complete(db, judged, result("failed", "unavailable"), randomUUID());
    assert.deepEqual(await counted(), [{ at: hour, counts: [1, 0, 1, 0, 1] }]);
    await again();
    await complete(db, judged, result("passed", "ok"), randomUUID());
    assert.deepEqual(await counted(), [{ at: hour, counts: [1, 1, 0, 0, 0] }]);
    // Several at once, the later one first: the latest counts.
    const runs = [];
    for (let run = 0; run < 2; run++) {
      const id = await again();
      const lease = randomUUID();
      await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 });
      runs.push({ id, lease });
    }
    const [earlier, later] = runs;
    await completeRuns(db, later!.lease, [completed(later!.id, judged, result("skipped", "ok"))]);
    await completeRuns(db, earlier!.lease, [completed(earlier!.id, judged, result("failed", "ok"))]);
    assert.deepEqual(await counted(), [{ at: hour, counts: [1, 0, 0, 1, 0] }]);
    // Two runs of the trace in one batch.
    const lease = randomUUID();
    const ids = [];
    for (let run = 0; run < 2; run++) {
      ids.push(await again());
      await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 });
    }
    const verdicts: (Outcome | null)[] = ["failed", null];
    await completeRuns(
      db,
      lease,
      ids.map((id, at) => completed(id, judged, result(verdicts[at]!, "ok"))),
    );
    assert.deepEqual(await counted(), [{ at: hour, counts: [1, 0, 0, 0, 0] }]);
  });

  test("count tokens, models and durations of a trace once, as its latest evaluation had them", async () => {
    const judged = await makeJudged();
    const { agentId } = judged.sender;
    const { traceId } = await storeDueRun(db, judged.sender);
    const evaluated = (model: string, tokens: number | null, durationMs: number | null) => (id: string) => ({
      ...completed(id, judged, { outcomes: [], verdict: "passed", routing: "ok", durationMs, tokens }),
      usage: usageOf([
        {
          spanId: "a",
          provider: "openai",
          model,
          promptAbove: 0,
          calls: 1,
          tokens: tokens === null ? null : { input: tokens, cached: 1, cacheWrite: 2, output: tokens },
        },
      ]),
    });
    const run = async (how: ReturnType<typeof evaluated>, cause: RunCause | null) => {
      if (cause) {
        await db.pool.query(
          "insert into queue (id, trace_id, agent_id, due_at, cause) values ($1, $2, $3, now(), $4)",
          [newId(), traceId, agentId, cause],
        );
      }
      const lease = randomUUID();
      const [claimed] = (await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 })).runs;
      return { complete: () => completeRuns(db, lease, [how(claimed!.id)]), id: claimed!.id };
    };
    const counted = async () => {
      const hours = await listAgentHours(db, agentId, whenever);
      assert.equal(hours.length, 1);
      const { inputTokens, outputTokens, durations } = hours[0]!;
      const models = await listModelPoints(db, agentId, { ...whenever, interval: "hour" }, 10);
      return {
        tokens: [inputTokens, outputTokens],
        durations: durations.flatMap((number, bucket) => (number === 0 ? [] : [[bucket, number]])),
        models: models.map(({ model, calls, unmeasured, inputTokens, cachedTokens, cacheWriteTokens }) => [
          ...[model, calls, unmeasured],
          ...[inputTokens, cachedTokens, cacheWriteTokens],
        ]),
      };
    };
    const small = { tokens: [5, 5], durations: [[bucketOf(10), 1]], models: [["small", 1, 0, 5, 1, 2]] };
    const large = { tokens: [70, 70], durations: [[bucketOf(900), 1]], models: [["large", 1, 0, 70, 1, 2]] };
    await (await run(evaluated("small", 5, 10), null)).complete();
    assert.deepEqual(await counted(), small);
    // A later batch had more spans.
    await (await run(evaluated("large", 70, 900), "traffic")).complete();
    assert.deepEqual(await counted(), large);
    await (await run(evaluated("large", 70, 900), "again")).complete();
    assert.deepEqual(await counted(), large);
    // What it was read by has changed, so that less is known of it.
    await (await run(evaluated("large", null, null), "again")).complete();
    assert.deepEqual(await counted(), { tokens: [0, 0], durations: [], models: [["large", 1, 1, 0, 0, 0]] });
    // One that completes after a later one does not count.
    const earlier = await run(evaluated("large", 70, 900), "traffic");
    await (await run(evaluated("small", 5, 10), "again")).complete();
    await earlier.complete();
    assert.deepEqual(await counted(), small);
    await (await run(evaluated("large", 70, 900), "again")).complete();
    assert.deepEqual(await counted(), large);
    // Deleting a trace leaves what it counted.
    const open = await run(evaluated("small", 5, 10), "again");
    await deleteTrace(db, traceId);
    assert.equal((await open.complete()).size, 0);
    assert.deepEqual(await counted(), large);
  });

  test("count a trace once when two of its runs complete at the same time", async () => {
    const judged = await makeJudged();
    for (let round = 0; round < 10; round++) {
      const { traceId, runId } = await storeDueRun(db, judged.sender);
      const [lease, otherLease] = [randomUUID(), randomUUID()];
      await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 });
      const otherId = await claimAnother(traceId, judged, otherLease);
      await Promise.all([
        completeRuns(db, lease, [completed(runId, judged, failedOnce)]),
        completeRuns(other, otherLease, [completed(otherId, judged, failedOnce)]),
      ]);
    }
    const hours = await listAgentHours(db, judged.sender.agentId, whenever);
    assert.deepEqual(
      [hours.reduce((sum, { runs }) => sum + runs, 0), hours.reduce((sum, { failed }) => sum + failed, 0)],
      [10, 10],
    );
  });

  test("count a trace once when another run of it is scheduled, and completes, while the first one commits", async () => {
    const judged = await makeJudged();
    const { traceId, runId } = await storeDueRun(db, judged.sender);
    const [lease, otherLease] = [randomUUID(), randomUUID()];
    await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 });
    const place = await placeOf(db, judged.sender.agentId);
    const holder = await begun(place);
    await holder.query("select from test_cases where id = $1 for update", [judged.tests[0]]);
    const first = completeRuns(db, lease, [completed(runId, judged, failedOnce)]);
    await waiting(place, "");
    const otherId = await claimAnother(traceId, judged, otherLease);
    const second = completeRuns(other, otherLease, [completed(otherId, judged, failedOnce)]);
    await waiting(place, "", 2);
    await holder.commit();
    assert.deepEqual([await first, await second], [new Set([runId]), new Set([otherId])]);
    const hours = await listAgentHours(db, judged.sender.agentId, whenever);
    assert.deepEqual(
      hours.map(({ runs, failed }) => [runs, failed]),
      [[1, 1]],
    );
  });

  test("exclude results that were not kept", async () => {
    const judged = await makeJudged();
    const one: Judgement = {
      outcomes: ["failed"],
      verdict: "failed",
      routing: "ok",
      durationMs: 5,
      tokens: 1,
    };
    await storeDueRun(db, judged.sender);
    const lease = randomUUID();
    const [run] = (await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 })).runs;
    await giveBackRuns(db, { lease, runIds: [run!.id] });
    await claimRuns(db, { lease: randomUUID(), leaseMs: 60_000, runsMax: 1 });
    await completeRuns(db, lease, [completed(run!.id, judged, one)]);
    assert.deepEqual(await listAgentHours(db, judged.sender.agentId, whenever), []);
  });

  test("exclude a test that was deleted during its evaluation, and include the others", async () => {
    const judged = await makeJudged();
    await storeDueRun(db, judged.sender);
    await deleteTestCase(db, judged.tests[0]!);
    const one: Judgement = {
      outcomes: ["passed", "failed"],
      verdict: "failed",
      routing: "ok",
      durationMs: 5,
      tokens: 1,
    };
    await complete(db, judged, one, randomUUID());
    const strips = await listTestStrips(db, judged.sender.agentId, new Date(0), {
      before: newest,
      rowsMax: 9,
    });
    assert.deepEqual(
      strips.map(strip => [strip.id, strip.lastOutcome]),
      [
        [judged.tests[2], null],
        [judged.tests[1], "failed"],
      ],
    );
  });

  test("are deleted with their agent and their test", async () => {
    const judged = await makeJudged();
    await storeDueRun(db, judged.sender);
    const one: Judgement = {
      outcomes: ["passed"],
      verdict: null,
      routing: "ok",
      durationMs: 5,
      tokens: null,
    };
    await complete(other, judged, one, randomUUID());
    assert.equal((await bothCounts(judged)).kept.size, 4);
    await deleteTestCase(db, judged.tests[0]!);
    assert.equal((await bothCounts(judged)).kept.size, 1);
    await deleteAgent(db, judged.sender.agentId);
    assert.equal((await bothCounts(judged)).kept.size, 0);
  });
});
