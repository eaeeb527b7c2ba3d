// Runs that wait for the judge: stores partial results and the time of the next attempt, and releases the lease.

import type { Verdict } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/document.ts";
import { storable } from "../../model/trace/storable.ts";
import { allPlaces, partsOfRows, placesFound } from "../cluster/routing.ts";
import { type Database, isTransient } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { lanes } from "./claim-statements.ts";
import { detailOf, encodeDetail } from "./detail.ts";

export type PartlyJudged = {
  id: string;
  verdict: Pick<Verdict, "results" | "tests" | "conventions" | "conventionRules" | "readFrom">;
  /** The tests to continue with. */
  plan: TestCase[];
  /** The time left to wait for the judge; ignored if the run already has a deadline. */
  leftMs: number;
  /** Absent: the worker keeps its lease. `tried`: whether an attempt to ask the judge failed. */
  wait?: { nextTryMs: number; reason: string; tried: boolean } | undefined;
};

const items = multiRow<PartlyJudged>(2, {
  id: ["uuid", run => run.id],
  left_ms: ["float8", run => run.leftMs],
  next_try_ms: ["float8", run => run.wait?.nextTryMs ?? null],
  reason: ["text", run => (run.wait ? storable(run.wait.reason) : null)],
  tried: ["bool", run => run.wait?.tried ?? false],
  detail: [
    "bytes",
    ({ verdict, plan }) =>
      encodeDetail({ ...detailOf(verdict, plan), conventions: verdict.conventions ?? [] }),
  ],
});

/**
 * Stores partial results of runs that are leased by this worker, and returns their ids. A run with `wait` loses its lease,
 * and its attempts start again from 0.
 */
export async function savePartial(db: Database, lease: string, partly: PartlyJudged[]): Promise<Set<string>> {
  const byId = new Map(partly.map(run => [run.id, run]));
  const saved = new Set<string>();
  for (const [place, ids] of await partsOfRows(db, "queue", [...byId.keys()])) {
    const part = ids.map(id => byId.get(id)!);
    for (const id of await saveIn(place, lease, part)) saved.add(id);
  }
  return saved;
}

async function saveIn(db: Database, lease: string, partly: PartlyJudged[]): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>({
    name: "keep_partly",
    text: `update queue set detail = ${items.bytes("detail")},
        judge_deadline_at = coalesce(judge_deadline_at, now() + item.left_ms * interval '1 ms'),
        judge_tries = judge_tries + item.tried::int, waiting_reason = item.reason,
        next_try_at = now() + item.next_try_ms * interval '1 ms',
        lease = case when item.next_try_ms is null then lease end,
        lease_until = case when item.next_try_ms is null then lease_until end,
        attempts = case when item.next_try_ms is null then attempts else 0 end
      from ${items.from}
      where queue.id = item.id and lease = $1
      returning queue.id`,
    values: [lease, ...items.values(partly)],
  });
  return rows.map(row => row.id);
}

/**
 * Lets the waiting runs of the project, or of all (null), retry within `withinMs`, for example because its judge changed. Skips rows that are
 * locked by a claim or a deletion. Those at a worker of a cluster that is unavailable keep their time.
 */
export async function retryWaitingSoon(
  db: Database,
  projectId: string | null,
  withinMs: number,
): Promise<void> {
  const values = [projectId, withinMs];
  const skipUnavailable = (error: unknown) => {
    if (!db.places || !isTransient(error)) throw error;
  };
  const later = `from queue q join agents a on a.id = q.agent_id
    where ($1::uuid is null or a.project_id = $1) and q.next_try_at > now() + $2::float8 * interval '1 ms'`;
  const found = placesFound(db, { text: `select distinct q.agent_id as "agentId" ${later}`, values });
  const places = (await found.catch(skipUnavailable)) ?? (await allPlaces(db));
  for (const place of places) {
    const hastened = place.pool.query(
      `with hastened as (select q.id ${later} order by q.id for update of q skip locked)
        update queue set next_try_at = now() + $2::float8 * interval '1 ms'
        from hastened where queue.id = hastened.id`,
      values,
    );
    await hastened.catch(skipUnavailable);
  }
}

/** How many runs of all agents wait for the judge. */
export async function countWaiting(db: Database): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>({
    name: "count_waiting",
    text: `select count(*)::int as count from queue where lane = '${lanes.waiting}'`,
  });
  return rows[0]!.count;
}
