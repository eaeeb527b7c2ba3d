// The run is the job: claiming due runs under a lease, giving them back, and keeping what they found.
import type pg from "pg";
import { type Reason, reasonText } from "../../model/run/reason.ts";
import type { RunState, Verdict } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/test-case.ts";
import { type Database, transaction } from "../db.ts";
import { closeOutages } from "../judge/outages.ts";
import { multiRow } from "../multi-row.ts";
import { encodeDetail } from "./detail.ts";
import { addRollups, type CountedRun } from "./rollups.ts";

export type ClaimedRun = {
  id: string;
  traceId: string;
  agentId: string;
  /** How often this run has been begun, this time included. */
  attempts: number;
  /** How often the judge was asked in vain, and for how long it is still waited for; null before it was first asked. */
  judgeTries: number;
  judgeLeftMs: number | null;
  /** What was known when it was put away, with the plan by which it goes on; null for one that begins. */
  detail: Buffer | null;
};

const claimedColumns = `runs.id, trace_id as "traceId", agent_id as "agentId", attempts, judge_tries as "judgeTries",
  extract(epoch from judge_deadline_at - now())::float8 * 1000 as "judgeLeftMs", detail`;

/** After this many beginnings that ended with the worker's death, a run becomes an error and blocks nobody. */
export const attemptsMax = 3;

const workerDied: Reason = { code: "worker_died", data: { attempts: attemptsMax } };

export type Claim = {
  runs: ClaimedRun[];
  /** Ended as an error just now, because too many workers crashed on them. */
  ended: ClaimedRun[];
};

// Passive runs alone. Said as "not manual", and of those that wait or are held without their state, so that only the
// index in the order asked for fits: others bring in a sort of all that is due, or a look at all that waits.

/**
 * Claims up to `runsMax` due runs for `leaseMs`. Fresh runs come together, and among them up to `resumedMax` of those
 * that waited for the judge, at most half; a run that some worker died with comes alone, so that a trace that kills its
 * worker takes no other along. By the database's clock. Those `inHand` are not claimed again by the worker
 * that is at them, though their lease ran out while the database was away.
 */
export async function claimRuns(
  db: Database,
  {
    lease,
    leaseMs,
    runsMax,
    resumedMax = runsMax,
    inHand = [],
  }: { lease: string; leaseMs: number; runsMax: number; resumedMax?: number; inHand?: string[] },
): Promise<Claim> {
  const abandoned = await db.pool.query<ClaimedRun & { state: RunState }>({
    name: "claim_abandoned",
    text: `with abandoned as (
        select id from runs where kind <> 'manual' and lease_until < now() and id <> all ($4::uuid[])
        order by lease_until limit 1 for update skip locked
      )
      update runs set
        state = case when attempts >= $3 then 'error' else 'running' end,
        error = case when attempts >= $3 then $5 end,
        finished_at = case when attempts >= $3 then now() end,
        detail = case when attempts < $3 then detail end,
        lease = case when attempts < $3 then $1::uuid end,
        lease_until = case when attempts < $3 then now() + $2::float8 * interval '1 ms' end,
        attempts = attempts + case when attempts >= $3 then 0 else 1 end
      from abandoned where runs.id = abandoned.id
      returning ${claimedColumns}, state`,
    values: [lease, leaseMs, attemptsMax, inHand, reasonText(workerDied)],
  });
  const retried = abandoned.rows.filter(run => run.state === "running");
  const ended = abandoned.rows.filter(run => run.state === "error");
  if (retried.length > 0) return { runs: retried, ended };
  const { rows } = await db.pool.query<ClaimedRun>({
    name: "claim_due",
    text: `with waiting as (
        select id from runs where kind <> 'manual' and next_try_at <= now() and id <> all ($5::uuid[])
        order by next_try_at limit least($4::int, ($3::int + 1) / 2) for update skip locked
      ), due as (
        select id from runs where kind <> 'manual' and state = 'pending' and due_at <= now()
        order by due_at limit $3::int - (select count(*) from waiting) for update skip locked
      )
      update runs set state = 'running', lease = $1, lease_until = now() + $2::float8 * interval '1 ms',
        attempts = attempts + 1, started_at = coalesce(started_at, now()), next_try_at = null, waiting_reason = null
      from (select id from waiting union all select id from due) as claimed where runs.id = claimed.id
      returning ${claimedColumns}`,
    values: [lease, leaseMs, runsMax, Math.max(resumedMax, 0), inHand],
  });
  return { runs: rows, ended };
}

/**
 * How long until a run is due, a lease ends or, unless `resumes` is false, a run that waits is to be gone on with;
 * `inHand` left out. In ms; undefined when none is scheduled.
 */
export async function nextDueMs(
  db: Database,
  { inHand = [], resumes = true }: { inHand?: string[]; resumes?: boolean } = {},
): Promise<number | undefined> {
  const { rows } = await db.pool.query<{ ms: number | null }>({
    name: "next_due",
    text: `select extract(epoch from least(
        (select min(due_at) from runs where kind <> 'manual' and state = 'pending'),
        (select min(lease_until) from runs where kind <> 'manual' and id <> all ($1::uuid[])),
        (select min(next_try_at) from runs where kind <> 'manual' and next_try_at is not null and $2::bool
          and id <> all ($1::uuid[]))
      ) - now())::float8 * 1000 as ms`,
    values: [inHand, resumes],
  });
  return rows[0]?.ms ?? undefined;
}

