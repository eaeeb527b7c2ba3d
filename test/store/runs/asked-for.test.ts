// A run that was asked for counts by test and check in place of the trace's run before it, also in the list of a test's runs.

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, suite, test } from "node:test";
import fc from "fast-check";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { RunCause } from "../../../src/model/run/run.ts";
import { idAt, newest, timeOfId } from "../../../src/store/listing.ts";
import { failRun } from "../../../src/store/runs/claims.ts";
import { completeRuns } from "../../../src/store/runs/complete.ts";
import { encodeRun } from "../../../src/store/runs/completed-run.ts";
import { listTestPoints, listTestStrips, listTestVersions } from "../../../src/store/runs/insights.ts";
import { listRunsOfTest } from "../../../src/store/runs/read.ts";
import { deleteTestCase } from "../../../src/store/test-cases.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { makeSender, makeTestCase, openTwice, type Sender, storeDueRun } from "../traces/make-write.ts";

const { db, other, close } = await openTwice();
after(close);

const hourMs = 3_600_000;
const firstHour = Math.floor(Date.now() / hourMs - 12) * hourMs;
const outcomes: Outcome[] = ["passed", "failed", "skipped", "missing_instrumentation"];
const worst: Outcome[] = ["failed", "missing_instrumentation", "passed", "skipped"];
const whenever = { from: new Date(0), to: new Date(Date.now() + 1e10), interval: "hour" as const };

type Agent = { sender: Sender; tests: string[] };

async function makeAgent(): Promise<Agent> {
  const sender = await makeSender(db, { judged: false });
  const tests: string[] = [];
  for (let at = 0; at < 2; at++) tests.push((await makeTestCase(db, sender.agentId)).id);
  return { sender, tests };
}

/** A trace without a run. */
async function makeTrace({ sender }: Agent): Promise<string> {
  const { traceId } = await storeDueRun(db, sender);
  await db.pool.query("delete from queue where trace_id = $1", [traceId]);
  return traceId;
}

type Open = { id: string; lease: string; traceId: string; cause: RunCause; at: number };

/** A run under evaluation that was created so many minutes after the first hour. */
async function begin({ sender }: Agent, traceId: string, cause: RunCause, minutes: number): Promise<Open> {
  const at = firstHour + minutes * 60_000;
  const id = idAt(at).slice(0, -12) + randomBytes(6).toString("hex");
  const lease = randomUUID();
  await db.pool.query(
    `insert into queue (id, trace_id, agent_id, state, due_at, created_at, lease, lease_until, cause)
      values ($1, $2, $3, 'running', now(), $4, $5, now() + interval '1 day', $6)`,
    [id, traceId, sender.agentId, new Date(at), lease, cause],
  );
  return { id, lease, traceId, cause, at };
}

/** A later run of a trace has read a later revision. */
const revisionOf = (id: string) => 1 + (timeOfId(id) - firstHour) / 60_000;

/** Of the tests in their order; null: no result. Each has a check with its outcome, and the version. */
function judged({ tests }: Agent, id: string, ofTests: (Outcome | null)[], testVersion = 1) {
  const counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
  const results = ofTests.flatMap((outcome, at) =>
    outcome === null
      ? []
      : [
          {
            ...{ testId: tests[at]!, name: "Answers", outcome, score: null, reason: "", counts, testVersion },
            reasonCode: "checks_counted" as const,
            checks: [{ id: "reply", outcome } as never],
            fullyEvaluated: true,
            test: {} as never,
          },
        ],
  );
  return encodeRun({
    ...{ id, revision: revisionOf(id), outage: false, durationMs: null, usage: [] },
    verdict: {
      routing: "ok",
      verdict: worst.find(one => ofTests.includes(one)) ?? null,
      score: null,
      counts,
      fullyEvaluated: true,
      results,
      tests: [],
    },
    tokens: { input: null, output: null, reasoning: null, cached: null, total: null } as never,
  });
}

/** Evaluates the trace. */
async function run(
  agent: Agent,
  traceId: string,
  cause: RunCause,
  minutes: number,
  ofTests: (Outcome | null)[],
) {
  const { id, lease } = await begin(agent, traceId, cause, minutes);
  assert.equal((await completeRuns(db, lease, [judged(agent, id, ofTests)])).size, 1);
  return id;
}

/** What each hour counts for the first test: the hour's number and the four counts. */
async function hoursOf({ sender, tests }: Agent, at = 0): Promise<number[][]> {
  const points = await listTestPoints(db, { agentId: sender.agentId, testId: tests[at] }, whenever, 100);
  return points.map(point => [
    (point.at.getTime() - firstHour) / hourMs,
    ...outcomes.map(name => point[name]),
  ]);
}

