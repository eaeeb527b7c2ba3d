// Writes the progress of a leased manual run: its turns before they are sent, its wait for the judge, and its end.
import type pg from "pg";
import { Refusal } from "../../model/refusal.ts";
import type { RunTurn } from "../../model/run/launch.ts";
import { type Reason, reasonText } from "../../model/run/reason.ts";
import type { Verdict } from "../../model/run/run.ts";
import { storable } from "../../model/trace/columns.ts";
import { type Database, transaction } from "../db.ts";
import { encodeDetail } from "./detail.ts";
import { settleLaunches } from "./launches.ts";
import type { EndedManualRun, ManualRun } from "./manual-claims.ts";

/** A run and the lease under which this worker has it. */
export type LeasedRun = { lease: string; run: ManualRun };

/**
 * Records a turn and the identities of its trace before it is sent. False if the run was cancelled or lost its lease: then
 * nothing may be sent.
 */
export async function beginTurn(db: Database, { lease, run }: LeasedRun, turn: RunTurn): Promise<boolean> {
  return transaction(db, async client => {
    const { rowCount } = await client.query(
      `update runs set sent_at = coalesce(sent_at, now()) from launches l
       where runs.id = $1 and runs.lease = $2 and runs.state = 'running' and l.id = runs.launch_id
         and l.cancel_requested_at is null`,
      [run.id, lease],
    );
    if (rowCount === 0) return false;
    await client.query(
      "insert into run_turns (run_id, turn, document) values ($1, $2, $3) on conflict do nothing",
      [run.id, turn.turn, JSON.stringify(turn)],
    );
    await client.query(
      `insert into expected_traces (agent_id, external_id, run_id, turn)
       select $1, unnest($2::text[]), $3, $4 on conflict do nothing`,
      [run.agentId, [turn.requestId, turn.w3cTraceId], run.id, turn.turn],
    );
    return true;
  });
}

/** Records that all turns are done, and the time left to wait for the judge; any worker can evaluate the run now. */
export async function saveTurnsDone(db: Database, { lease, run }: LeasedRun, leftMs: number): Promise<void> {
  await db.pool.query(
    `update runs set judge_deadline_at = now() + $3::float8 * interval '1 ms'
     where id = $1 and lease = $2 and state = 'running'`,
    [run.id, lease, leftMs],
  );
}

export type ManualWait = { nextTryMs: number; reason: string; tried: boolean };

/**
 * Releases a run that waits for the judge until its next attempt, and resets its attempts. False if the run was cancelled
 * or lost its lease. The share lock on the launch orders this before or after a concurrent cancellation.
 */
export async function parkManualRun(
  db: Database,
  { lease, run }: LeasedRun,
  { nextTryMs, reason, tried }: ManualWait,
): Promise<boolean> {
  const { rowCount } = await db.pool.query(
    `with launch as materialized (
       select from launches where id = $6 and cancel_requested_at is null for share
     )
     update runs set waiting_reason = $3, next_try_at = now() + $4::float8 * interval '1 ms',
       judge_tries = judge_tries + $5::bool::int, lease = null, lease_until = null, attempts = 0
     from launch where runs.id = $1 and runs.lease = $2 and runs.state = 'running'`,
    [run.id, lease, storable(reason), nextTryMs, tried, run.launchId],
  );
  return rowCount === 1;
}

export type JudgedManualRun = { traceId: string; revision: number; verdict: Verdict };

/** Ends a run whose trace was deleted. */
export function traceDeleted(): Refusal {
  return new Refusal("NOT_FOUND", { message: "The trace of a turn was deleted during the run." });
}

/**
 * Stores the results; manual runs are not counted in insights. False if the run lost its lease. Throws if its trace was
 * deleted in the meantime.
 */
export async function completeManualRun(
  db: Database,
  { lease, run }: LeasedRun,
  { traceId, revision, verdict }: JudgedManualRun,
): Promise<boolean> {
  return ending(db, run, async client => {
    const trace = await client.query("select from traces where id = $1 for key share", [traceId]);
    if (trace.rowCount === 0) throw traceDeleted();
    return client.query(
      `update runs set state = 'completed', finished_at = now(), lease = null, lease_until = null,
        next_try_at = null, waiting_reason = null, trace_id = $3,
        revision = $4, routing = $5, verdict = $6, score = $7, passed = $8, failed = $9, skipped = $10,
        missing_instrumentation = $11, test_ids = $12, detail = $13
       where id = $1 and lease = $2 and state = 'running'`,
      [
        run.id,
        lease,
        traceId,
        revision,
        verdict.routing,
        verdict.verdict,
        verdict.score,
        verdict.counts.passed,
        verdict.counts.failed,
        verdict.counts.skipped,
        verdict.counts.missing_instrumentation,
        verdict.results.map(result => result.testId),
        encodeDetail({ results: verdict.results, tests: verdict.tests }),
      ],
    );
  });
}

/** Ends a run without results: as cancelled if its launch was, else as an error with this reason. */
export async function endManualRun(
  db: Database,
  { lease, run }: LeasedRun,
  error: Reason,
): Promise<EndedManualRun | undefined> {
  return transaction(db, async client => {
    const { rows } = await client.query<EndedManualRun>(
      `update runs set finished_at = now(), lease = null, lease_until = null, next_try_at = null,
        waiting_reason = null, state = case when l.cancel_requested_at is null then 'error' else 'cancelled' end,
        error = case when l.cancel_requested_at is null then $3 end
       from launches l where runs.id = $1 and runs.lease = $2 and runs.state = 'running' and l.id = runs.launch_id
       returning runs.id, runs.agent_id as "agentId", runs.launch_id as "launchId", runs.state`,
      [run.id, lease, reasonText(error)],
    );
    if (rows.length > 0) await settleLaunches(client, [run.launchId]);
    return rows[0];
  });
}

/**
 * Gives back a run that has sent nothing or whose turns are done: any worker may claim it immediately. False for other
 * runs, and if it was cancelled.
 */
export async function giveBackManualRun(db: Database, { lease, run }: LeasedRun): Promise<boolean> {
  return ending(db, run, client =>
    client.query(
      `update runs set state = case when judge_deadline_at is null then 'pending' else 'running' end,
         next_try_at = case when judge_deadline_at is not null then now() end,
         lease = null, lease_until = null, attempts = attempts - 1
       from launches l
       where runs.id = $1 and runs.lease = $2 and runs.state = 'running'
         and (runs.sent_at is null or runs.judge_deadline_at is not null)
         and l.id = runs.launch_id and l.cancel_requested_at is null`,
      [run.id, lease],
    ),
  );
}

async function ending(
  db: Database,
  run: ManualRun,
  end: (client: pg.PoolClient) => Promise<pg.QueryResult>,
): Promise<boolean> {
  return transaction(db, async client => {
    const { rowCount } = await end(client);
    if (rowCount === 0) return false;
    await settleLaunches(client, [run.launchId]);
    return true;
  });
}
