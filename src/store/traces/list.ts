// Lists an agent's traces by filters, in bounded time however rare the matches.
import type { Outcome, ResultState, Routing, RunState } from "../../model/run/run.ts";
import type { TraceKind, TracePath } from "../../model/trace/trace.ts";
import type { Database } from "../db.ts";
import { clockSlackMs, idAt, type Listing, oldest } from "../listing.ts";
import { type RunRow, runColumns } from "../runs/read.ts";
import { type Look, type SearchBudget, scan } from "../scan.ts";
import { type TraceRow, traceColumns } from "./read.ts";

/** A trace and the run its verdict comes from: the latest completed one, else the latest; a turn's is its test's run. */
export type ListedTrace = TraceRow & { run: RunRow | null };

/** Absent: any. */
export type TraceFilters = {
  kind?: TraceKind | undefined;
  path?: TracePath | undefined;
  /** `waiting`: running, but waiting for the judge. `none`: traces without a run. */
  state?: RunState | "waiting" | "none" | undefined;
  /** `none`: completed, but no test applied. */
  verdict?: Outcome | "none" | undefined;
  routing?: Routing | undefined;
  failed?: boolean | undefined;
  /** Whether checks were skipped because the judge was unavailable, and not evaluated since. */
  outage?: boolean | undefined;
  /** Where a failed result of the run stands. */
  resultState?: ResultState | undefined;
  httpStatus?: number | undefined;
  externalId?: string | undefined;
  testId?: string | undefined;
  /** At least one of these has a result. */
  testIds?: string[] | undefined;
  receivedFrom?: Date | undefined;
  receivedTo?: Date | undefined;
  durationMinMs?: number | undefined;
  durationMaxMs?: number | undefined;
  tokensMin?: number | undefined;
  tokensMax?: number | undefined;
  /** Searched in name, user input and response, ignoring case. */
  text?: string | undefined;
};

/**
 * The traces of an agent that pass the filters, newest first. Fewer than requested does not mean that there are no
 * more: those below `reach` have not been searched.
 */
export async function listTraces(
  db: Database,
  agentId: string,
  filters: TraceFilters,
  { before, rowsMax }: Listing,
  budget?: SearchBudget,
): Promise<Look<ListedTrace>> {
  const { receivedFrom, receivedTo, testIds } = filters;
  if (testIds?.length === 0) return { rows: [], reach: null };
  const floor = receivedFrom ? idAt(receivedFrom.getTime() - clockSlackMs) : oldest;
  const ceiling = receivedTo ? idAt(receivedTo.getTime() + clockSlackMs) : before;
  const { text, values } = toSql(agentId, filters);
  return scan(
    { before: ceiling < before ? ceiling : before, rowsMax },
    async (listing, stretch) => {
      const bounds = [listing.before, floor, listing.rowsMax, stretch];
      const { rows } = await db.pool.query<ListedTrace & { reach: string | null }>(text, [
        ...bounds,
        ...values,
      ]);
      const found = rows.filter(row => row.id !== null).map(({ reach: _, ...row }) => row);
      return { rows: found, reach: rows[0]!.reach };
    },
    budget,
  );
}

type Conditions = { values: unknown[]; where: string[] };

/** Adds the condition unless the value is undefined; `condition` gets the value's parameter. */
function add({ values, where }: Conditions, value: unknown, condition: (parameter: string) => string): void {
  if (value === undefined) return;
  values.push(value);
  where.push(condition(`$${4 + values.length}`));
}

/**
 * Parameters 1 to 4 are the bounds: before, floor, rows, stretch. The end of the stretch and its rows are read in one
 * snapshot, so that concurrent inserts and deletions never repeat or omit a row.
 */
function toSql(agentId: string, filters: TraceFilters): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const path = pathFor(agentId, filters, values);
  const conditions: Conditions = { values, where: [...path.where] };
  addTraceFilters(conditions, filters);
  addRunFilters(conditions, filters);
  const text = `
    with stretch as materialized (
      select ${path.id} as id from ${path.from}
      where ${path.where.join(" and ")} and ${path.id} < $1 and ${path.id} >= $2
      order by ${path.id} desc offset $4::int - 1 limit 1
    ), page as (
      select ${traceColumns}, to_jsonb(r) as run from ${path.from} ${path.join}
      left join lateral (
        (select ${runColumns} from runs r where r.trace_id = t.id
          order by (r.state = 'completed') desc, r.id desc limit 1)
        union all
        (select ${runColumns} from run_turns u join runs r on r.id = u.run_id
          where t.kind = 'test_run' and u.trace_id = t.id order by u.run_id desc limit 1)
        limit 1
      ) r on true
      where ${[...conditions.where, ...path.also].join(" and ")}
        and ${path.id} < $1 and ${path.id} >= coalesce((select id from stretch), $2::uuid)
      order by ${path.id} desc limit $3
    )
    select (select id from stretch) as reach, page.* from (values (1)) as always left join page on true
    order by page.id desc`;
  return { text, values };
}

/** The index to walk, newest trace first: one of 004_rollups.sql for rare values, else all traces. */
type Path = { from: string; id: string; join: string; where: string[]; also: string[] };

