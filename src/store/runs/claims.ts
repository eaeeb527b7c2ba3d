// The queue of runs: claims due passive runs under a lease, extends leases, gives runs back.

import type { Reason } from "../../model/run/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import { availablePartsOfRows, partsOfRows, placeOfRow } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import type { Claim, ClaimedRun, DueRuns, Skipped } from "./claim.ts";
import {
  claimAbandoned,
  claimDue,
  claimShares,
  lookForAgents,
  nextDue,
  nextPastFull,
} from "./claim-statements.ts";
import { ClaimTurns, type FoundAgent } from "./claim-turns.ts";
import { claimAcross, placesByNext } from "./claims-across.ts";
import { endedColumns } from "./of-traces.ts";
import { firstEntry, type Start } from "./queue-starts.ts";

/** After this many crashes of a worker, a run becomes an error, so that it no longer blocks the queue. */
export const attemptsMax = 3;

const workerDied: Reason = { code: "worker_died", data: { attempts: attemptsMax } };

/**
 * Claims up to `runsMax` due runs for `leaseMs`, by the database's clock, and by turns: of accounts, then of the agents of
 * each, then the runs that have waited longest. Up to `resumedMax` of them, at most half, are runs that waited for the judge. A run whose worker crashed is claimed alone, so that a trace that crashes its worker
 * affects no other run. Skips `inHand`, the caller's own runs, whose leases may have expired while the database was
 * unavailable, and further runs of `fullAgents`.
 */
export async function claimRuns(db: Database, due: DueRuns): Promise<Claim> {
  if (!db.places) return claimIn(db, due);
  const { turns = new ClaimTurns() } = due;
  return claimAcross(
    db,
    { ...due, turns },
    {
      claim: claimIn,
      ...(hasFullAgents(due) && { nextDueMs: place => nextDueIn(place, due) }),
    },
  );
}

/** Whether there are agents at their limit, whose backlogs are skipped, and not read. */
function hasFullAgents({ fullAgents = [] }: Skipped): boolean {
  return fullAgents.length > 0;
}

async function claimIn(db: Database, due: DueRuns): Promise<Claim> {
  const { lease, leaseMs, inHand = [], starts, turns = new ClaimTurns() } = due;
  const from = (await starts?.of(db)) ?? firstEntry;
  const { rows } = await db.pool.query<ClaimedRun>({
    ...claimAbandoned.passive,
    values: [lease, leaseMs, inHand, from.lease, 1],
  });
  const [abandoned] = rows;
  if (abandoned && abandoned.attempts <= attemptsMax) return { runs: [abandoned], ended: [] };
  const hasEnded = abandoned && (await failIn(db, { lease, runId: abandoned.id, error: workerDied }));
  return { runs: await takeDue(db, { ...due, turns }, from), ended: hasEnded ? [abandoned] : [] };
}

async function takeDue(
  db: Database,
  due: DueRuns & { turns: ClaimTurns },
  from: Start,
): Promise<ClaimedRun[]> {
  const { lease, leaseMs, runsMax, resumedMax = runsMax, inHand = [], fullAgents = [], turns } = due;
  const waitingMax = Math.max(0, Math.min(resumedMax, runsMax, Math.ceil((due.wholeMax ?? runsMax) / 2)));
  const mayBeMore = (runs: number, waited: number) => runs >= runsMax || (waited >= waitingMax && waited > 0);
  if (!turns.hasBacklog(db) && fullAgents.length === 0) {
    const { rows } = await db.pool.query<ClaimedRun>({
      ...claimDue.passive,
      values: [lease, leaseMs, runsMax, waitingMax, inHand, from.due, from.waiting],
    });
    turns.note(db, rows, 0);
    turns.setBacklog(db, mayBeMore(rows.length, rows.filter(({ waited }) => waited).length));
    return rows;
  }
  for (;;) {
    const isKnown = turns.knows(db, runsMax);
    if (!isKnown) {
      const values = [inHand, fullAgents, turns.after(db), from.due, from.waiting];
      turns.found(db, (await db.pool.query<FoundAgent>({ ...lookForAgents, values })).rows);
    }
    const { waiting, due: pending } = turns.take(db, runsMax, waitingMax, fullAgents);
    const waited = sum(waiting);
    const asked = waited + sum(pending);
    if (asked === 0 && !isKnown && !turns.isThrough(db)) continue;
    turns.setBacklog(db, mayBeMore(asked, waited));
    if (asked === 0) return [];
    const shares = [
      ...[[...waiting.keys()], [...waiting.values()], from.waiting],
      ...[[...pending.keys()], [...pending.values()], from.due],
    ];
    const { rows } = await db.pool.query<ClaimedRun>({
      ...claimShares.passive,
      values: [lease, leaseMs, inHand, ...shares],
    });
    turns.note(db, rows, asked);
    return rows;
  }
}

