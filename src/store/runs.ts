// The run is the job: claiming due runs under a lease, giving them back, and keeping what they found.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type pg from "pg";
import type { Applicability, Result, RunState, Verdict } from "../model/run.ts";
import { type Database, transaction } from "./db.ts";
import { addRollups, type CountedRun } from "./rollups.ts";

export type ClaimedRun = {
  id: string;
  traceId: string;
  agentId: string;
  /** How often this run has been begun, this time included. */
  attempts: number;
};

/** After this many beginnings that ended with the worker's death, a run becomes an error and blocks nobody. */
export const attemptsMax = 3;

export type Claim = {
  runs: ClaimedRun[];
  /** Made an error just now, because it cost too many workers their lives. */
  ended: ClaimedRun[];
};

/**
 * Claims up to `runsMax` due runs for `leaseMs`. Fresh runs come together; a run that some worker died with comes
 * alone, so that a trace that kills its worker takes no other along. By the database's clock (F2, F4). Those
 * `inHand` are not claimed again by the worker that is at them, though their lease ran out while the database was
 * away.
 */
export async function claimRuns(
  db: Database,
  {
    lease,
    leaseMs,
    runsMax,
    inHand = [],
  }: { lease: string; leaseMs: number; runsMax: number; inHand?: string[] },
): Promise<Claim> {
  const abandoned = await db.pool.query<ClaimedRun & { state: RunState }>({
    name: "claim_abandoned",
    text: `with abandoned as (
        select id from runs where kind = 'passive' and state = 'running' and lease_until < now()
          and id <> all ($4::uuid[])
        order by lease_until limit 1 for update skip locked
      )
      update runs set
        state = case when attempts >= $3 then 'error' else 'running' end,
        error = case when attempts >= $3 then 'Its worker died ' || attempts || ' times while judging it.' end,
        finished_at = case when attempts >= $3 then now() end,
        lease = $1, lease_until = now() + $2::float8 * interval '1 ms',
        attempts = attempts + case when attempts >= $3 then 0 else 1 end
      from abandoned where runs.id = abandoned.id
      returning runs.id, trace_id as "traceId", agent_id as "agentId", attempts, state`,
    values: [lease, leaseMs, attemptsMax, inHand],
  });
  const retried = abandoned.rows.filter(run => run.state === "running");
  const ended = abandoned.rows.filter(run => run.state === "error");
  if (retried.length > 0) return { runs: retried, ended };
  const { rows } = await db.pool.query<ClaimedRun>({
    name: "claim_due",
    text: `with due as (
        select id from runs where kind = 'passive' and state = 'pending' and due_at <= now()
        order by due_at limit $3 for update skip locked
      )
      update runs set state = 'running', lease = $1, lease_until = now() + $2::float8 * interval '1 ms',
        attempts = attempts + 1, started_at = now()
      from due where runs.id = due.id
      returning runs.id, trace_id as "traceId", agent_id as "agentId", attempts`,
    values: [lease, leaseMs, runsMax],
  });
  return { runs: rows, ended };
}

/** How long until a run is due or a lease ends, `inHand` left out, in ms; undefined when none is scheduled. */
export async function nextDueMs(db: Database, inHand: string[] = []): Promise<number | undefined> {
  const { rows } = await db.pool.query<{ ms: number | null }>({
    name: "next_due",
    text: `select extract(epoch from least(
        (select min(due_at) from runs where kind = 'passive' and state = 'pending'),
        (select min(lease_until) from runs where kind = 'passive' and state = 'running' and id <> all ($1::uuid[]))
      ) - now())::float8 * 1000 as ms`,
    values: [inHand],
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
    if (kept.length > 0)
      await addRollups(
        client,
        kept.map(run => ({ ...byId.get(run.id)!, ...run })),
      );
    return new Set(kept.map(run => run.id));
  });
}

/** Those whose results were kept, each in the hour in which it was made. */
async function keepResults(
  client: pg.PoolClient,
  lease: string,
  completed: CompletedRun[],
): Promise<{ id: string; agentId: string; hour: Date }[]> {
  const details = completed.map(({ verdict }) =>
    encodeDetail({ results: verdict.results, tests: verdict.tests }),
  );
  const lengths = details.map(detail => detail.length);
  const places = lengths.map((_, index) => lengths.slice(0, index).reduce((sum, length) => sum + length, 1));
  const column = <T>(read: (run: CompletedRun) => T): T[] => completed.map(read);
  const { rows } = await client.query<{ id: string; agentId: string; hour: Date }>({
    name: "complete_runs",
    text: `update runs set state = 'completed', finished_at = now(), lease = null, lease_until = null,
        revision = item.revision, routing = item.routing, verdict = item.verdict, score = item.score,
        passed = item.passed, failed = item.failed, skipped = item.skipped,
        missing_instrumentation = item.missing,
        test_ids = string_to_array(nullif(item.test_ids, ''), ' ')::uuid[],
        detail = substring($13::bytea from item.detail_at for item.detail_length)
      from unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::float8[], $7::int[], $8::int[], $9::int[],
        $10::int[], $11::text[], $12::int[], $14::int[])
        as item (id, revision, routing, verdict, score, passed, failed, skipped, missing, test_ids, detail_at,
          detail_length)
      where runs.id = item.id and runs.lease = $1 and runs.state = 'running'
      returning runs.id, runs.agent_id as "agentId", date_trunc('hour', runs.created_at, 'UTC') as hour`,
    values: [
      lease,
      column(run => run.id),
      column(run => run.revision),
      column(run => run.verdict.routing),
      column(run => run.verdict.verdict),
      column(run => run.verdict.score),
      column(run => run.verdict.counts.passed),
      column(run => run.verdict.counts.failed),
      column(run => run.verdict.counts.skipped),
      column(run => run.verdict.counts.missing_instrumentation),
      column(run => run.verdict.results.map(result => result.testId).join(" ")),
      places,
      Buffer.concat(details),
      lengths,
    ],
  });
  return rows;
}

/** Ends a run that could not be judged for a fault of ours. */
export async function failRun(
  db: Database,
  { lease, runId, error }: { lease: string; runId: string; error: string },
): Promise<void> {
  await db.pool.query(
    `update runs set state = 'error', finished_at = now(), error = $3, lease = null, lease_until = null
      where id = $2 and lease = $1 and state = 'running'`,
    [lease, runId, error],
  );
}

type Detail = { results: Result[]; tests: Applicability[] };

export function encodeDetail(detail: Detail): Buffer {
  return zstdCompressSync(JSON.stringify(detail));
}

/** A run's results and the applicability of its agent's tests; both empty for a run that has not completed. */
export function decodeDetail(bytes: Buffer | null): Detail {
  return bytes ? JSON.parse(zstdDecompressSync(bytes).toString()) : { results: [], tests: [] };
}
