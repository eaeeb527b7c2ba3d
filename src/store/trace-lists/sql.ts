// The statements of lists of traces: a page in the order of time, and the first of the newest by another value.

import { allRuns, endedRuns, openRuns } from "../runs/all-runs.ts";
import { opaque } from "../runs/of-traces.ts";
import { runColumns } from "../runs/read.ts";
import { traceColumns } from "../traces/read.ts";
import { addRunFilters, addTraceFilters, Conditions, filtersRuns } from "./conditions.ts";
import type { TraceFilters } from "./filters.ts";
import { type Order, type Path, plainPath, rangesPath, rarePath, withinBounds } from "./path.ts";

export type Plan = {
  path: Path;
  conditions: Conditions;
  filters: TraceFilters;
  order: Order;
  /** Whether two lists of ids follow the bounds: only the traces between them are read. */
  hasRanges: boolean;
};

/** Parameters 1 to 4 are the bounds: from, to, rows, stretch. */
const boundsCount = 4;

/** How the rows are found. `byValue`: the caller walks the minutes in which a value occurs, unless an index for a rare value fits. */
export function planList(agentId: string, filters: TraceFilters, order: Order, byValue: boolean): Plan {
  const common = { filters, order };
  const conditions = new Conditions(boundsCount + 1);
  const rare = rarePath(agentId, filters, conditions);
  if (rare) return { ...common, path: rare, conditions, hasRanges: false };
  if (!byValue) return { ...common, path: plainPath(agentId, conditions), conditions, hasRanges: false };
  const between = new Conditions(boundsCount + 3);
  return { ...common, path: rangesPath(agentId, between, order), conditions: between, hasRanges: true };
}

type Statement = { text: string; values: unknown[] };

/**
 * The end of the stretch and its rows are read in one snapshot, so that concurrent inserts and deletions never repeat or
 * omit a row.
 */
export function pageStatement(plan: Plan): Statement {
  const { path, conditions, filters, order } = plan;
  addTraceFilters(conditions, filters);
  addRunFilters(conditions, filters);
  const direction = directionOf(order);
  const text = `
    with stretch as materialized (${stretchOf(plan)}), page as (
      select ${traceColumns}, to_jsonb(r) as run from ${inOrder(plan)} ${path.join} ${shownRun}
      where ${[...path.where, ...conditions.where, ...path.also, ...withinStretch(plan)].join(" and ")}
      order by ${path.id} ${direction} limit $3
    )
    select (select id from stretch) as reach, page.* from (values (1)) as always left join page on true
    order by page.id ${direction}`;
  return { text, values: conditions.values };
}

/**
 * The planner does not know the order of ranges, nor of the turns of a conversation, and would look up the run of every trace
 * of the stretch before it takes the first rows: a page by a common tool took 37 ms instead of 11.
 */
function inOrder(plan: Plan): string {
  const { path, order } = plan;
  const { unordered } = path;
  if (unordered === undefined) return path.from;
  const where = withinStretch(plan).join(" and ");
  return `(select ${unordered}.* from ${path.from} where ${where} order by ${path.id} ${directionOf(order)}) ${unordered}`;
}

/** The parameters after those of the bounds, ranges and filters: how many rows to order, and the last row returned. */
export type OrderedStatement = Statement & { poolAt: number };

/**
 * The first rows by `sort` among the newest that pass the filters, without their columns; `count` and `lowest` are those
 * of all that were put in order.
 */
export function orderedStatement(plan: Plan, sort: { sql: string; descending: boolean }): OrderedStatement {
  const { path, conditions, filters } = plan;
  addTraceFilters(conditions, filters);
  const needsRun = filtersRuns(filters) || path.also.length > 0;
  if (needsRun) addRunFilters(conditions, filters);
  const poolAt = boundsCount + (plan.hasRanges ? 2 : 0) + conditions.values.length + 1;
  const [poolMax, isAfter, value, id] = [0, 1, 2, 3].map(at => `$${poolAt + at}`);
  const direction = sort.descending ? "desc" : "asc";
  const beyond = sort.descending ? "<" : ">";
  const text = `
    with stretch as materialized (${stretchOf(plan)}), pool as materialized (
      select t.id, (${sort.sql})::float8 as value from ${path.from} ${path.join} ${needsRun ? shownRun : ""}
      where ${[...path.where, ...conditions.where, ...path.also, ...withinStretch(plan)].join(" and ")}
      order by ${path.id} desc limit ${poolMax}::int
    ), first as (
      select * from pool
      where not ${isAfter}::bool or case when ${value}::float8 is null then value is null and id < ${id}::uuid
        else value is null or value ${beyond} ${value} or (value = ${value} and id < ${id}::uuid) end
      order by value ${direction} nulls last, id desc limit $3
    )
    select (select id from stretch) as reach, (select count(*) from pool) as count,
      (select id from pool order by id limit 1) as lowest,
      (select id from pool order by id desc limit 1) as highest, first.*
    from (values (1)) as always left join first on true`;
  return { text, values: conditions.values, poolAt };
}

