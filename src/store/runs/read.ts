// Reads runs: by id, by trace, and by test.
import type { Outcome } from "../../model/run/outcome.ts";
import type { Routing, RunCause, RunKind, RunState } from "../../model/run/run.ts";
import { placeOf, placeOfRow } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { type JudgeUseSum, sumJudgeUse } from "../judge/calls.ts";
import { clockSlackMs, hourMs, idAt, type Listing, timeOfId } from "../listing.ts";
import { type Look, type SearchBudget, scan } from "../scan.ts";
import { allRuns, endedRuns } from "./all-runs.ts";
import { decodeDetail } from "./detail.ts";
import { nextCause, queuedOf } from "./of-traces.ts";
import { differingTurn } from "./turns.ts";

export type RunRow = {
  id: string;
  /** Null for a manual run whose trace does not exist yet. */
  traceId: string | null;
  agentId: string;
  kind: RunKind;
  /** Null for passive runs. */
  launchId: string | null;
  state: RunState;
  dueAt: Date;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  attempts: number;
  /** The evaluated revision of the trace. */
  revision: number | null;
  routing: Routing | null;
  verdict: Outcome | null;
  score: number | null;
  passed: number | null;
  failed: number | null;
  skipped: number | null;
  missing_instrumentation: number | null;
  test_ids: string[] | null;
  failedTestIds: string[] | null;
  error: string | null;
  cause: RunCause;
  /** Whether checks were skipped because the judge was unavailable, and no later run evaluated them. */
  outage: boolean;
  fullyEvaluated: boolean;
  /** While it waits for the judge: the time of the next attempt, the deadline, and the reason. */
  nextTryAt: Date | null;
  judgeDeadlineAt: Date | null;
  waitingReason: string | null;
};

/** `judging`: the usage of its judge calls; null if there were none. */
export type RunWithDetail = RunRow & { detail: Buffer | null; judging: JudgeUseSum | null };

type Row = Omit<RunWithDetail, "judging">;

/** For a query over `allRuns` as `r`. */
export const runColumns = `r.id, r.trace_id as "traceId", r.agent_id as "agentId", r.kind, r.launch_id as "launchId", r.state,
  r.due_at as "dueAt", r.created_at as "createdAt", r.started_at as "startedAt", r.finished_at as "finishedAt",
  r.attempts, r.revision, r.routing, r.verdict, r.score, r.passed, r.failed, r.skipped, r.missing_instrumentation,
  r.test_ids, r.failed_test_ids as "failedTestIds", r.error, r.cause, r.outage_open as outage, r.fully_evaluated as "fullyEvaluated",
  r.next_try_at as "nextTryAt",
  r.judge_deadline_at as "judgeDeadlineAt", r.waiting_reason as "waitingReason"`;

export async function findRun(db: Database, id: string): Promise<RunWithDetail | undefined> {
  const place = await placeOfRow(db, "runs", id);
  const { rows } = await place.pool.query<Row>({
    name: "find_run",
    text: `select ${runColumns}, r.detail from ${allRuns(row => `${row}.id = $1`)} r`,
    values: [id],
  });
  return (await withJudging(place, rows))[0];
}

/** `revision`: of this trace. `traceDiffers`: a manual run received another status or reply for it. */
export type RunOfTrace = RunWithDetail & { traceDiffers: boolean };

/** Every run of a trace, newest first, including manual runs in which the trace is one of several turns. */
export async function listRunsOfTrace(db: Database, traceId: string): Promise<RunOfTrace[]> {
  const place = await placeOfRow(db, "traces", traceId);
  const { rows } = await place.pool.query<Row & { ofTurn: number | null; traceDiffers: boolean }>({
    name: "list_runs_of_trace",
    text: `select ${runColumns}, r.detail,
        (
          select max(u.revision) from run_turns u where u.agent_id = r.agent_id and u.run_id = r.id and u.trace_id = $1
        ) as "ofTurn",
        exists (
          select from run_turns u where u.agent_id = r.agent_id and u.run_id = r.id and u.trace_id = $1 and (${differingTurn})
        ) as "traceDiffers"
      from (
        select agent_id, id from runs where trace_id = $1
        union select queue.agent_id, queue.id from traces t join queue on ${queuedOf("t.agent_id", "t.id")} where t.id = $1
        union select agent_id, run_id from run_turns where trace_id = $1
      ) of_trace cross join lateral ${allRuns(row => `${row}.id = of_trace.id and ${row}.agent_id = of_trace.agent_id`)} r
      order by r.id desc`,
    values: [traceId],
  });
  return withJudging(
    place,
    rows.map(({ ofTurn, ...run }) => ({ ...run, revision: ofTurn ?? run.revision })),
  );
}

/** Adds the judge usage to runs. */
export async function withJudging<R extends { id: string }>(
  db: Database,
  runs: R[],
): Promise<(R & Pick<RunWithDetail, "judging">)[]> {
  const sums = await sumJudgeUse(
    db,
    runs.map(({ id }) => id),
  );
  return runs.map(run => ({ ...run, judging: sums.get(run.id) ?? null }));
}

