// Reads manual runs: those of a launch, of a test, or one, each compared with earlier runs of the same test and input.

import {
  type Change,
  changeOf,
  isFlaky,
  type PreviousRuns,
  type RunResult,
  runsMax,
} from "../../model/run/launch.ts";
import type { Outcome } from "../../model/run/outcome.ts";
import { placeOfRow } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { type Listing, oldest } from "../listing.ts";
import { allRuns } from "./all-runs.ts";
import { inputPreview, previewColumn } from "./launch-inputs.ts";
import { type RunWithDetail, runColumns, withJudging } from "./read.ts";
import { changedTrace, differingTurn } from "./turns.ts";

export type ComparedRun = Omit<RunWithDetail, "launchId"> & {
  launchId: string;
  testId: string;
  /** When the run was created. */
  testName: string;
  turnCount: number;
  /** Whether the test was deleted since. */
  testDeleted: boolean;
  /** Counted from 1; null without inputs, and without repeats. */
  row: number | null;
  repeat: number | null;
  /** Shortened; null without inputs. */
  input: string | null;
  change: Change | null;
  /** No earlier launch ran its test. */
  firstRun: boolean;
  flaky: boolean;
  turnsEnded: number;
  /** Whether the agent sent no trace for some turn. */
  unseen: boolean;
  /** The agent's trace of some turn has another status or reply than the call answered. */
  differs: boolean;
  /** The trace of some turn has changed since. */
  changedSince: boolean;
  /** How long traces were waited for after the replies; null: not at all. */
  waitedMs: number | null;
};

/** `after`: the id of a run; `testId`, `row` and `result` select runs. All of them by default. */
export type LaunchedRunsPage = {
  after?: string | undefined;
  rowsMax?: number;
  testId?: string | undefined;
  row?: number | undefined;
  result?: RunResult | undefined;
};

/** As SQL over a run. A run that is evaluated again keeps its outcome. */
function hasResult(result: RunResult | undefined, row: string, hasEnded: boolean): string {
  if (result === undefined) return "true";
  if (result === "open") return hasEnded ? "false" : "true";
  if (!hasEnded) return "false";
  return result === "error" || result === "cancelled"
    ? `${row}.state = '${result}'`
    : `${row}.verdict = '${result}'`;
}

/** The runs of a launch in the order of its tests, inputs and repeats. */
export async function listRunsOfLaunch(
  db: Database,
  launchId: string,
  { after = oldest, rowsMax = runsMax, testId, row, result }: LaunchedRunsPage = {},
): Promise<ComparedRun[]> {
  return compared(
    await placeOfRow(db, "launches", launchId),
    `of_launch_${result ?? "any"}`,
    (row, hasEnded) =>
      `${row}.launch_id = $1 and ${row}.id > $2 and ($4::uuid is null or ${row}.test_id = $4)
      and ($5::int is null or ${row}.test_row = $5) and ${hasResult(result, row, hasEnded)} order by ${row}.id limit $3`,
    "order by r.id limit $3",
    [launchId, after, rowsMax, testId ?? null, row ?? null],
  );
}

const isLike = (row: string) => `exists (
    select from ${allRuns(one => `${one}.id = $4`)} one
    where one.test_id = ${row}.test_id and one.input_digest = ${row}.input_digest and one.launch_id <> ${row}.launch_id
  )`;

/** The manual runs of a test, newest first; `like`: those with the input of this run, from other launches. */
export async function listManualRunsOfTest(
  db: Database,
  testId: string,
  { before, rowsMax, like }: Listing & { like?: string | undefined },
): Promise<ComparedRun[]> {
  return compared(
    await placeOfRow(db, "test_cases", testId),
    like === undefined ? "of_test" : "of_test_and_input",
    row =>
      `${row}.kind = 'manual' and ${row}.test_id = $1 and ${row}.id < $2 ${like === undefined ? "" : `and ${isLike(row)}`}
      order by ${row}.id desc limit $3`,
    "order by r.id desc limit $3",
    [testId, before, rowsMax, ...(like === undefined ? [] : [like])],
  );
}

export async function findManualRun(db: Database, id: string): Promise<ComparedRun | undefined> {
  const place = await placeOfRow(db, "runs", id);
  const ofId = (row: string) => `${row}.kind = 'manual' and ${row}.id = $1`;
  return (await compared(place, "one", ofId, "", [id]))[0];
}

