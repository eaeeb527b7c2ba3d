// Compares two launches of an agent: for each test and input, the results in both and what changed.
import type { ComparedInput, ComparedTest, LaunchChange, RunSummary } from "../../model/run/launch.ts";
import { type Difference, differenceOf } from "../../model/run/pass-rate.ts";
import { placeOfRow } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { runsOfLaunch } from "./all-runs.ts";
import { inputPreview, previewColumn } from "./launch-inputs.ts";
import { listTestsOfLaunch } from "./launch-tests.ts";
import { type CountRow, countColumns, toSummary } from "./result-counts.ts";

/** `after`: the id of the last item of the previous page. `changed`: only items whose change is not "same". */
export type ComparisonPage = {
  before: string;
  launchId: string;
  after?: string | undefined;
  rowsMax: number;
  testId?: string | undefined;
  change?: LaunchChange | undefined;
  changed?: boolean | undefined;
};

/** `undecided`: one of the launches has no fully evaluated result. */
export type ChangeCounts = Record<LaunchChange | "undecided", number>;

/**
 * By test and input: runs with the same text as input are together, wherever it is in the list. Only what orders and
 * changes need, and no sort: with all counts, 10,000 inputs took 1.1 s instead of 0.2 s.
 */
const groups = (launchId: string) => `
  select r.agent_id, r.test_id, r.input_digest, min(r.id::text)::uuid as first, min(r.test_row) as row,
    count(*) filter (where r.verdict = 'passed' and r.fully_evaluated) as passed,
    count(*) filter (where r.verdict in ('passed', 'failed', 'missing_instrumentation') and r.fully_evaluated) as decided
  from ${runsOfLaunch(launchId)} r group by r.agent_id, r.test_id, r.input_digest`;

// In the order of the later launch; what only the earlier one has follows within its test, and tests of that alone come
// last.
const compared = `
  with earlier as materialized (${groups("$1")}), later as materialized (${groups("$2")}), pairs as materialized (
    select agent_id, coalesce(later.first, earlier.first) as id, test_id, input_digest, later.first is null as is_gone,
      later.row, earlier.row as row_before,
      case when earlier.first is null then 'new' when later.first is null then 'gone'
        when earlier.decided = 0 or later.decided = 0 then null
        when (earlier.passed * 2 > earlier.decided) = (later.passed * 2 > later.decided) then 'same'
        when later.passed * 2 > later.decided then 'mended' else 'broke' end as change
    from earlier full join later using (agent_id, test_id, input_digest)
  ), of_tests as materialized (
    select pairs.*, bool_and(is_gone) over of_test as test_gone,
      (count(*) filter (where change = 'broke') over of_test)::int as test_broke,
      (count(*) filter (where change = 'mended') over of_test)::int as test_mended,
      first_value(id) over (partition by test_id order by is_gone, id) as test_first
    from pairs window of_test as (partition by test_id)
  ), placed as materialized (
    select *, row_number() over (order by test_gone, test_first, is_gone, id)::int as place from of_tests
  ), page as (
    select * from placed
    where place > case when $3::uuid is null then 0 else coalesce((select place from placed where id = $3), 2147483647) end
      and ($5::uuid is null or test_id = $5) and ($6::text is null or change = $6)
      and (not $7::bool or change is distinct from 'same')
    order by place limit $4
  )
  select page.*, ${previewColumn("i")} as input, totals.*
  from (
    select count(*) filter (where change = 'broke')::int as broke,
      count(*) filter (where change = 'mended')::int as mended, count(*) filter (where change = 'same')::int as same,
      count(*) filter (where change = 'new')::int as new, count(*) filter (where change = 'gone')::int as gone,
      count(*) filter (where change is null)::int as undecided
    from placed
  ) totals left join page on true left join launch_inputs i
    on i.agent_id = page.agent_id and i.launch_id = case when page.is_gone then $1::uuid else $2 end and i.test_id = page.test_id
      and i.row = coalesce(page.row, page.row_before)
  order by page.place`;