async function listed({ sender, tests }: Agent, at: number, outcome?: Outcome): Promise<string[]> {
  const ids: string[] = [];
  for (let before: string | null = newest; before !== null; ) {
    const test = { agentId: sender.agentId, testId: tests[at]!, outcome };
    const page: Awaited<ReturnType<typeof listRunsOfTest>> = await listRunsOfTest(db, test, {
      before,
      rowsMax: 9,
    });
    ids.push(...page.rows.map(({ id }) => id));
    before = page.reach;
  }
  return ids;
}

/** The counts of all tables, but those of zero, which must not differ from no row. */
async function kept({ tests }: Agent): Promise<Map<string, number>> {
  const { rows } = await db.pool.query<{ key: string } & Record<Outcome, number>>(
    `select test_id || ' ' || extract(epoch from hour)::bigint as key, ${outcomes.join()} from test_hours
        where test_id = any ($1)
      union all select test_id || ' ' || extract(epoch from hour)::bigint || ' ' || check_id,
          ${outcomes.map(name => `sum(${name})::int`).join()}
        from check_hours where test_id = any ($1) group by test_id, hour, check_id
      union all select test_id || ' version ' || version, ${outcomes.join()} from test_versions where test_id = any ($1)`,
    [tests],
  );
  const pairs = rows.flatMap(row => outcomes.map(name => [`${row.key} ${name}`, row[name]] as const));
  return new Map(pairs.filter(([, count]) => count !== 0).toSorted());
}

type Scripted = {
  trace: number;
  cause: RunCause;
  outcomes: (Outcome | null)[];
  version: number;
  fails: boolean;
  place: number;
};

const scripted: fc.Arbitrary<Scripted> = fc.record({
  trace: fc.nat(1),
  cause: fc.constantFrom<RunCause>("traffic", "again", "again"),
  outcomes: fc.array(fc.option(fc.constantFrom(...outcomes)), { minLength: 2, maxLength: 2 }),
  version: fc.integer({ min: 1, max: 2 }),
  fails: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  place: fc.nat(),
});

