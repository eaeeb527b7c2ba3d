// Finds what a completed run replaces of what its trace counted before, so that the rollups count each trace once.

import type pg from "pg";
import { advisoryLockSeeds } from "../../model/advisory-locks.ts";
import type { Outcome } from "../../model/run/outcome.ts";
import type { Routing } from "../../model/run/run.ts";
import { countsOf, decodeDetail } from "./detail.ts";
import { opaque } from "./of-traces.ts";
import type { CountedRun } from "./rollups.ts";

/** `hasOthers`: whether the trace has other runs. */
type Completed = { id: string; traceId: string; hasOthers: boolean };

type Replacement = Pick<CountedRun, "isLatest" | "replaces">;

/**
 * Locks the traces of these runs until the transaction ends. Without, two runs of a trace that complete at the same time would
 * not see each other, and both would count: also one that was scheduled while the other's commit waited for a standby. Call it
 * before anything is read of other runs.
 */
export async function lockTracesOf(client: pg.PoolClient, runIds: string[]): Promise<void> {
  await client.query({
    name: "lock_traces_of_runs",
    text: `select pg_advisory_xact_lock(hashtextextended(trace_id::text, ${advisoryLockSeeds.tracesOfRuns})) from (
        select distinct trace_id from queue where id = any ($1::uuid[]) order by trace_id
      ) trace`,
    values: [runIds],
  });
}

/** By run: whether it is its trace's latest completed one, and what it replaces. Needs `lockTracesOf`. */
export async function findReplacements(
  client: pg.PoolClient,
  completed: Completed[],
): Promise<Map<string, Replacement>> {
  const found = new Map<string, Replacement>(
    completed.map(({ id }) => [id, { isLatest: true, replaces: null }]),
  );
  const repeated = completed.filter(({ hasOthers }) => hasOthers);
  if (repeated.length === 0) return found;
  const traceIds = [...new Set(repeated.map(({ traceId }) => traceId))];
  const { rows } = await client.query<Previous & { latestId: string }>({
    name: "find_replacements",
    text: `select latest.id as "latestId", previous.routing, previous.verdict,
        previous.fully_evaluated as "fullyEvaluated", previous.detail
      from unnest($1::uuid[]) as trace (id)
      cross join lateral (
        select id from runs where trace_id = trace.id and state = ${opaque("completed")} order by id desc limit 1
      ) latest
      left join lateral (
        select routing, verdict, fully_evaluated, detail from runs
        where trace_id = trace.id and state = ${opaque("completed")} and id <> all ($2::uuid[]) order by id desc limit 1
      ) previous on true`,
    values: [traceIds, repeated.map(({ id }) => id)],
  });
  const latest = new Map(rows.map(row => [row.latestId, row]));
  for (const { id } of repeated) {
    const row = latest.get(id);
    found.set(id, { isLatest: row !== undefined, replaces: row ? replacedBy(row) : null });
  }
  return found;
}

type Previous = {
  routing: Routing | null;
  verdict: Outcome | null;
  fullyEvaluated: boolean;
  detail: Buffer | null;
};

function replacedBy({ routing, verdict, fullyEvaluated, detail }: Previous): Replacement["replaces"] {
  const counts = countsOf(decodeDetail(detail));
  return routing && counts && { routing, verdict, fullyEvaluated, counts };
}
