// Launches: created with a pending run per test, listed, cancelled, and ended with their last run.
import { hash, randomUUIDv7 } from "node:crypto";
import type pg from "pg";
import { type Change, changeOf, isFlaky, type Launch, type LaunchSource } from "../../model/run/launch.ts";
import type { Outcome } from "../../model/run/run.ts";
import { documentOf, type TestCase, type TestCaseDocument } from "../../model/test-case/test-case.ts";
import { type Database, transaction } from "../db.ts";
import type { Listing } from "../listing.ts";
import { multiRow } from "../multi-row.ts";
import { type RunWithDetail, runColumns, withJudging } from "./read.ts";
import { differingTurn } from "./turns.ts";

export type NewLaunch = { agentId: string; createdBy: string; source: LaunchSource; tests: TestCase[] };

const items = multiRow<{ runId: string; test: TestCase }>(3, {
  id: ["uuid", ({ runId }) => runId],
  test_id: ["uuid", ({ test }) => test.id],
  test: ["text", ({ test }) => JSON.stringify({ ...documentOf(test), version: test.version })],
  test_digest: ["bytea", ({ test }) => digestOf(test)],
});

/**
 * Inserts the launch and its runs in one transaction; any worker may claim them immediately. The transaction also reads
 * the launch, so that no later error hides from the caller that it was created.
 */
export async function insertLaunch(
  db: Database,
  { agentId, createdBy, source, tests }: NewLaunch,
): Promise<Launch> {
  const launchId = randomUUIDv7();
  return transaction(db, async client => {
    await client.query(
      `insert into launches (id, agent_id, created_by, source, state, test_count)
       values ($1, $2, $3, $4, 'queued', $5)`,
      [launchId, agentId, createdBy, source, tests.length],
    );
    // Sorted: ids of the same millisecond are in random order.
    const runIds = tests.map(() => randomUUIDv7()).sort((one, other) => (one < other ? -1 : 1));
    await client.query(
      `insert into runs (id, trace_id, agent_id, kind, state, due_at, launch_id, test_id, test, test_digest)
       select id, null, $1, 'manual', 'pending', now(), $2, test_id, test, test_digest
       from ${items.from}`,
      [agentId, launchId, ...items.values(tests.map((test, at) => ({ runId: runIds[at]!, test })))],
    );
    const { rows } = await client.query<LaunchRow>(`${selectLaunch} where l.id = $1`, [launchId]);
    return toLaunch(rows[0]!);
  });
}

/** Digest of the inputs and expectations: runs with the same digest have the same version of the test. */
function digestOf({ turns, assertions, threshold, scenario }: TestCase): Buffer {
  return hash("sha256", JSON.stringify([turns, assertions, threshold, scenario]), "buffer");
}

export async function findLaunch(db: Database, id: string): Promise<Launch | undefined> {
  const { rows } = await db.pool.query<LaunchRow>(`${selectLaunch} where l.id = $1`, [id]);
  return rows[0] && toLaunch(rows[0]);
}

/** The launches of an agent, newest first. */
export async function listLaunches(db: Database, agentId: string, listing: Listing): Promise<Launch[]> {
  const { rows } = await db.pool.query<LaunchRow>(
    `${selectLaunch} where l.agent_id = $1 and l.id < $2 order by l.id desc limit $3`,
    [agentId, listing.before, listing.rowsMax],
  );
  return rows.map(toLaunch);
}

/** How many launches of the agent have not ended. */
export async function countOpenLaunches(db: Database, agentId: string): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(
    "select count(*)::int as count from launches where agent_id = $1 and state in ('queued', 'running')",
    [agentId],
  );
  return rows[0]!.count;
}

export type ComparedRun = Omit<RunWithDetail, "launchId"> & {
  launchId: string;
  testId: string;
  /** The test as it was when the run was created. */
  test: TestCaseDocument;
  /** Whether the test was deleted since. */
  testDeleted: boolean;
  change: Change | null;
  flaky: boolean;
  turnsEnded: number;
  /** Whether the agent sent no trace for some turn. */
  unseen: boolean;
  /** The agent's trace of some turn has another status or reply than the call answered. */
  differs: boolean;
};

/** The runs of a launch in the order of its tests, each compared with the previous run of its test. */
export async function listRunsOfLaunch(db: Database, launchId: string): Promise<ComparedRun[]> {
  return compared(db, "r.launch_id = $1 order by r.id", [launchId]);
}

/** The manual runs of a test, newest first. */
export async function listManualRunsOfTest(
  db: Database,
  testId: string,
  listing: Listing,
): Promise<ComparedRun[]> {
  return compared(db, "r.kind = 'manual' and r.test_id = $1 and r.id < $2 order by r.id desc limit $3", [
    testId,
    listing.before,
    listing.rowsMax,
  ]);
}

export async function findManualRun(db: Database, id: string): Promise<ComparedRun | undefined> {
  return (await compared(db, "r.kind = 'manual' and r.id = $1", [id]))[0];
}

// Searched as text in SQL, so that long documents are not sent here. Quotes inside JSON strings are escaped, so only the
// key itself matches.
const unseenTurn = `strpos(u.document, '"arrived":false') > 0`;

// A test is flaky by its last runs of the same version, including this one.
const flakyRuns = 10;