suite("a run that was asked for", () => {
  test("counts instead of the one before it, whichever completes, in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(scripted, { minLength: 1, maxLength: 8 }),
        fc.nat(2),
        async (script, together) => {
          const agent = await makeAgent();
          const traceIds = [await makeTrace(agent), await makeTrace(agent)];
          const open: (Scripted & Open)[] = [];
          for (const [at, one] of script.entries())
            open.push({ ...one, ...(await begin(agent, traceIds[one.trace]!, one.cause, at * 25)) });
          const inOrder = open.toSorted((one, two) => one.place - two.place);
          for (const { id, lease } of inOrder.filter(({ fails }) => fails))
            await failRun(db, { lease, runId: id, error: { code: "internal_error" } });
          const rest = inOrder.filter(({ fails }) => !fails);
          while (rest.length > 0) {
            const some = rest.splice(0, together + 1);
            const lease = some[0]!.lease;
            await db.pool.query("update queue set lease = $1 where id = any ($2)", [
              lease,
              some.map(({ id }) => id),
            ]);
            await completeRuns(
              db,
              lease,
              some.map(one => judged(agent, one.id, one.outcomes, one.version)),
            );
          }
          const recounted = new Map<string, number>();
          const add = (key: string) => recounted.set(key, (recounted.get(key) ?? 0) + 1);
          const counted = open.filter(one => {
            const next = open.find(({ trace, fails, id }) => trace === one.trace && !fails && id > one.id);
            return !one.fails && next?.cause !== "again";
          });
          for (const { at, outcomes, version } of counted) {
            for (const [place, outcome] of outcomes.entries()) {
              const testId = agent.tests[place]!;
              const hour = `${testId} ${Math.floor(at / hourMs) * 3600}`;
              if (!outcome) continue;
              for (const key of [hour, `${hour} reply`, `${testId} version ${version}`])
                add(`${key} ${outcome}`);
            }
          }
          assert.deepEqual(await kept(agent), new Map([...recounted].toSorted()));
          for (const [place] of agent.tests.entries()) {
            for (const outcome of [undefined, ...outcomes]) {
              const own = counted.filter(
                one => one.outcomes[place] && (!outcome || one.outcomes[place] === outcome),
              );
              assert.deepEqual(await listed(agent, place, outcome), own.map(({ id }) => id).reverse());
            }
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("takes the last run's results back where they counted, and counts in its own hour", async () => {
    const agent = await makeAgent();
    const traceId = await makeTrace(agent);
    await run(agent, traceId, "traffic", 0, ["failed", "passed"]);
    assert.deepEqual(await hoursOf(agent), [[0, 0, 1, 0, 0]]);
    await run(agent, traceId, "again", 130, ["passed", null]);
    assert.deepEqual(await hoursOf(agent), [[2, 1, 0, 0, 0]]);
    assert.deepEqual(await hoursOf(agent, 1), []);
    // Another in its place, then a run of a batch that came late, which counts beside it.
    await run(agent, traceId, "again", 140, ["skipped", null]);
    assert.deepEqual(await hoursOf(agent), [[2, 0, 0, 1, 0]]);
    const late = await run(agent, traceId, "traffic", 200, ["failed", null]);
    assert.deepEqual(await hoursOf(agent), [
      [2, 0, 0, 1, 0],
      [3, 0, 1, 0, 0],
    ]);
    assert.equal((await listed(agent, 0))[0], late);
    const strips = await listTestStrips(db, agent.sender.agentId, new Date(0), {
      before: newest,
      rowsMax: 9,
    });
    assert.deepEqual(
      strips.map(({ lastOutcome, days }) => [lastOutcome, days.length > 0]),
      [
        [null, false],
        ["failed", true],
      ],
    );
    assert.deepEqual(await listTestVersions(db, agent.tests[1]!, 9), []);
  });

  test("leaves when and with what an hour's last run ended", async () => {
    const agent = await makeAgent();
    const [one, two] = [await makeTrace(agent), await makeTrace(agent)];
    await run(agent, one, "traffic", 0, ["failed"]);
    await run(agent, two, "traffic", 1, ["skipped"]);
    const last = async () =>
      (
        await db.pool.query(
          "select hour, last_outcome, last_run_at from test_hours where test_id = $1 order by hour",
          [agent.tests[0]],
        )
      ).rows;
    const before = await last();
    await run(agent, one, "again", 70, ["passed"]);
    const [first, second] = await last();
    assert.deepEqual(first, before[0]);
    assert.equal(first.last_outcome, "skipped");
    assert.equal(second.last_outcome, "passed");
  });

  test("changes nothing while it is under way, when it fails, and once its trace is deleted", async () => {
    const agent = await makeAgent();
    const traceId = await makeTrace(agent);
    await run(agent, traceId, "traffic", 0, ["failed"]);
    const counts = await kept(agent);
    const failed = await begin(agent, traceId, "again", 70);
    assert.deepEqual(await kept(agent), counts);
    await failRun(db, { lease: failed.lease, runId: failed.id, error: { code: "internal_error" } });
    assert.deepEqual(await kept(agent), counts);
    const { id, lease } = await begin(agent, traceId, "again", 80);
    await deleteTrace(db, traceId);
    assert.equal((await completeRuns(db, lease, [judged(agent, id, ["passed"])])).size, 0);
    assert.deepEqual(await kept(agent), counts);
  });

  test("counts without what is not known of the run before it, or of tests that were deleted", async () => {
    const agent = await makeAgent();
    const traceId = await makeTrace(agent);
    const first = await run(agent, traceId, "traffic", 0, ["failed", "failed"]);
    await deleteTestCase(db, agent.tests[1]!);
    await db.pool.query("update runs set detail = null where id = $1", [first]);
    await run(agent, traceId, "again", 70, ["passed", "passed"]);
    assert.deepEqual(await hoursOf(agent), [
      [0, 0, 1, 0, 0],
      [1, 1, 0, 0, 0],
    ]);
    await run(agent, traceId, "again", 80, ["failed", "failed"]);
    assert.deepEqual(await hoursOf(agent), [
      [0, 0, 1, 0, 0],
      [1, 0, 1, 0, 0],
    ]);
  });

  test("neither loses a count nor deadlocks when two workers complete runs of the same tests in other hours", async () => {
    const agent = await makeAgent();
    const lists: Open[][] = [[], []];
    for (let at = 0; at < 30; at++) {
      const traceId = await makeTrace(agent);
      // Each worker's runs take back in the hour in which the other's count.
      const [before, now] = at % 2 ? [0, 70] : [70, 150];
      await run(agent, traceId, "traffic", before, ["failed", "failed"]);
      lists[at % 2]!.push(await begin(agent, traceId, "again", now));
    }
    await Promise.all(
      lists.map(async (open, at) => {
        for (const { id, lease } of open)
          await completeRuns(at ? other : db, lease, [judged(agent, id, ["passed", "passed"])]);
      }),
    );
    for (const at of [0, 1])
      assert.deepEqual(await hoursOf(agent, at), [
        [1, 15, 0, 0, 0],
        [2, 15, 0, 0, 0],
      ]);
  });
});
