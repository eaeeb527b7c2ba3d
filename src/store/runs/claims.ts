// The job queue of passive runs: claims due runs under a lease, extends leases, gives runs back, stores results.
import type pg from "pg";
import type { Reason } from "../../model/run/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { RunCause, RunState } from "../../model/run/run.ts";
import { addTestResults } from "../alerts/test-states.ts";
import { type Database, transaction } from "../db.ts";
import { closeOutages } from "../judge/outages.ts";
import { multiRow } from "../multi-row.ts";
import { claimAcross, placesByNext } from "../scale/claims.ts";
import { availablePartsOfRows, partsOfRows, placeOfRow } from "../scale/places.ts";
import { hasAgentIndexes } from "./agent-indexes.ts";
import { countsItself, findTestChanges } from "./asked-for.ts";
import { claimDue, claimedColumns, claimPastFull, nextDue, nextPastFull } from "./claim-statements.ts";
import type { EncodedRun, Outcomes } from "./completed-run.ts";
import { leasedBy } from "./of-traces.ts";
import { firstEntry, type QueueStarts } from "./queue-starts.ts";
import { findReplacements, lockTracesOf } from "./replacements.ts";
import { addResultValues, outcomesOf, versionsOf } from "./result-values.ts";
import { addRollups } from "./rollups.ts";
import { dropSameRevision } from "./same-revision.ts";

export type ClaimedRun = {
  id: string;
  traceId: string;
  agentId: string;
  accountId: string;
  /** How often this run was started, including this time. */
  attempts: number;
  /** Failed attempts to ask the judge, and the time left to wait for it; `judgeLeftMs` is null before the first. */
  judgeTries: number;
  judgeLeftMs: number | null;
  /** The partial results and tests of a run that waited for the judge; null for a new run. */
  detail: Buffer | null;
};

/** After this many crashes of a worker, a run becomes an error, so that it no longer blocks the queue. */
export const attemptsMax = 3;

const workerDied: Reason = { code: "worker_died", data: { attempts: attemptsMax } };

export type Claim = {
  runs: ClaimedRun[];
  /** Runs that just ended as errors because too many workers crashed on them. */
  ended: ClaimedRun[];
};

type Skipped = {
  inHand?: string[];
  fullAgents?: string[];
  /** Where to begin reading. By default at the first entry. */
  starts?: QueueStarts;
};

export type DueRuns = Skipped & { lease: string; leaseMs: number; runsMax: number; resumedMax?: number };

/**
 * Claims up to `runsMax` due runs for `leaseMs`, by the database's clock. Up to `resumedMax` of them, at most half, are
 * runs that waited for the judge. A run whose worker crashed is claimed alone, so that a trace that crashes its worker
 * affects no other run. Skips `inHand`, the caller's own runs, whose leases may have expired while the database was
 * unavailable, and further runs of `fullAgents`.
 */
export async function claimRuns(db: Database, due: DueRuns): Promise<Claim> {
  const skips = await skipsBacklogs(db, due);
  if (!db.places) return claimIn(db, due, skips);
  return claimAcross(db, due, {
    claim: (place, part) => claimIn(place, part, skips),
    ...(skips && { nextDueMs: place => nextDueIn(place, due, true) }),
  });
}

/** Whether backlogs of agents at their limit are skipped, and not read. */
async function skipsBacklogs(db: Database, { fullAgents = [] }: Skipped): Promise<boolean> {
  return fullAgents.length > 0 && (await hasAgentIndexes(db));
}

