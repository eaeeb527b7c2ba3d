// Runs that wait for the judge: what is known of them is kept, nobody holds them, and they say when they go on.

import type { Verdict } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/test-case.ts";
import { storable } from "../../model/trace/columns.ts";
import type { Database } from "../db.ts";
import { multiRow } from "../multi-row.ts";
import { encodeDetail } from "./detail.ts";

export type PartlyJudged = {
  id: string;
  verdict: Pick<Verdict, "results" | "tests">;
  /** The tests by which it goes on. */
  plan: TestCase[];
  /** How long the judge is still waited for; counts where the run has no deadline yet. */
  leftMs: number;
  /** Absent: its worker still holds it. `tried`: whether the judge was asked in vain. */
  wait?: { nextTryMs: number; reason: string; tried: boolean } | undefined;
};

const items = multiRow<PartlyJudged>(2, {
  id: ["uuid", run => run.id],
  left_ms: ["float8", run => run.leftMs],
  next_try_ms: ["float8", run => run.wait?.nextTryMs ?? null],
  reason: ["text", run => (run.wait ? storable(run.wait.reason) : null)],
  tried: ["bool", run => run.wait?.tried ?? false],
  detail: ["bytes", ({ verdict: { results, tests }, plan }) => encodeDetail({ results, tests, plan })],
});

/**
 * Keeps what is known of runs whose lease is this worker's, and answers with the ids of those. One that waits loses
 * its lease, and what it cost before: whoever claims it then begins the first time.
 */
export async function keepPartly(db: Database, lease: string, partly: PartlyJudged[]): Promise<Set<string>> {
  const { rows } = await db.pool.query<{ id: string }>({
    name: "keep_partly",
    text: `update runs set detail = ${items.bytes("detail")},
        judge_deadline_at = coalesce(judge_deadline_at, now() + item.left_ms * interval '1 ms'),
        judge_tries = judge_tries + item.tried::int, waiting_reason = item.reason,
        next_try_at = now() + item.next_try_ms * interval '1 ms',
        lease = case when item.next_try_ms is null then lease end,
        lease_until = case when item.next_try_ms is null then lease_until end,
        attempts = case when item.next_try_ms is null then attempts else 0 end
      from ${items.from}
      where runs.id = item.id and runs.lease = $1 and runs.state = 'running'
      returning runs.id`,
    values: [lease, ...items.values(partly)],
  });
  return new Set(rows.map(row => row.id));
}

/**
 * Another judge may answer what the project's runs wait for: none of them waits longer than `withinMs`. Those that
 * somebody is just claiming, or that go with their trace, are left to whoever is at them.
 */
export async function hastenWaiting(db: Database, projectId: string, withinMs: number): Promise<void> {
  await db.pool.query(
    `with hastened as (
        select r.id from runs r join agents a on a.id = r.agent_id
        where a.project_id = $1 and r.next_try_at > now() + $2::float8 * interval '1 ms'
        order by r.id for update of r skip locked
      )
      update runs set next_try_at = now() + $2::float8 * interval '1 ms'
      from hastened where runs.id = hastened.id`,
    [projectId, withinMs],
  );
}

/** How many runs wait for the judge, of all agents. */
export async function countWaiting(db: Database): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>({
    name: "count_waiting",
    text: `select count(*)::int as count from runs
      where next_try_at is not null and kind <> 'manual'`,
  });
  return rows[0]!.count;
}
