// Whether each test is failing on live traffic: three failures in a row, in the order in which traces arrived.
import type pg from "pg";
import type { TestState } from "../../model/alert/alert.ts";
import type { Outcome, Result } from "../../model/run/run.ts";
import type { Database } from "../db.ts";
import { placeOf } from "../scale/places.ts";

/** A run that traffic caused and that was just completed. */
export type TrafficRun = {
  id: string;
  traceId: string;
  agentId: string;
  /** The evaluated revision of the trace. */
  revision: number;
  verdict: { results: Pick<Result, "testId" | "outcome">[] };
};

/** The first change of an agent is told after this; further ones wait until an hour after the last message. */
const gatherMinutes = 5;

type Added = { agentId: string; items: { traceId: string; runId: string; failed: boolean | null }[] };

/**
 * Updates the states of the tests that evaluated these runs, and schedules an alert if one changed. Call it in the
 * transaction that completes the runs, after `addRollups`, which locks the tests: whoever changes a test locks it first,
 * too.
 */
export async function addTestResults(client: pg.PoolClient, runs: TrafficRun[]): Promise<void> {
  const tests = new Map<string, Added>();
  for (const { id: runId, traceId, agentId, revision, verdict } of runs) {
    for (const { testId, outcome } of verdict.results) {
      const failed = failedOf(outcome);
      // Only takes back an earlier result of the trace, which revision 1 cannot have.
      if (failed === null && revision === 1) continue;
      const added = tests.get(testId) ?? { agentId, items: [] };
      added.items.push({ traceId, runId, failed });
      tests.set(testId, added);
    }
  }
  if (tests.size === 0) return;
  // In the order in which `addRollups` locks, so that concurrent transactions never deadlock.
  const ordered = [...tests].sort(([one], [other]) => (one < other ? 1 : -1));
  const { rows } = await client.query<{ changes: number }>({
    name: "add_test_results",
    text: `select add_test_results(agent_id, test_id, traces, runs, failures) as changes
      from json_to_recordset($1) as item (agent_id uuid, test_id uuid, traces uuid[], runs uuid[], failures boolean[])`,
    values: [JSON.stringify(ordered.map(([testId, added]) => rowOf(testId, added)))],
  });
  const changed = new Set(ordered.filter((_, at) => rows[at]!.changes > 0).map(([, { agentId }]) => agentId));
  if (changed.size > 0) await scheduleAlerts(client, [...changed].sort());
}

function failedOf(outcome: Outcome): boolean | null {
  return outcome === "failed" || outcome === "passed" ? outcome === "failed" : null;
}

function rowOf(testId: string, { agentId, items }: Added) {
  const sorted = items.toSorted((a, b) => (`${a.traceId} ${a.runId}` < `${b.traceId} ${b.runId}` ? -1 : 1));
  return {
    agent_id: agentId,
    test_id: testId,
    traces: sorted.map(({ traceId }) => traceId),
    runs: sorted.map(({ runId }) => runId),
    failures: sorted.map(({ failed }) => failed),
  };
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
  const { rows } = await db.pool.query<Failing & { id: string }>({
    name: "find_failing",
    text: `select s.test_id as id, s.since, t.id as "traceId" from test_cases c
      join test_states s on s.agent_id = c.agent_id and s.test_id = c.id
      left join traces t on t.agent_id = s.agent_id and t.id = s.first_trace_id
      where c.id = any ($1::uuid[]) and s.state = $2`,
    values: [testIds, "failing" satisfies TestState],
  });
  return new Map(rows.map(({ id, ...failing }) => [id, failing]));
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