async function claimIn(
  db: Database,
  { lease, leaseMs, runsMax, resumedMax = runsMax, inHand = [], fullAgents = [], starts }: DueRuns,
  skips: boolean,
): Promise<Claim> {
  const from = (await starts?.of(db)) ?? firstEntry;
  const abandoned = await db.pool.query<ClaimedRun & { state: RunState }>({
    name: "claim_abandoned",
    text: `with abandoned as (
        select id from runs where kind <> 'manual' and lease_until < now() and lease_until >= $6::timestamptz
          and id <> all ($4::uuid[])
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
    values: [lease, leaseMs, attemptsMax, inHand, reasonText(workerDied), from.lease],
  });
  const retried = abandoned.rows.filter(run => run.state === "running");
  const ended = abandoned.rows.filter(run => run.state === "error");
  if (retried.length > 0) return { runs: retried, ended };
  const { rows } = await db.pool.query<ClaimedRun>({
    ...(skips ? claimPastFull : claimDue),
    values: [lease, leaseMs, runsMax, Math.max(resumedMax, 0), inHand, fullAgents, from.due, from.waiting],
  });
  return { runs: rows, ended };
}

/**
 * The ms until a run is due, a lease expires or, unless `resumes` is false, a waiting run continues; without `inHand`
 * and, but for expired leases, runs of `fullAgents`. Undefined if nothing is scheduled.
 */
export async function nextDueMs(
  db: Database,
  due: Skipped & { resumes?: boolean } = {},
): Promise<number | undefined> {
  const skips = await skipsBacklogs(db, due);
  if (!db.places || !skips) return nextDueIn(db, due, skips);
  const [first] = await placesByNext(db, place => nextDueIn(place, due, skips));
  return first?.ms;
}

async function nextDueIn(
  db: Database,
  { inHand = [], fullAgents = [], resumes = true, starts }: Skipped & { resumes?: boolean },
  skips: boolean,
): Promise<number | undefined> {
  const from = (await starts?.of(db)) ?? firstEntry;
  const { rows } = await db.pool.query<{ ms: number | null }>({
    ...(skips ? nextPastFull : nextDue),
    values: [inHand, resumes, fullAgents, from.due, from.waiting, from.lease],
  });
  return rows[0]?.ms ?? undefined;
}

/** Extends the leases of those runs that are still leased by this worker. */
export async function extendLeases(
  db: Database,
  { lease, leaseMs, runIds }: { lease: string; leaseMs: number; runIds: string[] },
): Promise<void> {
  // Those at a worker of a cluster that is unavailable keep theirs, which nobody else can take over there either.
  const { parts } = await availablePartsOfRows(db, "runs", runIds);
  for (const [place, ids] of parts) {
    await place.pool.query(
      `update runs set lease_until = now() + $2::float8 * interval '1 ms'
        where id = any ($3::uuid[]) and ${leasedBy("$1")}`,
      [lease, leaseMs, ids],
    );
  }
}

/** Gives runs back as if they had not been started: any worker may claim them immediately. */
export async function giveBackRuns(
  db: Database,
  { lease, runIds }: { lease: string; runIds: string[] },
): Promise<void> {
  for (const [place, ids] of await partsOfRows(db, "runs", runIds)) {
    await place.pool.query(
      `update runs set lease_until = now() - interval '1 ms', attempts = attempts - 1
        where id = any ($2::uuid[]) and ${leasedBy("$1")}`,
      [lease, ids],
    );
  }
}

/**
 * Stores the results of runs that are still leased by this worker, and returns their ids. Runs that another worker took
 * over, or whose trace was deleted, are neither changed nor counted; one whose revision was evaluated before is deleted.
 */
export async function completeRuns(
  db: Database,
  lease: string,
  completed: EncodedRun[],
): Promise<Set<string>> {
  const byId = new Map(completed.map(run => [run.id, run]));
  const kept = new Set<string>();
  for (const [place, ids] of await partsOfRows(db, "runs", [...byId.keys()])) {
    const part = ids.map(id => byId.get(id)!);
    for (const id of await completeIn(place, lease, part)) kept.add(id);
  }
  return kept;
}

async function completeIn(db: Database, lease: string, completed: EncodedRun[]): Promise<string[]> {
  const byId = new Map(completed.map(run => [run.id, run]));
  return transaction(db, async client => {
    await lockTracesOf(client, [...byId.keys()]);
    const kept = await withoutSameRevision(client, await storeResults(client, lease, completed));
    if (kept.some(run => run.outageBefore || byId.get(run.id)!.outage)) await closeOutages(client, kept);
    if (kept.length > 0) {
      const replacements = await findReplacements(client, kept);
      const placed = kept.map(run => ({ ...run, ...replacements.get(run.id)! }));
      const changes = await findTestChanges(
        client,
        placed.filter(({ hasOthers }) => hasOthers),
      );
      const stored = placed.map(run => ({
        ...{ ...byId.get(run.id)!, ...run },
        ...(changes.get(run.id) ?? countsItself),
      }));
      await addResultValues(
        client,
        stored.map(run => ({ ...run, traceIds: [run.traceId] })),
      );
      await addRollups(client, stored);
      await addTestResults(
        client,
        stored.filter(({ cause }) => cause === "traffic"),
      );
    }
    return kept.map(run => run.id);
  });
}

async function withoutSameRevision(client: pg.PoolClient, stored: Kept[]): Promise<Kept[]> {
  const repeated = stored.filter(({ hasOthers }) => hasOthers);
  if (repeated.length === 0) return stored;
  const dropped = await dropSameRevision(client, repeated);
  return stored.filter(({ id }) => !dropped.has(id));
}

type Kept = {
  id: string;
  traceId: string;
  agentId: string;
  /** Runs that were asked for again do not count toward the state of a test. */
  cause: RunCause;
  /** The hours in which the run was created and its trace was received. */
  hour: Date;
  traceHour: Date;
  /** Whether the trace has other runs. */
  hasOthers: boolean;
  /** Whether an earlier run of the trace had skipped checks because the judge was unavailable. */
  outageBefore: boolean;
};

const results = multiRow<EncodedRun>(2, {
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
  failed_ids: ["text", run => failedTestIds(run.verdict).join(" ")],
  test_outcomes: ["text", run => outcomesOf(run.verdict)],
  test_versions: ["text", run => versionsOf(run.verdict).join(" ")],
  outage: ["bool", run => run.outage],
  detail: ["bytes", run => run.detail],
});

function failedTestIds({ results }: Outcomes): string[] {
  return results.filter(({ outcome }) => outcome === "failed").map(({ testId }) => testId);
}

/** The runs whose results were stored. */
async function storeResults(client: pg.PoolClient, lease: string, completed: EncodedRun[]): Promise<Kept[]> {
  const { rows } = await client.query<Kept>({
    name: "complete_runs",
    text: `update runs set state = 'completed', finished_at = now(), lease = null, lease_until = null,
        revision = item.revision, routing = item.routing, verdict = item.verdict, score = item.score,
        passed = item.passed, failed = item.failed, skipped = item.skipped,
        missing_instrumentation = item.missing,
        test_ids = string_to_array(nullif(item.test_ids, ''), ' ')::uuid[],
        failed_test_ids = string_to_array(item.failed_ids, ' ')::uuid[],
        test_outcomes = item.test_outcomes, test_versions = string_to_array(item.test_versions, ' ')::int[],
        detail = ${results.bytes("detail")}, outage_open = item.outage
      from ${results.from}
      where runs.id = item.id and ${leasedBy("$1")}
      returning runs.id, runs.trace_id as "traceId", runs.agent_id as "agentId", runs.cause,
        date_trunc('hour', runs.created_at, 'UTC') as hour,
        date_trunc('hour', (select received_at from traces where id = runs.trace_id), 'UTC') as "traceHour",
        (
          select true from runs other where other.trace_id = runs.trace_id and other.id <> runs.id limit 1
        ) is not null as "hasOthers",
        (
          select true from runs earlier
          where earlier.agent_id = runs.agent_id and earlier.trace_id = runs.trace_id and earlier.outage_open limit 1
        ) is not null as "outageBefore"`,
    values: [lease, ...results.values(completed)],
  });
  return rows;
}

/** Ends a run that could not be evaluated; false if it is not leased by this worker any more. */
export async function failRun(
  db: Database,
  { lease, runId, error }: { lease: string; runId: string; error: Reason },
): Promise<boolean> {
  const { rowCount } = await (await placeOfRow(db, "runs", runId)).pool.query(
    `update runs set state = 'error', finished_at = now(), error = $3, lease = null, lease_until = null, detail = null
      where id = $2 and ${leasedBy("$1")}`,
    [lease, runId, reasonText(error)],
  );
  return rowCount === 1;
}
