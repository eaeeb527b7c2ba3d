// Finds whose results count by test and check: a run that was asked for counts in place of the trace's run before it.
import type pg from "pg";
import type { RunCause } from "../../model/run/run.ts";
import type { Outcomes } from "./completed-run.ts";
import { decodeDetail } from "./detail.ts";
import { nextCause, opaque } from "./of-traces.ts";

/** `isLatest`: whether no later run of the trace has completed. */
type Completed = { id: string; traceId: string; cause: RunCause; isLatest: boolean };

/** What a completed run changes in the counts by test and check. */
export type TestChanges = {
  /** Whether its own results count. */
  countsTests: boolean;
  /** The trace's run before it: -1 if that no longer counts, 1 if it counts again. Null: nothing changes for it. */
  before: { hour: Date; results: Outcomes["results"]; by: 1 | -1 } | null;
};

/** Of all runs but those that `findTestChanges` returns. */
export const countsItself: TestChanges = { countsTests: true, before: null };

/**
 * A run counts unless the trace's next completed run was asked for, in whatever order they complete: counts equal a recount of
 * the stored runs. `completed`: all runs of this transaction whose traces have other runs. Returns those of them that change
 * anything, by id. Needs `lockTracesOf`. Asks nothing for the usual further run, of a batch that came late.
 */
export async function findTestChanges(
  client: pg.PoolClient,
  completed: Completed[],
): Promise<Map<string, TestChanges>> {
  const runs = completed.filter(({ cause, isLatest }) => cause === "again" || !isLatest);
  if (runs.length === 0) return new Map();
  type Row = { id: string; counts: boolean; hour: Date | null; counted: boolean; detail: Buffer | null };
  const { rows } = await client.query<Row>({
    name: "find_test_changes",
    text: `select run.id, ${nextCause("run")} is distinct from 'again' as counts, before.hour, before.counted, before.detail
      from unnest($1::uuid[], $2::uuid[]) as run (id, trace_id)
      left join lateral (
        select id, date_trunc('hour', created_at, 'UTC') as hour, detail,
          ${nextCause("former", "next.id <> all ($3::uuid[])")} is distinct from 'again' as counted
        from runs former
        where trace_id = run.trace_id and id < run.id and kind = 'passive' and state = ${opaque("completed")}
        order by id desc limit 1
      ) before on before.id <> all ($3::uuid[])`,
    values: [runs.map(run => run.id), runs.map(run => run.traceId), completed.map(({ id }) => id)],
  });
  const causes = new Map(runs.map(({ id, cause }) => [id, cause]));
  const found = new Map<string, TestChanges>();
  for (const { id, counts, hour, counted, detail } of rows) {
    const stays = causes.get(id) !== "again";
    const { results } = decodeDetail(hour && counted !== stays ? detail : null);
    const before =
      hour && results.length > 0 ? { hour, results, by: stays ? (1 as const) : (-1 as const) } : null;
    found.set(id, { countsTests: counts, before });
  }
  return found;
}
