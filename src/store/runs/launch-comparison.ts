// Compares two launches of an agent: for each test and input, the results in both and what changed.
import type { ComparedInput, ComparedTest, LaunchChange, RunSummary } from "../../model/run/launch.ts";
import { differenceOf } from "../../model/run/pass-rate.ts";
import type { Database } from "../db.ts";
import { inputPreview, previewColumn } from "./launch-inputs.ts";
import { listTestsOfLaunch } from "./launch-tests.ts";
import { type CountRow, countColumns, toSummary } from "./launches.ts";

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

/** `undecided`: one of the launches has no result to compare. */
export type ChangeCounts = Record<LaunchChange | "undecided", number>;

/** By test and input: runs with the same text as input are together, wherever it is in the list. */
const groups = (launchId: string) => `
  select r.test_id, r.input_digest, (array_agg(r.id order by r.id))[1] as first, min(r.test_row) as row, ${countColumns}
  from runs r where r.launch_id = ${launchId} group by r.test_id, r.input_digest`;

const of = (table: string) => `${table}.passed + ${table}.failed + ${table}.missing_instrumentation`;
const mostPassed = (table: string) => `${table}.passed * 2 > ${of(table)}`;

// In the order of the later launch; what only the earlier one has follows within its test, and tests of that alone come
// last.
const compared = `
  with earlier as materialized (${groups("$1")}), later as materialized (${groups("$2")}), pairs as materialized (
    select coalesce(later.first, earlier.first) as id, coalesce(later.test_id, earlier.test_id) as test_id,
      later.first is null as is_gone, later.row, earlier.row as row_before,
      case when earlier.first is null then 'new' when later.first is null then 'gone'
        when ${of("earlier")} = 0 or ${of("later")} = 0 then null
        when (${mostPassed("earlier")}) = (${mostPassed("later")}) then 'same'
        when ${mostPassed("later")} then 'mended' else 'broke' end as change,
      case when earlier.first is not null then row_to_json(earlier) end as before,
      case when later.first is not null then row_to_json(later) end as after
    from earlier full join later
      on later.test_id = earlier.test_id and later.input_digest = earlier.input_digest
  ), of_tests as materialized (
    select pairs.*, bool_and(is_gone) over (partition by test_id) as test_gone,
      first_value(id) over (partition by test_id order by is_gone, id) as test_first
    from pairs
  ), placed as materialized (
    select *, row_number() over (order by test_gone, test_first, is_gone, id) as place from of_tests
  ), page as (
    select * from placed
    where place > case when $3::uuid is null then 0 else coalesce((select place from placed where id = $3), 1e9) end
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
    on i.launch_id = case when page.is_gone then $1::uuid else $2 end and i.test_id = page.test_id
      and i.row = coalesce(page.row, page.row_before)
  order by page.place`;

export async function compareLaunches(
  db: Database,
  { before, launchId, after, rowsMax, testId, change, changed = false }: ComparisonPage,
): Promise<{ changes: ChangeCounts; items: ComparedInput[]; tests: ComparedTest[] }> {
  type Row = ChangeCounts & {
    id: string | null;
    test_id: string;
    row: number | null;
    row_before: number | null;
    input: string | null;
    before: CountRow | null;
    after: CountRow | null;
    change: LaunchChange | null;
  };
  const { rows } = await db.pool.query<Row>({
    name: "compare_launches",
    text: compared,
    values: [before, launchId, after ?? null, rowsMax, testId ?? null, change ?? null, changed],
  });
  const { broke, mended, same, new: added, gone, undecided } = rows[0]!;
  const items = rows.flatMap((row): ComparedInput[] => {
    if (row.id === null) return [];
    return [
      {
        id: row.id,
        testId: row.test_id,
        row: row.row,
        rowBefore: row.row_before,
        input: inputPreview(row.input),
        before: row.before && toSummary(row.before),
        after: row.after && toSummary(row.after),
        change: row.change,
      },
    ];
  });
  return {
    changes: { broke, mended, same, new: added, gone, undecided },
    items,
    tests: await compareTests(db, before, launchId, [...new Set(items.map(item => item.testId))]),
  };
}

/** In the order of `testIds`. */
async function compareTests(
  db: Database,
  before: string,
  launchId: string,
  testIds: string[],
): Promise<ComparedTest[]> {
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
        before: one ? summaryOf(one) : null,
        after: other ? summaryOf(other) : null,
        difference: differenceOf(one?.passRate ?? null, other?.passRate ?? null),
      },
    ];
  });
}

function summaryOf({ runs, counts, passRate }: RunSummary): RunSummary {
  return { runs, counts, passRate };
}
