// Launches: created with a pending run for each test, input and repeat; listed, cancelled, and ended with their last run.
import { hash } from "node:crypto";
import type pg from "pg";
import { advisoryLockSeeds, advisoryLocks } from "../../model/advisory-locks.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Launch, LaunchSource } from "../../model/run/launch.ts";
import { runCountOf } from "../../model/test-case/inputs.ts";
import { evaluatedDocumentOf } from "../../model/test-case/test-case.ts";
import { clockIsOff, lateAt } from "../clock.ts";
import { placeOf, placeOfRow } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";
import { openLimit } from "../open-limit.ts";
import { multiRow } from "../parameters/multi-row.ts";
import type { RunnableTest } from "../test-cases.ts";
import { runsOfLaunch } from "./all-runs.ts";
import { type CountRow, countColumns, toSummary } from "./result-counts.ts";

/** `repeats`: in place of the tests' own. */
export type NewLaunch = {
  agentId: string;
  createdBy: string;
  source: LaunchSource;
  tests: RunnableTest[];
  repeats?: number | undefined;
};

// Enough for a team and its CI; stops a script that launches in a loop without waiting.
const openMax = 20;
const unfinished = openLimit({
  max: openMax,
  seed: advisoryLockSeeds.unfinishedLaunches,
  countSql:
    "select count(*)::int as count from launches where agent_id = $1 and state in ('queued', 'running')",
  refusal: () =>
    new Refusal("CONFLICT", {
      message: `Limit: ${openMax} unfinished launches per agent.`,
      hint: "Wait for some to finish, or cancel some.",
    }),
});

type LaunchedTest = { test: RunnableTest; place: number; repeats: number };

const items = multiRow<LaunchedTest>(3, {
  test_id: ["uuid", ({ test }) => test.id],
  place: ["int", ({ place }) => place],
  name: ["text", ({ test }) => test.name],
  version: ["int", ({ test }) => test.version],
  document: ["text", ({ test }) => JSON.stringify({ ...evaluatedDocumentOf(test), version: test.version })],
  turn_count: ["int", ({ test }) => test.turns.length],
  input_count: ["int", ({ test }) => test.inputCount],
  repeats: ["int", ({ repeats }) => repeats],
  digest: ["bytea", ({ test }) => digestOf(test)],
});

/**
 * Inserts the launch and its runs in one transaction; any worker may claim them immediately. The transaction also reads
 * the launch, so that no later error hides from the caller that it was created. Throws CONFLICT if the agent has too many
 * unfinished launches or the inputs of a test were changed since it was read, UNAVAILABLE if the clock of this process is off.
 */
export async function insertLaunch(
  db: Database,
  { agentId, createdBy, source, tests, repeats }: NewLaunch,
): Promise<Launch> {
  const launched = tests.map((test, place) => ({ test, place, repeats: repeats ?? test.repeats ?? 1 }));
  const runCount = launched.reduce((sum, one) => sum + runCountOf(one.test.inputCount, one.repeats), 0);
  const launchId = newId();
  const runIds = Array.from({ length: runCount }, newId);
  return transaction(await placeOf(db, agentId), async client => {
    const { rows: inserted } = await client.query<{ late_at: number | null }>(
      `insert into launches (id, agent_id, created_by, source, state, test_count, run_count)
       values ($1, $2, $3, $4, 'queued', $5, $6)
       returning ${lateAt("id")} as late_at`,
      [launchId, agentId, createdBy, source, tests.length, runCount],
    );
    const lateAtMs = inserted[0]!.late_at;
    if (lateAtMs !== null) throw clockIsOff(launchId, lateAtMs);
    for (const some of inBatches(launched)) {
      await client.query(
        `insert into launch_tests (agent_id, launch_id, test_id, place, name, version, document, turn_count, input_count, repeats,
           digest)
         select $1, $2, item.* from ${items.from}`,
        [agentId, launchId, ...items.values(some)],
      );
    }
    await insertRuns(client, { agentId, launchId, runIds });
    await unfinished.requireStillRoom(client, agentId);
    const { rows } = await client.query<LaunchRow>(`${selectLaunch} where l.id = $1`, [launchId]);
    return toLaunch(rows[0]!);
  });
}

