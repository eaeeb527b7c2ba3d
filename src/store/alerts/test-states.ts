// Whether each test is failing on live traffic: three failures in a row of fully evaluated results, in the order in which
// traces arrived.

import type pg from "pg";
import type { TestState } from "../../model/alert/alert.ts";
import type { Result } from "../../model/run/run.ts";
import { partsOfRows, placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { binaryArray } from "../parameters/binary-array.ts";
import { multiRow } from "../parameters/multi-row.ts";

type TestResult = Pick<Result, "testId" | "outcome" | "fullyEvaluated">;

/** A run that traffic caused and that was just completed. */
export type TrafficRun = {
  id: string;
  traceId: string;
  agentId: string;
  /** The evaluated revision of the trace. */
  revision: number;
  verdict: { results: TestResult[] };
};

/** The first change of an agent is told after this; further ones wait until an hour after the last message. */
const gatherMinutes = 5;

type Item = { traceId: string; runId: string; failed: boolean | null };

type Added = { testId: string; agentId: string; items: Item[] };

/** A test, and where its results are in the arrays that are sent once for all tests. */
type Row = { testId: string; agentId: string; runsAt: number; failuresAt: number; count: number };

// SQL counts from 1.
const rows = multiRow<Row>(4, {
  agent_id: ["uuid", row => row.agentId],
  test_id: ["uuid", row => row.testId],
  runs_at: ["int", row => row.runsAt + 1],
  failures_at: ["int", row => row.failuresAt + 1],
  count: ["int", row => row.count],
});

const slice = (array: string, from: string) => `(${array})[item.${from}:item.${from} + item.count - 1]`;

/**
 * Updates the states of the tests that evaluated these runs, and schedules an alert if one changed. Call it in the
 * transaction that completes the runs, after `addRollups`, which locks the tests: a change of a test locks it first,
 * too.
 */
export async function addTestResults(client: pg.PoolClient, runs: TrafficRun[]): Promise<void> {
  const tests = resultsByTest(runs);
  if (tests.length === 0) return;
  const { rows: found } = await client.query<{ changes: number }>({
    name: "add_test_results",
    text: `select add_test_results(agent_id, test_id, ${slice("$1::uuid[]", "runs_at")}, ${slice("$2::uuid[]", "runs_at")},
        ${slice("$3::bool[]", "failures_at")}) as changes
      from ${rows.from}`,
    values: parametersOf(tests),
  });
  const changed = new Set(tests.filter((_, at) => found[at]!.changes > 0).map(({ agentId }) => agentId));
  if (changed.size > 0) await scheduleAlerts(client, [...changed].sort());
}

/** In the order in which `addRollups` locks tests, so that concurrent transactions never deadlock; each by the traces' ids. */
function resultsByTest(runs: TrafficRun[]): Added[] {
  const tests = new Map<string, Added>();
  const ordered = runs.toSorted((a, b) => (`${a.traceId} ${a.id}` < `${b.traceId} ${b.id}` ? -1 : 1));
  for (const { id: runId, traceId, agentId, revision, verdict } of ordered) {
    for (const result of verdict.results) {
      const { testId } = result;
      const failed = failedOf(result);
      // Only takes back an earlier result of the trace, which revision 1 cannot have.
      if (failed === null && revision === 1) continue;
      const added = tests.get(testId) ?? { testId, agentId, items: [] };
      added.items.push({ traceId, runId, failed });
      tests.set(testId, added);
    }
  }
  return [...tests.values()].sort((one, other) => (one.testId < other.testId ? 1 : -1));
}

/** Tests of an agent have usually evaluated the same runs, whose ids are sent once. */
function parametersOf(tests: Added[]): unknown[] {
  const placeOfRuns = new Map<string, number>();
  const sent: Item[] = [];
  const failures: (boolean | null)[] = [];
  const placed = tests.map(({ testId, agentId, items }): Row => {
    const key = items.map(({ runId }) => runId).join();
    const runsAt = placeOfRuns.get(key) ?? sent.length;
    if (runsAt === sent.length) {
      placeOfRuns.set(key, runsAt);
      sent.push(...items);
    }
    const failuresAt = failures.length;
    failures.push(...items.map(({ failed }) => failed));
    return { testId, agentId, runsAt, failuresAt, count: items.length };
  });
  return [
    binaryArray(
      "uuid",
      sent.map(({ traceId }) => traceId),
    ),
    binaryArray(
      "uuid",
      sent.map(({ runId }) => runId),
    ),
    binaryArray("bool", failures),
    ...rows.values(placed),
  ];
}

/** Null: it counts neither way. */
function failedOf({ outcome, fullyEvaluated }: TestResult): boolean | null {
  if (!fullyEvaluated) return null;
  return outcome === "failed" || outcome === "passed" ? outcome === "failed" : null;
}

async function scheduleAlerts(client: pg.PoolClient, agentIds: string[]): Promise<void> {
  await client.query({
    name: "schedule_alerts",
    text: `insert into alert_schedules (agent_id, due_at)
      select id, now() + $2::int * interval '1 minute' from unnest($1::uuid[]) as agent (id)
      on conflict (agent_id) do update set due_at = coalesce(alert_schedules.due_at,
        greatest(excluded.due_at, alert_schedules.sent_at + interval '1 hour'))`,
    values: [agentIds, gatherMinutes],
  });
}

/** Forgets the state of a test that evaluates no live traffic any more, and changes that were not told yet. */
export async function forgetTestState(
  client: pg.PoolClient,
  { agentId, id: testId }: { agentId: string; id: string },
): Promise<void> {
  await client.query("delete from test_states where agent_id = $1 and test_id = $2", [agentId, testId]);
  await client.query("delete from test_state_changes where agent_id = $1 and test_id = $2", [
    agentId,
    testId,
  ]);
}

/** Since when a test is failing, by the arrival of the first trace of the three, and that trace if it still exists. */
export type Failing = { since: Date; traceId: string | null };

/** The failing tests among these. */
export async function findFailing(db: Database, testIds: string[]): Promise<Map<string, Failing>> {
  const found = new Map<string, Failing>();
  for (const [place, ids] of await partsOfRows(db, "test_cases", testIds)) {
    const { rows } = await place.pool.query<Failing & { id: string }>({
      name: "find_failing",
      text: `select s.test_id as id, s.since, t.id as "traceId" from test_cases c
        join test_states s on s.agent_id = c.agent_id and s.test_id = c.id
        left join traces t on t.agent_id = s.agent_id and t.id = s.first_trace_id
        where c.id = any ($1::uuid[]) and s.state = $2`,
      values: [ids, "failing" satisfies TestState],
    });
    for (const { id, ...failing } of rows) found.set(id, failing);
  }
  return found;
}

/** A failing test, and how often it failed in the hours asked for. */
export type FailingTest = Failing & { testId: string; name: string; failures: number };

/** The failing tests of an agent, those that began to fail last first, at most `rowsMax`; and how many there are. */
export async function listFailing(
  db: Database,
  agentId: string,
  { from, to }: { from: Date; to: Date },
  rowsMax: number,
): Promise<{ tests: FailingTest[]; total: number }> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<FailingTest & { total: number }>({
    name: "list_failing",
    text: `with failing as (
        select c.id, c.name, s.since, s.first_trace_id, count(*) over ()::int as total
        from test_cases c join test_states s on s.agent_id = c.agent_id and s.test_id = c.id
        where c.agent_id = $1 and s.state = $2
        order by s.since desc, c.id desc limit $5
      )
      select f.id as "testId", f.name, f.since, f.total, t.id as "traceId",
        coalesce((
          select sum(failed) from test_hours
          where agent_id = $1 and test_id = f.id and hour >= $3 and hour < $4
        ), 0)::int as failures
      from failing f left join traces t on t.agent_id = $1 and t.id = f.first_trace_id
      order by f.since desc, f.id desc`,
    values: [agentId, "failing" satisfies TestState, from, to, rowsMax],
  });
  return { tests: rows.map(({ total: _, ...test }) => test), total: rows[0]?.total ?? 0 };
}