type Compared = {
  changes: ChangeCounts;
  difference: Difference;
  items: ComparedInput[];
  tests: ComparedTest[];
};

export async function compareLaunches(
  db: Database,
  { before, launchId, after, rowsMax, testId, change, changed = false }: ComparisonPage,
): Promise<Compared> {
  type Row = ChangeCounts & {
    id: string | null;
    test_id: string;
    input_digest: Buffer;
    row: number | null;
    row_before: number | null;
    input: string | null;
    change: LaunchChange | null;
    test_broke: number;
    test_mended: number;
  };
  const { rows } = await (await placeOfRow(db, "launches", launchId)).pool.query<Row>({
    name: "compare_launches",
    text: compared,
    values: [before, launchId, after ?? null, rowsMax, testId ?? null, change ?? null, changed],
  });
  const { broke, mended, same, new: added, gone, undecided } = rows[0]!;
  const found = rows.filter(row => row.id !== null);
  const summaryOf = await sumByInput(
    db,
    [before, launchId],
    found.map(row => row.input_digest),
  );
  const items = found.map(
    (row): ComparedInput => ({
      id: row.id!,
      testId: row.test_id,
      row: row.row,
      rowBefore: row.row_before,
      input: inputPreview(row.input),
      before: summaryOf(before, row.test_id, row.input_digest),
      after: summaryOf(launchId, row.test_id, row.input_digest),
      change: row.change,
    }),
  );
  const differences = new Map(
    found.map(row => [row.test_id, differenceOf(row.test_broke, row.test_mended)] as const),
  );
  return {
    changes: { broke, mended, same, new: added, gone, undecided },
    difference: differenceOf(broke, mended),
    items,
    tests: await compareTests(db, before, launchId, differences),
  };
}

/** Looks up the runs of a launch with a test and input, among these launches and inputs. */
async function sumByInput(
  db: Database,
  launchIds: string[],
  digests: Buffer[],
): Promise<(launchId: string, testId: string, digest: Buffer) => RunSummary | null> {
  type Row = CountRow & { launch_id: string; test_id: string; input_digest: Buffer };
  const { rows } = await (await placeOfRow(db, "launches", launchIds[0]!)).pool.query<Row>(
    `select r.launch_id, r.test_id, r.input_digest, ${countColumns}
     from unnest($1::uuid[]) as launch (id) cross join lateral ${runsOfLaunch("launch.id")} r
     where r.input_digest = any ($2::bytea[])
     group by r.launch_id, r.test_id, r.input_digest`,
    [launchIds, digests],
  );
  const keyOf = (launchId: string, testId: string, digest: Buffer) =>
    `${launchId} ${testId} ${digest.toString("hex")}`;
  const sums = new Map(
    rows.map(row => [keyOf(row.launch_id, row.test_id, row.input_digest), toSummary(row)]),
  );
  return (...key) => sums.get(keyOf(...key)) ?? null;
}

/** In the order of `differences`, by test. */
async function compareTests(
  db: Database,
  before: string,
  launchId: string,
  differences: ReadonlyMap<string, Difference>,
): Promise<ComparedTest[]> {
  const testIds = [...differences.keys()];
  const [earlier, later] = await Promise.all(
    [before, launchId].map(async id => {
      const tests = await listTestsOfLaunch(db, id, testIds);
      return new Map(tests.map(test => [test.testId, test]));
    }),
  );
  return testIds.flatMap(testId => {
    const [one, other] = [earlier!.get(testId), later!.get(testId)];
    const named = other ?? one;
    // Deleted since the items were read.
    if (!named) return [];
    return [
      {
        testId,
        testName: named.testName,
        testDeleted: named.testDeleted,
        before: one ? onlySummary(one) : null,
        after: other ? onlySummary(other) : null,
        difference: differences.get(testId)!,
      },
    ];
  });
}

function onlySummary({ runs, counts, notFullyEvaluated, passRate }: RunSummary): RunSummary {
  return { runs, counts, notFullyEvaluated, passRate };
}