function pathFor(agentId: string, filters: TraceFilters, values: unknown[]): Path {
  const { externalId, verdict, state, routing, outage, failed, httpStatus, kind, resultState } = filters;
  // Conditions are repeated literally so that the planner sees that the partial index applies.
  const traces = (value?: unknown, condition?: (parameter: string) => string): Path => {
    const narrowed: Conditions = { values, where: [] };
    add(narrowed, agentId, p => `t.agent_id = ${p}`);
    if (condition) add(narrowed, value, condition);
    return { from: "traces t", id: "t.id", join: "", where: narrowed.where, also: [] };
  };
  // Runs that a later run of the same trace replaced are excluded by `also`.
  const runs = (value: unknown, condition: (parameter: string) => string): Path => {
    const narrowed: Conditions = { values, where: [] };
    add(narrowed, agentId, p => `s.agent_id = ${p}`);
    add(narrowed, value, condition);
    const join = "join traces t on t.id = s.trace_id";
    return { from: "runs s", id: "s.trace_id", join, where: narrowed.where, also: ["r.id = s.id"] };
  };
  if (externalId !== undefined) return traces(externalId, p => `t.external_id = ${p}`);
  // Manual runs have no trace before they complete, so they are found by their turns.
  if (kind === "test_run") return traces(kind, p => `t.kind = 'test_run' and t.kind = ${p}`);
  if (state === "pending" || state === "running" || state === "error") {
    return runs(state, p => `s.state <> 'completed' and s.state = ${p}`);
  }
  if (state === "waiting") {
    return runs("running", p => `s.state <> 'completed' and s.state = ${p} and s.next_try_at is not null`);
  }
  if (outage) return runs(outage, p => `s.outage_open and s.outage_open = ${p}`);
  if (routing === "unavailable" || routing === "no_user_input") {
    return runs(
      routing,
      p => `s.state = 'completed' and s.routing in ('no_user_input', 'unavailable') and s.routing = ${p}`,
    );
  }
  if (resultState) return runs("failed", p => `s.state = 'completed' and s.verdict = ${p}`);
  if (failed) return traces(failed, p => `t.failed and t.failed = ${p}`);
  if (httpStatus !== undefined && httpStatus !== 200) {
    return traces(httpStatus, p => `t.http_status <> 200 and t.http_status = ${p}`);
  }
  if (verdict === "none")
    return runs("completed", p => `s.verdict is null and s.state = 'completed' and s.state = ${p}`);
  if (verdict) return runs(verdict, p => `s.state = 'completed' and s.verdict = ${p}`);
  return traces();
}

function addTraceFilters(conditions: Conditions, filters: TraceFilters): void {
  add(conditions, filters.kind, p => `t.kind = ${p}`);
  add(conditions, filters.path, p => `t.path = ${p}`);
  add(conditions, filters.failed, p => `t.failed = ${p}`);
  add(conditions, filters.httpStatus, p => `t.http_status = ${p}`);
  add(conditions, filters.receivedFrom, p => `t.received_at >= ${p}`);
  add(conditions, filters.receivedTo, p => `t.received_at < ${p}`);
  add(conditions, filters.durationMinMs, p => `t.duration_ms >= ${p}`);
  add(conditions, filters.durationMaxMs, p => `t.duration_ms <= ${p}`);
  const tokens = "coalesce(t.input_tokens, 0) + coalesce(t.output_tokens, 0)";
  // A trace without token counts matches no bounds.
  if (filters.tokensMin !== undefined || filters.tokensMax !== undefined) {
    conditions.where.push("(t.input_tokens is not null or t.output_tokens is not null)");
  }
  add(conditions, filters.tokensMin, p => `${tokens} >= ${p}`);
  add(conditions, filters.tokensMax, p => `${tokens} <= ${p}`);
  const pattern = filters.text && `%${filters.text.replace(/[\\%_]/g, "\\$&")}%`;
  add(conditions, pattern || undefined, p => {
    return `(t.name ilike ${p} or t.user_input ilike ${p} or t.response_text ilike ${p})`;
  });
}

function addRunFilters(conditions: Conditions, filters: TraceFilters): void {
  // Answered by an index alone, before the run itself is looked up.
  if (filters.state === "none")
    conditions.where.push(`(select judged.id from runs judged where judged.trace_id = t.id limit 1) is null
      and (t.kind <> 'test_run' or not exists (select from run_turns u where u.trace_id = t.id))`);
  else if (filters.state === "waiting")
    conditions.where.push(`r.state = 'running' and r."nextTryAt" is not null`);
  else add(conditions, filters.state, p => `r.state = ${p}`);
  if (filters.verdict === "none") conditions.where.push("r.state = 'completed' and r.verdict is null");
  else add(conditions, filters.verdict, p => `r.verdict = ${p}`);
  add(conditions, filters.routing, p => `r.routing = ${p}`);
  add(conditions, filters.outage, p => `coalesce(r.outage, false) = ${p}`);
  addResultState(conditions, filters.resultState);
  add(conditions, filters.testId, p => `${p}::uuid = any (r.test_ids)`);
  add(conditions, filters.testIds, p => `${p}::uuid[] && r.test_ids`);
}

/** Open: some failed test has no other state. Of runs from before failed tests were kept, any test may be the one. */
function addResultState(conditions: Conditions, resultState: ResultState | undefined): void {
  if (resultState === undefined) return;
  const failed = 'coalesce(r."failedTestIds", r.test_ids)';
  const given = `select from result_states rs where rs.agent_id = t.agent_id and rs.trace_id = r."traceId"`;
  conditions.where.push("r.verdict = 'failed'");
  if (resultState === "open") {
    conditions.where.push(`exists (select from unnest(${failed}) as f (id)
      where not exists (${given} and rs.test_id = f.id and rs.state <> 'open'))`);
  } else {
    add(
      conditions,
      resultState,
      p => `exists (${given} and rs.test_id = any (${failed}) and rs.state = ${p})`,
    );
  }
}