// Inputs are copied inside the database: those of a launch can have hundreds of megabytes.
async function insertRuns(
  client: pg.PoolClient,
  { agentId, launchId, runIds }: { agentId: string; launchId: string; runIds: string[] },
): Promise<void> {
  await client.query(
    `insert into launch_inputs (agent_id, launch_id, test_id, row, input, digest)
     select l.agent_id, l.launch_id, l.test_id, given.row, given.input::text, sha256(convert_to(given.input::text, 'UTF8'))
     from launch_tests l join test_cases t on t.agent_id = l.agent_id and t.id = l.test_id and t.version = l.version
       cross join lateral json_array_elements(t.inputs::json) with ordinality as given (input, row)
     where l.agent_id = $2 and l.launch_id = $1 and l.input_count > 0`,
    [launchId, agentId],
  );
  const { rowCount } = await client.query(
    `insert into queue (id, agent_id, kind, due_at, launch_id, test_id, test_digest, test_row, input_digest, test_repeat)
     select made.id, $2, 'manual', now(), $1, planned.test_id, planned.digest, planned.row,
       planned.input_digest, planned.repeat
     from (
       select l.test_id, i.row, coalesce(i.digest, '') as input_digest,
         case when i.row is null then l.digest else sha256(l.digest || i.digest) end as digest,
         case when l.repeats > 1 then repeat end as repeat,
         row_number() over (order by l.place, i.row, repeat) as place
       from launch_tests l left join launch_inputs i
           on i.agent_id = l.agent_id and i.launch_id = l.launch_id and i.test_id = l.test_id
         cross join lateral generate_series(1, l.repeats) as repeat
       where l.agent_id = $2 and l.launch_id = $1 and (l.input_count = 0 or i.row is not null)
     ) planned join unnest($3::uuid[]) with ordinality as made (id, place) on made.place = planned.place`,
    [launchId, agentId, runIds],
  );
  if (rowCount !== runIds.length) {
    throw new Refusal("CONFLICT", {
      message: "A test case was changed or deleted in the meantime. Run again.",
    });
  }
}

const batchChars = 4_000_000;

/** Some tests each: the documents of 1,000 tests can have more than a statement may. */
function* inBatches(tests: LaunchedTest[]): Generator<LaunchedTest[]> {
  let batch: LaunchedTest[] = [];
  let chars = 0;
  for (const one of tests) {
    const more = JSON.stringify(one.test).length;
    if (batch.length > 0 && chars + more > batchChars) {
      yield batch;
      batch = [];
      chars = 0;
    }
    batch.push(one);
    chars += more;
  }
  if (batch.length > 0) yield batch;
}

/** Digest of turns and expectations: runs with the same digest, and the same input, have the same version of the test. */
function digestOf({ turns, inputCount, assertions, threshold, scenario }: RunnableTest): Buffer {
  // The turn's own input is not sent if there are others.
  const asked = inputCount > 0 ? [] : turns;
  return hash("sha256", JSON.stringify([asked, assertions, threshold, scenario]), "buffer");
}

export async function findLaunch(db: Database, id: string): Promise<Launch | undefined> {
  const { rows } = await (await placeOfRow(db, "launches", id)).pool.query<LaunchRow>({
    name: "find_launch",
    text: `${selectLaunch} where l.id = $1`,
    values: [id],
  });
  return rows[0] && toLaunch(rows[0]);
}

/** The launches of an agent, newest first. */
export async function listLaunches(db: Database, agentId: string, listing: Listing): Promise<Launch[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<LaunchRow>({
    name: "list_launches",
    text: `${selectLaunch} where l.agent_id = $1 and l.id < $2 order by l.id desc limit $3`,
    values: [agentId, listing.before, listing.rowsMax],
  });
  return rows.map(toLaunch);
}