/** As `orderedStatement`, without an order: all that pass, and what they used. */
export function poolStatement(plan: Plan): OrderedStatement {
  const { path, conditions, filters } = plan;
  addTraceFilters(conditions, filters);
  const needsRun = filtersRuns(filters) || path.also.length > 0;
  if (needsRun) addRunFilters(conditions, filters);
  const poolAt = boundsCount + (plan.hasRanges ? 2 : 0) + conditions.values.length + 1;
  const text = `
    with stretch as materialized (${stretchOf(plan)}), pool as (
      select t.id, t.usage, floor(extract(epoch from t.received_at) / 86400)::int as day
      from ${path.from} ${path.join} ${needsRun ? shownRun : ""}
      where $3::int > 0 and ${[...path.where, ...conditions.where, ...path.also, ...withinStretch(plan)].join(" and ")}
      order by ${path.id} desc limit $${poolAt}::int
    )
    select (select id from stretch) as reach, pool.* from (values (1)) as always left join pool on true
    order by pool.id desc`;
  return { text, values: conditions.values, poolAt };
}

const listedRun = `${runColumns}, r.test_outcomes, r.test_versions`;

const selectListed = `select ${traceColumns}, to_jsonb(r) as run from traces t ${shownRunSql()}`;

/** These traces with the runs that lists show, in any order. Parameter 1: their ids. */
export const rowsStatement = `${selectListed} where t.id = any ($1::uuid[])`;

/** One of them. Parameters: its agent and its id. */
export const rowStatement = `${selectListed} where t.agent_id = $1 and t.id = $2`;

const shownRun = shownRunSql();

/** Joins the run `r` that lists show of `traces t`. */
export function shownRunSql(columns = listedRun, agent = "t.agent_id"): string {
  return `left join lateral (
    (select ${columns} from ${endedRuns(ofTrace(`state = ${opaque("completed")}`))} r)
    union all
    (select ${columns} from ${openRuns(ofTrace(`agent_id = ${agent} and o.state in ('pending', 'running')`))} r)
    union all
    (select ${columns} from ${endedRuns(ofTrace(`state <> ${opaque("completed")}`))} r)
    union all
    (select ${columns} from (
        select run_id from run_turns u where t.kind = 'test_run' and u.agent_id = ${agent} and u.trace_id = t.id
        order by run_id desc limit 1
      ) u cross join lateral ${allRuns(row => `${row}.id = u.run_id and ${row}.agent_id = ${agent}`)} r)
    limit 1
  ) r on true`;
}

/** Its latest run of these. */
function ofTrace(condition: string): (row: string) => string {
  return row => `${row}.trace_id = t.id and ${row}.${condition} order by ${row}.id desc limit 1`;
}

const directionOf = (order: Order) => (order === "newest" ? "desc" : "asc");

function withinStretch({ path: { id }, order }: Plan): string[] {
  const end = "coalesce((select id from stretch), $2::uuid)";
  return [...withinBounds(id, order), `${id} ${order === "newest" ? ">=" : "<="} ${end}`];
}

/** The id of the last row of the stretch; no row if there are fewer. */
function stretchOf({ path, order, hasRanges }: Plan): string {
  const direction = directionOf(order);
  const where = [...path.where, ...withinBounds(path.id, order)].join(" and ");
  const rows = `select ${path.id} as id from ${path.from} where ${where}`;
  // The ranges come in order, so the limit ends reading; a sort would read all of them first.
  if (hasRanges) {
    return `select id from (${rows} limit $4::int) walked order by id ${direction} offset $4::int - 1 limit 1`;
  }
  return `${rows} order by ${path.id} ${direction} offset $4::int - 1 limit 1`;
}