/** Prolongs the lease of those runs that are still this worker's. */
export async function extendLeases(
  db: Database,
  { lease, leaseMs, runIds }: { lease: string; leaseMs: number; runIds: string[] },
): Promise<void> {
  await db.pool.query(
    `update runs set lease_until = now() + $2::float8 * interval '1 ms'
      where id = any ($3::uuid[]) and lease = $1 and state = 'running'`,
    [lease, leaseMs, runIds],
  );
}

/** Gives runs back unjudged, as if they had not been begun: any worker may claim them at once. */
export async function giveBackRuns(
  db: Database,
  { lease, runIds }: { lease: string; runIds: string[] },
): Promise<void> {
  await db.pool.query(
    `update runs set lease_until = now() - interval '1 ms', attempts = attempts - 1
      where id = any ($2::uuid[]) and lease = $1 and state = 'running'`,
    [lease, runIds],
  );
}

export type CompletedRun = {
  id: string;
  /** The trace's revision that was judged. */
  revision: number;
  verdict: Verdict;
  /** Whether an outage of the judge kept something from being judged; then `plan` is kept for judging again. */
  outage: boolean;
  /** The tests by which it was judged. */
  plan?: TestCase[];
} & Pick<CountedRun, "durationMs" | "tokens">;

/**
 * Keeps the results of runs whose lease is still this worker's, and answers with their ids. A run that was taken
 * over meanwhile, or whose trace was deleted, is left alone,
 * and is not counted.
 */
export async function completeRuns(
  db: Database,
  lease: string,
  completed: CompletedRun[],
): Promise<Set<string>> {
  const byId = new Map(completed.map(run => [run.id, run]));
  return transaction(db, async client => {
    const kept = await keepResults(client, lease, completed);
    if (kept.some(run => run.outageBefore || byId.get(run.id)!.outage)) await closeOutages(client, kept);
    if (kept.length > 0)
      await addRollups(
        client,
        kept.map(run => ({ ...byId.get(run.id)!, ...run })),
      );
    return new Set(kept.map(run => run.id));
  });
}

type Kept = {
  id: string;
  traceId: string;
  agentId: string;
  /** In which it was made. */
  hour: Date;
  /** Whether what an outage skipped on its trace was open until now. */
  outageBefore: boolean;
};

const results = multiRow<CompletedRun>(2, {
  id: ["uuid", run => run.id],
  revision: ["int", run => run.revision],
  routing: ["text", run => run.verdict.routing],
  verdict: ["text", run => run.verdict.verdict],
  score: ["float8", run => run.verdict.score],
  passed: ["int", run => run.verdict.counts.passed],
  failed: ["int", run => run.verdict.counts.failed],
  skipped: ["int", run => run.verdict.counts.skipped],
  missing: ["int", run => run.verdict.counts.missing_instrumentation],
  test_ids: ["text", run => run.verdict.results.map(result => result.testId).join(" ")],
  outage: ["bool", run => run.outage],
  detail: ["bytes", encodeResults],
});

function encodeResults({ verdict: { results, tests }, outage, plan }: CompletedRun): Buffer {
  return encodeDetail({ results, tests, ...(outage && plan ? { plan } : {}) });
}

/** Those whose results were kept. */
async function keepResults(client: pg.PoolClient, lease: string, completed: CompletedRun[]): Promise<Kept[]> {
  const { rows } = await client.query<Kept>({
    name: "complete_runs",
    text: `update runs set state = 'completed', finished_at = now(), lease = null, lease_until = null,
        revision = item.revision, routing = item.routing, verdict = item.verdict, score = item.score,
        passed = item.passed, failed = item.failed, skipped = item.skipped,
        missing_instrumentation = item.missing,
        test_ids = string_to_array(nullif(item.test_ids, ''), ' ')::uuid[],
        detail = ${results.bytes("detail")}, outage_open = item.outage
      from ${results.from}
      where runs.id = item.id and runs.lease = $1 and runs.state = 'running'
      returning runs.id, runs.trace_id as "traceId", runs.agent_id as "agentId",
        date_trunc('hour', runs.created_at, 'UTC') as hour,
        (
          select true from runs earlier
          where earlier.agent_id = runs.agent_id and earlier.trace_id = runs.trace_id and earlier.outage_open limit 1
        ) is not null as "outageBefore"`,
    values: [lease, ...results.values(completed)],
  });
  return rows;
}

/** Ends a run that could not be evaluated. */
export async function failRun(
  db: Database,
  { lease, runId, error }: { lease: string; runId: string; error: Reason },
): Promise<void> {
  await db.pool.query(
    `update runs set state = 'error', finished_at = now(), error = $3, lease = null, lease_until = null, detail = null
      where id = $2 and lease = $1 and state = 'running'`,
    [lease, runId, reasonText(error)],
  );
}