/** Throws CONFLICT if the agent has as many unfinished launches as it may have. */
export async function requireRoom(db: Database, agentId: string): Promise<void> {
  await unfinished.requireRoom((await placeOf(db, agentId)).pool, agentId);
}

/**
 * Cancels the launch: pending runs immediately, whose ids are returned; active runs are stopped by their workers. Does
 * nothing if the launch has ended.
 */
export async function cancelLaunch(db: Database, id: string): Promise<string[]> {
  return transaction(await placeOfRow(db, "launches", id), async client => {
    await takeTurn(client);
    const { rowCount } = await client.query(
      `update launches set cancel_requested_at = coalesce(cancel_requested_at, now())
       where id = $1 and state in ('queued', 'running')`,
      [id],
    );
    if (rowCount === 0) return [];
    const { rows } = await client.query<{ id: string }>(
      `select ended.id from end_runs(array(
         select id from queue where launch_id = $1 and lease is null and cause = 'traffic' order by id for update
       ), '') ended (id)`,
      [id],
    );
    return rows.map(row => row.id);
  });
}

/**
 * Takes the lock under which pending runs are claimed; call it first in the transaction. Serialized claims cannot exceed
 * an agent's concurrency or deadlock.
 */
export async function takeTurn(client: pg.PoolClient): Promise<void> {
  await client.query("select pg_advisory_xact_lock($1)", [advisoryLocks.manualClaims]);
}

/**
 * Updates the states of these launches; call it last in every transaction that starts or ends their runs. The row locks
 * make concurrent transactions take turns, so that the last run to end sees that it is the last.
 */
export async function settleLaunches(client: pg.PoolClient, ids: string[]): Promise<void> {
  await client.query("select from launches where id = any ($1::uuid[]) order by id for update", [ids]);
  await client.query(
    `update launches l set
        state = case
          when left_open.some then case when left_open.begun then 'running' else 'queued' end
          when l.cancel_requested_at is not null then 'cancelled' else 'completed' end,
        finished_at = case when not left_open.some then now() end
      from launches own cross join lateral (
        select
          exists (select from queue q where q.launch_id = own.id and q.cause = 'traffic') as some,
          exists (select from queue q where q.launch_id = own.id and q.state = 'running')
            or exists (select from runs r where r.launch_id = own.id) as begun
      ) left_open
      where own.id = any ($1::uuid[]) and l.id = own.id and l.state in ('queued', 'running')`,
    [ids],
  );
}

const selectLaunch = `select l.id, l.agent_id, l.created_at, l.source, l.state, l.test_count, l.run_count,
    l.finished_at, m.id as maker_id, m.name as maker_name, c.*
  from launches l left join accounts m on m.id = l.created_by
  cross join lateral (
    select ${countColumns}, count(*) filter (where r.outage_open)::int as outages
    from ${runsOfLaunch("l.id")} r
  ) c`;

type LaunchRow = CountRow & {
  id: string;
  agent_id: string;
  created_at: Date;
  source: LaunchSource;
  state: Launch["state"];
  test_count: number;
  run_count: number;
  outages: number;
  finished_at: Date | null;
  maker_id: string | null;
  maker_name: string | null;
};

function toLaunch(row: LaunchRow): Launch {
  const { counts, notFullyEvaluated, passRate } = toSummary(row);
  return {
    id: row.id,
    agentId: row.agent_id,
    createdAt: row.created_at,
    createdBy: row.maker_id === null ? null : { id: row.maker_id, name: row.maker_name! },
    source: row.source,
    state: row.state,
    testCount: row.test_count,
    runCount: row.run_count,
    finishedAt: row.finished_at,
    notFullyEvaluated,
    outages: row.outages,
    counts,
    passRate,
  };
}
