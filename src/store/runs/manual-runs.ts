// Writes the progress of a leased manual run: its turns before they are sent, its wait for the judge, and its end.

import type pg from "pg";
import { type ReadBy, readByOf } from "../../model/agent/read-by.ts";
import { Refusal } from "../../model/refusal.ts";
import type { RunTurn } from "../../model/run/launch.ts";
import type { Reason } from "../../model/run/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { Verdict } from "../../model/run/run.ts";
import { storable } from "../../model/trace/storable.ts";
import { placeOf } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { attemptsMax } from "./claims.ts";
import { failedTestIds } from "./complete.ts";
import { detailOf, encodeDetail } from "./detail.ts";
import { settleLaunches } from "./launches.ts";
import type { EndedManualRun, ManualRun } from "./manual-claims.ts";
import { endedColumns } from "./of-traces.ts";
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
      `update queue set sent_at = coalesce(sent_at, now()) from launches l
       where queue.id = $1 and queue.lease = $2
         and l.agent_id = queue.agent_id and l.id = queue.launch_id and l.cancel_requested_at is null`,
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
    `update queue set judge_deadline_at = now() + $3::float8 * interval '1 ms', detail = $4
     where id = $1 and lease = $2`,
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
       select from launches where agent_id = $7 and id = $6 and (
         cancel_requested_at is null or exists (select from queue q where q.id = $1 and q.agent_id = $7 and q.cause = 'again')
       ) for share
     )
     update queue set waiting_reason = $3, next_try_at = now() + $4::float8 * interval '1 ms',
       judge_tries = judge_tries + $5::bool::int, lease = null, lease_until = null, attempts = 0
     from launch where queue.agent_id = $7 and queue.id = $1 and queue.lease = $2`,
    [run.id, lease, storable(reason), nextTryMs, tried, run.launchId, run.agentId],
  );
  return rowCount === 1;
}

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
      `with ended as (delete from queue where id = $1 and lease = $2 returning *)
       insert into runs (${endedColumns}, attempts, state, finished_at, ${resultColumns.join(", ")})
       select ${endedColumns}, attempts, 'completed', now(), ${resultColumns.map((_, at) => `$${at + 3}`).join(", ")} from ended
       on conflict (id, agent_id) do update set attempts = excluded.attempts,
         ${resultColumns.map(name => `${name} = excluded.${name}`).join(", ")}`,
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
    const { rowCount } = await client.query(
      `update queue set attempts = least(attempts, ${attemptsMax}) where id = $1 and lease = $2`,
      [run.id, lease],
    );
    if (rowCount === 0) return undefined;
    await client.query("select end_runs(array[$1::uuid], $2)", [run.id, reasonText(error)]);
    const { rows } = await client.query<EndedManualRun>(
      `select id, agent_id as "agentId", launch_id as "launchId", state from runs where id = $1`,
      [run.id],
    );
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
      `update queue set state = case when judge_deadline_at is null then 'pending' else 'running' end,
         started_at = case when judge_deadline_at is not null then started_at end,
         next_try_at = case when judge_deadline_at is not null then now() end,
         lease = null, lease_until = null, attempts = attempts - 1
       from launches l
       where queue.id = $1 and queue.lease = $2 and (queue.sent_at is null or queue.judge_deadline_at is not null)
         and l.agent_id = queue.agent_id and l.id = queue.launch_id
         and (l.cancel_requested_at is null or queue.cause = 'again')`,
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
         select * from runs r where agent_id = $3 and id = any ($1::uuid[]) and (outage_open or ${changedTrace})
         order by id for update
       )
       insert into queue (id, agent_id, kind, trace_id, state, cause, due_at, created_at, launch_id, test_id, test_digest,
         test_row, test_repeat, input_digest, started_at, next_try_at, judge_deadline_at)
       select id, agent_id, kind, trace_id, 'running', 'again', due_at, created_at, launch_id, test_id, test_digest,
         test_row, test_repeat, input_digest, started_at, now(), now() + $2::float8 * interval '1 ms'
       from chosen where state = 'completed' and not exists (
         select from run_turns u
         where u.agent_id = chosen.agent_id and u.run_id = chosen.id and not exists (
           select from traces t where t.agent_id = u.agent_id and t.id = u.trace_id and t.content is distinct from 'forgotten'
         )
       )
       on conflict do nothing
       returning id, agent_id as "agentId", launch_id as "launchId",
         array(
         select u.trace_id from run_turns u
         where u.agent_id = queue.agent_id and u.run_id = queue.id and u.trace_id is not null
       ) as "traceIds"`,
      [asked.map(({ id }) => id), deadlineMs, agentId],
    );
    return rows;
  });
}

const resultColumns = [
  ...[
    "trace_id",
    "revision",
    "routing",
    "verdict",
    "score",
    "passed",
    "failed",
    "skipped",
    "missing_instrumentation",
  ],
  ...[
    "test_ids",
    "detail",
    "outage_open",
    "test_outcomes",
    "test_versions",
    "failed_test_ids",
    "fully_evaluated",
  ],
];

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