// Searched as text in SQL, so that long documents are not sent here. Quotes inside JSON strings are escaped, so only the
// key itself matches.
const unseenTurn = `strpos(u.document, '"arrived":false') > 0`;

const ofRun = "u.agent_id = r.agent_id and u.run_id = r.id";

// A test is flaky by its last runs of the same version, including this one.
const flakyRuns = 10;

// The fully evaluated runs of the same test and input, skipped ones left out. Written like this, each look-up is one in the
// index runs_manual_input, however many repeats there are.
const alike = `kind = 'manual' and state = 'completed' and verdict <> 'skipped' and fully_evaluated and test_id = r.test_id
  and input_digest = r.input_digest`;

/** As SQL over `runs r`: the verdicts passed and not passed of the previous launch that has any. */
const previous = `(select case
      when not exists (select from runs m where ${alike} and launch_id = p.launch_id
        and verdict in ('failed', 'missing_instrumentation')) then 'passed'
      when not exists (select from runs m where ${alike} and launch_id = p.launch_id and verdict = 'passed') then 'not_passed'
      else 'mixed' end
    from (
      select launch_id from runs where ${alike} and launch_id < r.launch_id order by launch_id desc limit 1
    ) p)`;

/** As SQL over `runs r`: whether no earlier launch ran the test. The index runs_manual_test has its oldest run at its end. */
const isFirst = `coalesce(
  (select launch_id from runs where kind = 'manual' and test_id = r.test_id order by id limit 1) >= r.launch_id, true
)`;

/**
 * Reads `runs r` with the previous results, and the latest outcomes of the same version of the test. `which` names the
 * statement, and so must be different for each `of`.
 */
async function compared(
  db: Database,
  which: string,
  of: Parameters<typeof allRuns>[0],
  order: string,
  values: unknown[],
): Promise<ComparedRun[]> {
  type Row = Omit<RunWithDetail, "judging" | "launchId"> & {
    launchId: string;
    testId: string;
    testName: string;
    turnCount: number;
    testDeleted: boolean;
    row: number | null;
    repeat: number | null;
    input: string | null;
    turnsEnded: number;
    unseen: boolean;
    differs: boolean;
    changedSince: boolean;
    waitedMs: number | null;
    before: PreviousRuns | null;
    firstRun: boolean;
    recent: Outcome[] | null;
  };
  const { rows } = await db.pool.query<Row>({
    name: `manual_runs_${which}`,
    text: `select ${runColumns}, r.detail, r.test_id as "testId", t.name as "testName", t.turn_count as "turnCount",
      r.test_row as row, r.test_repeat as repeat, ${previewColumn("i")} as input,
      not exists (select from test_cases t where t.id = r.test_id) as "testDeleted",
      (select count(*)::int from run_turns u where ${ofRun} and u.trace_id is not null) as "turnsEnded",
      exists (select from run_turns u where ${ofRun} and ${unseenTurn}) as unseen,
      exists (select from run_turns u where ${ofRun} and (${differingTurn})) as differs,
      ${changedTrace} as "changedSince", (select sum(u.waited_ms)::int from run_turns u where ${ofRun}) as "waitedMs",
      ${previous} as before, ${isFirst} as "firstRun",
      (select array_agg(m.verdict order by m.id) from (
        select id, verdict from runs m
        where m.kind = 'manual' and m.test_id = r.test_id and m.id <= r.id and m.state = 'completed' and m.fully_evaluated
          and m.test_digest = r.test_digest
        order by m.id desc limit ${flakyRuns}
      ) m) as recent
      from ${allRuns(of)} r join launch_tests t
          on t.agent_id = r.agent_id and t.launch_id = r.launch_id and t.test_id = r.test_id
        left join launch_inputs i
          on i.agent_id = r.agent_id and i.launch_id = r.launch_id and i.test_id = r.test_id and i.row = r.test_row
      ${order}`,
    values,
  });
  return (await withJudging(db, rows)).map(({ before, recent, input, ...run }) => ({
    ...run,
    input: inputPreview(input),
    change: changeOf(run, before),
    flaky: isFlaky(recent ?? []),
  }));
}