/** Reads `runs r` with the previous outcome, and the latest outcomes of the same version of the test. */
async function compared(db: Database, where: string, values: unknown[]): Promise<ComparedRun[]> {
  type Row = Omit<RunWithDetail, "judging" | "launchId"> & {
    launchId: string;
    testId: string;
    test: string;
    testDeleted: boolean;
    turnsEnded: number;
    unseen: boolean;
    differs: boolean;
    before: Outcome | null;
    recent: Outcome[] | null;
  };
  const { rows } = await db.pool.query<Row>(
    `select ${runColumns}, r.detail, r.test_id as "testId", r.test,
      not exists (select from test_cases t where t.id = r.test_id) as "testDeleted",
      (select count(*)::int from run_turns u where u.run_id = r.id and u.trace_id is not null) as "turnsEnded",
      exists (select from run_turns u where u.run_id = r.id and ${unseenTurn}) as unseen,
      exists (select from run_turns u where u.run_id = r.id and (${differingTurn})) as differs,
      (select m.verdict from runs m
        where m.kind = 'manual' and m.test_id = r.test_id and m.id < r.id and m.state = 'completed'
          and m.verdict <> 'skipped'
        order by m.id desc limit 1) as before,
      (select array_agg(m.verdict order by m.id) from (
        select id, verdict from runs m
        where m.kind = 'manual' and m.test_id = r.test_id and m.id <= r.id and m.state = 'completed'
          and m.test_digest = r.test_digest
        order by m.id desc limit ${flakyRuns}
      ) m) as recent
      from runs r where ${where}`,
    values,
  );
  return (await withJudging(db, rows)).map(({ before, recent, test, ...run }) => ({
    ...run,
    test: JSON.parse(test) as TestCaseDocument,
    change: changeOf(run.state, run.verdict, before),
    flaky: isFlaky(recent ?? []),
  }));
}

/**
 * Cancels the launch: pending runs immediately, whose ids are returned; active runs are stopped by their workers. Does
 * nothing if the launch has ended.
 */
export async function cancelLaunch(db: Database, id: string): Promise<string[]> {
  return transaction(db, async client => {
    await takeTurn(client);
    const { rowCount } = await client.query(
      `update launches set cancel_requested_at = coalesce(cancel_requested_at, now())
       where id = $1 and state in ('queued', 'running')`,
      [id],
    );
    if (rowCount === 0) return [];
    const { rows } = await client.query<{ id: string }>(
      `update runs set state = 'cancelled', finished_at = now(), next_try_at = null, waiting_reason = null
       where launch_id = $1 and kind = 'manual' and (state = 'pending' or state = 'running' and lease is null)
         and verdict is null
       returning id`,
      [id],
    );
    await settleLaunches(client, [id]);
    return rows.map(row => row.id);
  });
}

// Any fixed number.
const turnLock = 4_826_170_392;

/**
 * Takes the lock under which pending runs are claimed; call it first in the transaction. Serialized claims cannot exceed
 * an agent's concurrency or deadlock.
 */
export async function takeTurn(client: pg.PoolClient): Promise<void> {
  await client.query("select pg_advisory_xact_lock($1)", [turnLock]);
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
          when open.runs > 0 then case when open.begun then 'running' else 'queued' end
          when l.cancel_requested_at is not null then 'cancelled' else 'completed' end,
        finished_at = case when open.runs = 0 then now() end
      from launches own cross join lateral (
        select count(*) filter (where r.state in ('pending', 'running') and r.verdict is null) as runs,
          bool_or(r.state <> 'pending') as begun
        from runs r where r.launch_id = own.id
      ) open
      where own.id = any ($1::uuid[]) and l.id = own.id and l.state in ('queued', 'running')`,
    [ids],
  );
}

const selectLaunch = `select l.id, l.agent_id, l.created_at, l.source, l.state, l.test_count, l.finished_at,
    m.id as maker_id, m.name as maker_name, c.*
  from launches l left join accounts m on m.id = l.created_by
  cross join lateral (
    select count(*) filter (where verdict = 'passed')::int as passed,
      count(*) filter (where verdict = 'failed')::int as failed,
      count(*) filter (where verdict = 'skipped')::int as skipped,
      count(*) filter (where verdict = 'missing_instrumentation')::int as missing_instrumentation,
      count(*) filter (where state = 'error')::int as error,
      count(*) filter (where state = 'cancelled')::int as cancelled,
      count(*) filter (where state in ('pending', 'running') and verdict is null)::int as open,
      count(*) filter (where outage_open)::int as not_fully_evaluated
    from runs where launch_id = l.id
  ) c`;

type LaunchRow = Launch["counts"] & {
  id: string;
  agent_id: string;
  created_at: Date;
  source: LaunchSource;
  state: Launch["state"];
  test_count: number;
  not_fully_evaluated: number;
  finished_at: Date | null;
  maker_id: string | null;
  maker_name: string | null;
};

function toLaunch(row: LaunchRow): Launch {
  const { passed, failed, skipped, missing_instrumentation, error, cancelled, open } = row;
  return {
    id: row.id,
    agentId: row.agent_id,
    createdAt: row.created_at,
    createdBy: row.maker_id === null ? null : { id: row.maker_id, name: row.maker_name! },
    source: row.source,
    state: row.state,
    testCount: row.test_count,
    finishedAt: row.finished_at,
    notFullyEvaluated: row.not_fully_evaluated,
    counts: { passed, failed, skipped, missing_instrumentation, error, cancelled, open },
  };
}
