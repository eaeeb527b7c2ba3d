// Writes the progress of a leased manual run: its turns before they are sent, its wait for the judge, and its end.

import type pg from "pg";
import { type ReadBy, readByOf } from "../../model/agent/read-by.ts";
import { Refusal } from "../../model/refusal.ts";
import type { RunTurn } from "../../model/run/launch.ts";
import type { Reason } from "../../model/run/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { Verdict } from "../../model/run/run.ts";
import { storable } from "../../model/trace/storable.ts";
import { type Database, transaction } from "../db.ts";
import { placeOf } from "../scale/places.ts";
import { failedTestIds } from "./complete.ts";
import { detailOf, encodeDetail } from "./detail.ts";
import { settleLaunches } from "./launches.ts";
import type { EndedManualRun, ManualRun } from "./manual-claims.ts";
import { leasedBy } from "./of-traces.ts";
import { addResultValues, outcomesOf, versionsOf } from "./result-values.ts";
import { changedTrace } from "./turns.ts";

/** A run and the lease under which this worker has it. */
export type LeasedRun = { lease: string; run: ManualRun };

/**
 * Records a turn and the identities of its trace before it is sent. False if the run was cancelled or lost its lease: then
 * nothing may be sent.
 */
export async function beginTurn(db: Database, { lease, run }: LeasedRun, turn: RunTurn): Promise<boolean> {
  return transaction(await placeOf(db, run.agentId), async client => {
    const { rowCount } = await client.query(
      `update runs set sent_at = coalesce(sent_at, now()) from launches l
       where runs.id = $1 and ${leasedBy("$2")}
         and l.agent_id = runs.agent_id and l.id = runs.launch_id and l.cancel_requested_at is null`,
      [run.id, lease],
    );
    if (rowCount === 0) return false;
    await client.query(
      "insert into run_turns (agent_id, run_id, turn, document) values ($1, $2, $3, $4) on conflict do nothing",
      [run.agentId, run.id, turn.turn, JSON.stringify(turn)],
    );
    await client.query(
      `insert into expected_traces (agent_id, external_id, run_id, turn)
       select $1, unnest($2::text[]), $3, $4 on conflict do nothing`,
      [run.agentId, [turn.requestId, turn.w3cTraceId], run.id, turn.turn],
    );
    return true;
  });
}

/**
 * Records that all turns are done, the time left to wait for the judge, and what the traces are read by: any worker can
 * evaluate the run now.
 */
export async function saveTurnsDone(
  db: Database,
  { lease, run }: LeasedRun,
  leftMs: number,
  readBy: ReadBy,
): Promise<void> {
  const detail = encodeDetail({ results: [], tests: [], ...readByOf(readBy) });
  await (await placeOf(db, run.agentId)).pool.query(
    `update runs set judge_deadline_at = now() + $3::float8 * interval '1 ms', detail = $4
     where id = $1 and ${leasedBy("$2")}`,
    [run.id, lease, leftMs, detail],
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
  const { rowCount } = await (await placeOf(db, run.agentId)).pool.query(
    `with launch as materialized (
       select from launches where agent_id = $7 and id = $6 and (cancel_requested_at is null or ${judgedBefore("$1")}) for share
     )
     update runs set waiting_reason = $3, next_try_at = now() + $4::float8 * interval '1 ms',
       judge_tries = judge_tries + $5::bool::int, lease = null, lease_until = null, attempts = 0
     from launch where runs.agent_id = $7 and runs.id = $1 and ${leasedBy("$2")}`,
    [run.id, lease, storable(reason), nextTryMs, tried, run.launchId, run.agentId],
  );
  return rowCount === 1;
}

/** As SQL: a run that is evaluated again has its earlier results, whatever becomes of its launch. */
const judgedBefore = (id: string) =>
  `exists (select from runs r where r.id = ${id} and r.verdict is not null)`;

/** `revisions`: those of the trace of each turn. `outage`: the judge was unavailable for some checks. */
export type JudgedManualRun = { traceId: string; revisions: number[]; verdict: Verdict; outage: boolean };

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
  { traceId, revisions, verdict, outage }: JudgedManualRun,
): Promise<boolean> {
  return ending(db, run, async client => {
    const trace = await client.query("select from traces where id = $1 for key share", [traceId]);
    if (trace.rowCount === 0) throw traceDeleted();
    const completed = await client.query(
      `update runs set state = 'completed', finished_at = coalesce(finished_at, now()), lease = null, lease_until = null,
        next_try_at = null, waiting_reason = null, trace_id = $3,
        revision = $4, routing = $5, verdict = $6, score = $7, passed = $8, failed = $9, skipped = $10,
        missing_instrumentation = $11, test_ids = $12, detail = $13, outage_open = $14,
        test_outcomes = $15, test_versions = $16, failed_test_ids = $17, fully_evaluated = $18
       where id = $1 and ${leasedBy("$2")}`,
      [
        run.id,
        lease,
        traceId,
        revisions.at(-1),
        verdict.routing,
        verdict.verdict,
        verdict.score,
        verdict.counts.passed,
        verdict.counts.failed,
        verdict.counts.skipped,
        verdict.counts.missing_instrumentation,
        verdict.results.map(result => result.testId),
        encodeDetail(detailOf(verdict)),
        outage,
        outcomesOf(verdict),
        versionsOf(verdict),
        failedTestIds(verdict),
        verdict.fullyEvaluated,
      ],
    );
    if (completed.rowCount === 1) {
      const turns = await client.query<{ id: string }>(
        `update run_turns u set revision = evaluated.revision
         from unnest($3::int[]) with ordinality as evaluated (revision, turn)
         where u.agent_id = $1 and u.run_id = $2 and u.turn = evaluated.turn and u.trace_id is not null
         returning u.trace_id as id`,
        [run.agentId, run.id, revisions],
      );
      const traceIds = [traceId, ...turns.rows.map(({ id }) => id)];
      await addResultValues(client, [{ agentId: run.agentId, traceIds, verdict }]);
    }
    return completed;
  });
}

