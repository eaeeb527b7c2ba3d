// Results of a launch by test: counts and pass rates, and what waits for the judge.
import type { LaunchTest } from "../../model/run/launch.ts";
import { placeOf, placeOfRow } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { runsOfLaunch } from "./all-runs.ts";
import { type CountRow, countColumns, toSummary } from "./result-counts.ts";
import { changedTrace } from "./turns.ts";

/** The tests of a launch, or some of them, in its order; without those whose runs were all deleted. */
export async function listTestsOfLaunch(
  db: Database,
  launchId: string,
  testIds?: string[],
): Promise<LaunchTest[]> {
  type Row = CountRow & {
    testId: string;
    testName: string;
    testDeleted: boolean;
    inputCount: number;
    repeats: number;
  };
  const { rows } = await (await placeOfRow(db, "launches", launchId)).pool.query<Row>(
    `select c.*, c.test_id as "testId", t.name as "testName", t.input_count as "inputCount", t.repeats,
       not exists (select from test_cases o where o.id = c.test_id) as "testDeleted"
     from (
       select r.agent_id, r.test_id, (array_agg(r.id order by r.id))[1] as first, ${countColumns}
       from ${runsOfLaunch("$1")} r where ($2::uuid[] is null or r.test_id = any ($2)) group by r.agent_id, r.test_id
     ) c join launch_tests t on t.agent_id = c.agent_id and t.launch_id = $1 and t.test_id = c.test_id order by c.first`,
    [launchId, testIds ?? null],
  );
  return rows.map(({ testId, testName, testDeleted, inputCount, repeats, ...counted }) => ({
    ...{ testId, testName, testDeleted, inputCount, repeats },
    ...toSummary(counted),
  }));
}

// Enough to find the last nightly run among many others; each costs a look at its tests.
const searchedLaunches = 100;

/** The latest earlier launch of the agent with the same tests, among its last hundred. */
export async function findPreviousLaunch(
  db: Database,
  { id, agentId }: { id: string; agentId: string },
): Promise<string | null> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ id: string }>(
    `select l.id from (
       select id, test_count from launches where agent_id = $2 and id < $1 order by id desc limit ${searchedLaunches}
     ) l
     where l.test_count = (select test_count from launches where agent_id = $2 and id = $1)
       and exists (select from launch_tests where agent_id = $2 and launch_id = $1)
       and not exists (
         select test_id from launch_tests where agent_id = $2 and launch_id = $1
         except select test_id from launch_tests where agent_id = $2 and launch_id = l.id
       )
     order by l.id desc limit 1`,
    [id, agentId],
  );
  return rows[0]?.id ?? null;
}

/** Runs that wait for the judge, with the reason of one of them. */
export async function findWaitingRuns(
  db: Database,
  { id, agentId }: { id: string; agentId: string },
): Promise<{ runs: number; reason: string } | null> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ runs: number; reason: string }>(
    `select count(*)::int as runs, max(waiting_reason) as reason from queue
     where agent_id = $2 and launch_id = $1 and waiting_reason is not null having count(*) > 0`,
    [id, agentId],
  );
  return rows[0] ?? null;
}

/** Runs with a trace that has changed since they were evaluated. */
export async function countChangedRuns(
  db: Database,
  { id, agentId }: { id: string; agentId: string },
): Promise<number> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ count: number }>(
    `select count(*)::int as count from runs r
     where r.agent_id = $2 and r.launch_id = $1 and r.state = 'completed' and ${changedTrace}
       and not exists (select from queue q where q.id = r.id and q.agent_id = r.agent_id)`,
    [id, agentId],
  );
  return rows[0]!.count;
}
