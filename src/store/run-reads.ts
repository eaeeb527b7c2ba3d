// Reading runs back: one by its id, those of a trace, those that judged a test.
import type { Outcome, Routing, RunKind, RunState } from "../model/run.ts";
import type { Database } from "./db.ts";
import { clockSlackMs, hourMs, idAt, type Listing, timeOfId } from "./listing.ts";
import { type Look, type Patience, scan } from "./scan.ts";

export type RunRow = {
  id: string;
  traceId: string;
  agentId: string;
  kind: RunKind;
  state: RunState;
  dueAt: Date;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  attempts: number;
  /** The trace's revision that was judged. */
  revision: number | null;
  routing: Routing | null;
  verdict: Outcome | null;
  score: number | null;
  passed: number | null;
  failed: number | null;
  skipped: number | null;
  missing_instrumentation: number | null;
  test_ids: string[] | null;
  error: string | null;
};

export type RunWithDetail = RunRow & { detail: Buffer | null };

/** For a query over `runs r`. */
export const runColumns = `r.id, r.trace_id as "traceId", r.agent_id as "agentId", r.kind, r.state,
  r.due_at as "dueAt", r.created_at as "createdAt", r.started_at as "startedAt", r.finished_at as "finishedAt",
  r.attempts, r.revision, r.routing, r.verdict, r.score, r.passed, r.failed, r.skipped, r.missing_instrumentation,
  r.test_ids, r.error`;

export async function findRun(db: Database, id: string): Promise<RunWithDetail | undefined> {
  const { rows } = await db.pool.query<RunWithDetail>(
    `select ${runColumns}, r.detail from runs r where r.id = $1`,
    [id],
  );
  return rows[0];
}

/** Every run of a trace, newest first. */
export async function listRunsOfTrace(db: Database, traceId: string): Promise<RunWithDetail[]> {
  const { rows } = await db.pool.query<RunWithDetail>(
    `select ${runColumns}, r.detail from runs r where r.trace_id = $1 order by r.id desc`,
    [traceId],
  );
  return rows;
}

/**
 * The completed runs that hold a result of the test, newest first. Only hours in which the test was judged are looked
 * at. Fewer than were asked for do not mean that there are no more: those below `reach` have not been looked at.
 */
export async function listRunsOfTest(
  db: Database,
  test: { agentId: string; testId: string },
  listing: Listing,
  patience?: Patience,
): Promise<Look<RunWithDetail>> {
  return scan(listing, (within, stretch) => lookForRunsOfTest(db, test, within, stretch), patience);
}

async function lookForRunsOfTest(
  db: Database,
  { agentId, testId }: { agentId: string; testId: string },
  { before, rowsMax }: Listing,
  stretch: number,
): Promise<Look<RunWithDetail>> {
  const { rows: hours } = await db.pool.query<{ ms: number }>({
    name: "busy_hour_of_test",
    text: `select extract(epoch from hour)::float8 * 1000 as ms from test_hours
      where test_id = $1 and hour < to_timestamp($2::float8 / 1000) order by hour desc limit 1`,
    values: [testId, timeOfId(before) + clockSlackMs],
  });
  if (!hours[0]) return { rows: [], reach: null };
  const floor = idAt(hours[0].ms - clockSlackMs);
  const ceiling = idAt(hours[0].ms + hourMs + clockSlackMs);
  const { rows } = await db.pool.query<RunWithDetail & { reach: string | null }>({
    name: "runs_of_test",
    text: `with stretch as materialized (
        select id from runs
        where agent_id = $1 and state = 'completed' and id < $3 and id >= $4
        order by id desc offset $6::int - 1 limit 1
      ), page as (
        select ${runColumns}, r.detail from runs r
        where r.agent_id = $1 and r.state = 'completed' and $2::uuid = any (r.test_ids)
          and r.id < $3 and r.id >= coalesce((select id from stretch), $4::uuid)
        order by r.id desc limit $5
      )
      select (select id from stretch) as reach, page.* from (values (1)) as always left join page on true
      order by page.id desc`,
    values: [agentId, testId, ceiling < before ? ceiling : before, floor, rowsMax, stretch],
  });
  const found = rows.filter(row => row.id !== null).map(({ reach: _, ...row }) => row);
  // Where the hour is through, the next look begins below it.
  return { rows: found, reach: rows[0]!.reach ?? floor };
}