/**
 * Ends a run without results: as cancelled if its launch was, else as an error with this reason. A run that is evaluated
 * again keeps its earlier results.
 */
export async function endManualRun(
  db: Database,
  { lease, run }: LeasedRun,
  error: Reason,
): Promise<EndedManualRun | undefined> {
  return transaction(await placeOf(db, run.agentId), async client => {
    const { rows } = await client.query<EndedManualRun>(
      `update runs set finished_at = coalesce(runs.finished_at, now()), lease = null, lease_until = null,
        next_try_at = null, waiting_reason = null,
        state = case when verdict is not null then 'completed'
          when l.cancel_requested_at is null then 'error' else 'cancelled' end,
        error = case when verdict is null and l.cancel_requested_at is null then $3 end
       from launches l where runs.id = $1 and ${leasedBy("$2")}
         and l.agent_id = runs.agent_id and l.id = runs.launch_id
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
       where runs.id = $1 and ${leasedBy("$2")}
         and (runs.sent_at is null or runs.judge_deadline_at is not null)
         and l.agent_id = runs.agent_id and l.id = runs.launch_id and (l.cancel_requested_at is null or runs.verdict is not null)`,
      [run.id, lease],
    ),
  );
}

/** `traceIds`: of its turns. */
export type EvaluatedAgain = Pick<ManualRun, "id" | "agentId" | "launchId"> & { traceIds: string[] };

/**
 * Has completed runs evaluated again for which the judge was unavailable, or whose traces have changed: their stored replies
 * and traces, by the tests as they were; the agent is not called. Until a run ends again, its results stay. Runs whose traces
 * were deleted or forgotten are left out. Among `runIds`, the runs of one launch, or those of these traces.
 */
export async function evaluateManualRunsAgain(
  db: Database,
  agentId: string,
  { runIds, launchId, traceIds }: { runIds?: string[]; launchId?: string; traceIds?: string[] },
  deadlineMs: number,
): Promise<EvaluatedAgain[]> {
  return transaction(await placeOf(db, agentId), async client => {
    const { rows: asked } = await client.query<{ id: string; traceIds: string[] }>(
      `select id, array(
         select u.trace_id from run_turns u
         where u.agent_id = r.agent_id and u.run_id = r.id and u.trace_id is not null
       ) as "traceIds"
       from runs r
       where agent_id = $1 and kind = 'manual' and state = 'completed' and (outage_open or ${changedTrace})
         and ($2::uuid[] is null or id = any ($2)) and ($3::uuid is null or launch_id = $3)
         and ($4::uuid[] is null
           or id = any (array(select u.run_id from run_turns u where u.agent_id = $1 and u.trace_id = any ($4))))`,
      [agentId, runIds ?? null, launchId ?? null, traceIds ?? null],
    );
    // Traces before runs, as content is forgotten: which ones are forgotten is asked after that has been committed.
    await client.query(
      "select from traces where agent_id = $1 and id = any ($2::uuid[]) order by id for key share",
      [agentId, asked.flatMap(run => run.traceIds)],
    );
    const { rows } = await client.query<EvaluatedAgain>(
      `with chosen as materialized (
         select id from runs r where agent_id = $3 and id = any ($1::uuid[]) and (outage_open or ${changedTrace})
         order by id for update
       )
       update runs set state = 'running', next_try_at = now(), waiting_reason = null, judge_tries = 0, attempts = 0,
         judge_deadline_at = now() + $2::float8 * interval '1 ms'
       from chosen where runs.agent_id = $3 and runs.id = chosen.id and state = 'completed'
         and not exists (
           select from run_turns u
           where u.agent_id = runs.agent_id and u.run_id = runs.id and not exists (
             select from traces t where t.agent_id = u.agent_id and t.id = u.trace_id and t.content is distinct from 'forgotten'
           )
         )
       returning runs.id, agent_id as "agentId", launch_id as "launchId",
         array(
         select u.trace_id from run_turns u
         where u.agent_id = runs.agent_id and u.run_id = runs.id and u.trace_id is not null
       ) as "traceIds"`,
      [asked.map(({ id }) => id), deadlineMs, agentId],
    );
    return rows;
  });
}

async function ending(
  db: Database,
  run: ManualRun,
  end: (client: pg.PoolClient) => Promise<pg.QueryResult>,
): Promise<boolean> {
  return transaction(await placeOf(db, run.agentId), async client => {
    const { rowCount } = await end(client);
    if (rowCount === 0) return false;
    await settleLaunches(client, [run.launchId]);
    return true;
  });
}