function sum(counts: Map<string, number>): number {
  return counts.values().reduce((all, count) => all + count, 0);
}

/**
 * The ms until a run is due, a lease expires or, unless `resumes` is false, a waiting run continues; without `inHand`
 * and, but for expired leases, runs of `fullAgents`. Undefined if nothing is scheduled.
 */
export async function nextDueMs(
  db: Database,
  due: Skipped & { resumes?: boolean } = {},
): Promise<number | undefined> {
  if (!db.places || !hasFullAgents(due)) return nextDueIn(db, due);
  const [first] = await placesByNext(db, place => nextDueIn(place, due));
  return first?.ms;
}

async function nextDueIn(db: Database, due: Skipped & { resumes?: boolean }): Promise<number | undefined> {
  const { inHand = [], fullAgents = [], resumes = true, starts } = due;
  const from = (await starts?.of(db)) ?? firstEntry;
  const { rows } = await db.pool.query<{ ms: number | null }>({
    ...(hasFullAgents(due) ? nextPastFull : nextDue),
    values: [inHand, resumes, fullAgents, from.due, from.waiting, from.lease],
  });
  return rows[0]?.ms ?? undefined;
}

/**
 * Extends the leases of these runs. Returns those to stop: another worker has them, or they are manual ones whose launch was
 * cancelled.
 */
export async function extendLeases(
  db: Database,
  { lease, leaseMs, runIds }: { lease: string; leaseMs: number; runIds: string[] },
): Promise<Set<string>> {
  // Those at a worker of a cluster that is unavailable are neither cancelled nor taken over there.
  const { parts, unknown } = await availablePartsOfRows(db, "queue", runIds);
  const kept = new Set(unknown);
  for (const [place, ids] of parts) {
    const { rows } = await place.pool.query<{ id: string }>({
      name: "extend_leases",
      text: `update queue set lease_until = now() + $2::float8 * interval '1 ms'
        where id = any ($3::uuid[]) and lease = $1 and (cause = 'again' or (
          select cancel_requested_at from launches l where l.agent_id = queue.agent_id and l.id = queue.launch_id
        ) is null)
        returning id`,
      values: [lease, leaseMs, ids],
    });
    for (const { id } of rows) kept.add(id);
  }
  return new Set(runIds.filter(id => !kept.has(id)));
}

/** Gives runs back as if they had not been started: any worker may claim them immediately. */
export async function giveBackRuns(
  db: Database,
  { lease, runIds }: { lease: string; runIds: string[] },
): Promise<void> {
  for (const [place, ids] of await partsOfRows(db, "queue", runIds)) {
    await place.pool.query(
      `update queue set lease_until = now() - interval '1 ms', attempts = attempts - 1
        where id = any ($2::uuid[]) and lease = $1`,
      [lease, ids],
    );
  }
}

/** Ends a run that could not be evaluated; false if it is not leased by this worker any more. */
export async function failRun(db: Database, failed: Failed): Promise<boolean> {
  return failIn(await placeOfRow(db, "queue", failed.runId), failed);
}

type Failed = { lease: string; runId: string; error: Reason };

async function failIn(db: Database, { lease, runId, error }: Failed): Promise<boolean> {
  const { rowCount } = await db.pool.query(
    `with failed as (delete from queue where id = $2 and lease = $1 returning *)
      insert into runs (${endedColumns}, trace_id, cause, attempts, state, finished_at, error)
      select ${endedColumns}, trace_id, cause, least(attempts, ${attemptsMax}), 'error', now(), $3 from failed`,
    [lease, runId, reasonText(error)],
  );
  return rowCount === 1;
}