/** `outcome` and `fullyEvaluated`: of the result of the test. `from` (inclusive) and `to` (exclusive): when the run was created. */
export type JudgedTest = {
  agentId: string;
  testId: string;
  outcome?: Outcome | undefined;
  fullyEvaluated?: boolean | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/**
 * The completed runs that count a result of the test, newest first: without those in whose place another was asked for.
 * Searches only hours in which the rollups have the test with the outcome. Fewer than requested does not mean that there are no
 * more: those below `reach` have not been searched.
 */
export async function listRunsOfTest(
  db: Database,
  test: JudgedTest,
  listing: Listing,
  patience?: SearchBudget,
): Promise<Look<RunWithDetail>> {
  const { before, rowsMax } = listing;
  const ceiling = test.to ? idAt(test.to.getTime() + clockSlackMs) : before;
  const { rows, reach } = await scan(
    { before: ceiling < before ? ceiling : before, rowsMax },
    (within, stretch) => lookForRunsOfTest(db, test, within, stretch),
    patience,
  );
  return { rows: await withJudging(await placeOf(db, test.agentId), rows), reach };
}

/** The possible verdicts of a run in which a test had the outcome: a verdict is the worst of its tests' outcomes. */
const verdictsWith: Record<Outcome, Outcome[]> = {
  failed: ["failed"],
  missing_instrumentation: ["failed", "missing_instrumentation"],
  passed: ["failed", "missing_instrumentation", "passed"],
  skipped: ["failed", "missing_instrumentation", "passed", "skipped"],
};
/** How many details are decompressed per query to read the test's outcome. */
const openedMax = 50;

/** As SQL: whether an hour counts a result that may be asked for. By outcome it counts fully evaluated ones. */
function counted(outcome: Outcome | undefined, fullyEvaluated: boolean | undefined): string {
  if (fullyEvaluated === false) return "and not_fully_evaluated > 0";
  if (!outcome) return "";
  return fullyEvaluated ? `and ${outcome} > 0` : `and (${outcome} > 0 or not_fully_evaluated > 0)`;
}

async function lookForRunsOfTest(
  db: Database,
  { agentId, testId, outcome, fullyEvaluated, from, to }: JudgedTest,
  { before, rowsMax }: Listing,
  stretch: number,
): Promise<Look<Row>> {
  const { rows: hours } = await (await placeOf(db, agentId)).pool.query<{ ms: number }>({
    name: `busy_hour_of_test_${outcome ?? "any"}_${fullyEvaluated ?? "any"}`,
    text: `select extract(epoch from hour)::float8 * 1000 as ms from test_hours
      where agent_id = $5 and test_id = $1 and hour < to_timestamp($2::float8 / 1000) ${counted(outcome, fullyEvaluated)}
        and ($3::timestamptz is null or hour > $3 - interval '1 hour') and ($4::timestamptz is null or hour < $4)
      order by hour desc limit 1`,
    values: [testId, timeOfId(before) + clockSlackMs, from ?? null, to ?? null, agentId],
  });
  if (!hours[0]) return { rows: [], reach: null };
  const floor = idAt(hours[0].ms - clockSlackMs);
  const ceiling = idAt(hours[0].ms + hourMs + clockSlackMs);
  const verdicts = outcome ? verdictsWith[outcome] : null;
  const isFiltered = outcome !== undefined || fullyEvaluated !== undefined;
  const pageMax = isFiltered ? Math.max(rowsMax, openedMax) : rowsMax;
  const { rows } = await (await placeOf(db, agentId)).pool.query<Row & { reach: string | null }>({
    name: "runs_of_test",
    text: `with stretch as materialized (
        select id from runs
        where agent_id = $1 and kind = 'passive' and state = 'completed' and id < $3 and id >= $4
        order by id desc offset $6::int - 1 limit 1
      ), page as (
        select ${runColumns}, r.detail from ${endedRuns(
          e => `${e}.agent_id = $1 and ${e}.kind = 'passive' and ${e}.state = 'completed' and $2::uuid = any (${e}.test_ids)
          and ${e}.id < $3 and ${e}.id >= coalesce((select id from stretch), $4::uuid)
          and ($7::text[] is null or ${e}.verdict = any ($7)) and ${nextCause(e)} is distinct from 'again'
          and ($8::timestamptz is null or ${e}.created_at >= $8) and ($9::timestamptz is null or ${e}.created_at < $9)
        order by ${e}.id desc limit $5`,
        )} r
      )
      select (select id from stretch) as reach, page.* from (values (1)) as always left join page on true
      order by page.id desc`,
    values: [
      agentId,
      testId,
      ceiling < before ? ceiling : before,
      floor,
      pageMax,
      stretch,
      verdicts,
      from ?? null,
      to ?? null,
    ],
  });
  const found = rows.filter(row => row.id !== null).map(({ reach: _, ...row }) => row);
  // If the whole hour was searched, the next look starts below it.
  const through = rows[0]!.reach ?? floor;
  if (!isFiltered) return { rows: found, reach: through };
  const had = found.filter(({ detail }) =>
    decodeDetail(detail).results.some(
      result =>
        result.testId === testId &&
        (outcome === undefined || result.outcome === outcome) &&
        (fullyEvaluated === undefined || result.fullyEvaluated === fullyEvaluated),
    ),
  );
  if (had.length > rowsMax) return { rows: had.slice(0, rowsMax), reach: had[rowsMax - 1]!.id };
  return { rows: had, reach: found.length === pageMax ? found.at(-1)!.id : through };
}
