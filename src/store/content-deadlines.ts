// When the content of traces and manual runs is due to be forgotten: noted as they are stored, claimed under a lease.
import type pg from "pg";
import { availablePlacesFound, availableRows } from "./cluster/routing.ts";
import type { Database } from "./db.ts";
import { multiRow } from "./parameters/multi-row.ts";

/** Seconds from the end of the last evaluation, or from the last batch. */
export type Deadline = { agentId: string; subjectId: string; afterSeconds: number };

/** Of `agents a`, as SQL: the time after which content stored now is forgotten; null: it is kept. */
export const forgetAfter = `case when a.content = 'forget' then a.content_forget_after_s end`;

const deadlines = multiRow<Deadline>(1, {
  agent_id: ["uuid", ({ agentId }) => agentId],
  subject_id: ["uuid", ({ subjectId }) => subjectId],
  after_s: ["int", ({ afterSeconds }) => afterSeconds],
});

/** In the transaction that stores content of these. Of several times, the shortest holds. */
export async function noteDeadlines(client: pg.PoolClient, noted: Deadline[]): Promise<void> {
  if (noted.length === 0) return;
  await client.query({
    name: "note_deadlines",
    text: `insert into content_deadlines as known (agent_id, subject_id, after_s, check_at)
      select agent_id, subject_id, min(after_s), now() + min(after_s) * interval '1 s' from ${deadlines.from}
      group by agent_id, subject_id order by agent_id, subject_id
      on conflict (agent_id, subject_id) do update set after_s = least(known.after_s, excluded.after_s),
        check_at = least(known.check_at, excluded.check_at)`,
    values: deadlines.values(noted),
  });
}

/**
 * Of rows `d` of content_deadlines, as SQL: whether each is of a trace, whether a run of it is open, and since when its time
 * counts: the end of the last run, or the last batch. Null: the trace or run is gone, or was forgotten.
 */
export const stateOfDeadlines = `
  select d.agent_id, d.subject_id, d.after_s, t.id is not null as is_trace,
    (select true from queue q where q.id = any (involved.ids) limit 1) is not null as is_open,
    case when t.content = 'forgotten' then null else coalesce(ran.ended_at, t.updated_at) end as since
  from d left join traces t on t.id = d.subject_id
  cross join lateral (
    select array(
      select id from runs where trace_id = d.subject_id
      union all select id from queue
        where agent_id = d.agent_id and state in ('pending', 'running') and trace_id = d.subject_id
      union all select run_id from run_turns where agent_id = d.agent_id and trace_id = d.subject_id
      union all select run_id from expected_traces e where e.agent_id = t.agent_id and e.external_id = t.external_id
      union all select d.subject_id
    ) as ids
  ) involved
  left join lateral (
    select max(coalesce(r.finished_at, r.created_at)) as ended_at from runs r where r.id = any (involved.ids)
  ) ran on true`;

/** `agentIds`: whose they are. */
export type DueSubjects = { traceIds: string[]; runIds: string[]; agentIds: string[] };

/**
 * Claims what is due, and looks again later at what is not: an open run delays it. Returns undefined where nothing was to
 * be looked at.
 */
export async function claimDue(db: Database, limits: ClaimLimits): Promise<DueSubjects | undefined> {
  const places = await availablePlacesFound(db, {
    name: "agents_with_due_content",
    text: `select agent_id as "agentId" from content_deadlines where check_at <= now()
      group by agent_id order by min(check_at) limit $1`,
    values: [limits.rowsMax],
  });
  // What is due elsewhere is claimed by the next call.
  return places[0] && claimIn(places[0], limits);
}

type ClaimLimits = { rowsMax: number; leaseMs: number };

async function claimIn(db: Database, { rowsMax, leaseMs }: ClaimLimits): Promise<DueSubjects | undefined> {
  const { rows } = await db.pool.query<{
    subject_id: string;
    agent_id: string;
    is_trace: boolean;
    is_due: boolean;
  }>({
    name: "claim_due_content",
    text: `with d as materialized (
        select * from content_deadlines where check_at <= now() order by check_at limit $1 for update skip locked
      ), state as materialized (${stateOfDeadlines}
      ), ended as (
        delete from content_deadlines known using state
        where known.agent_id = state.agent_id and known.subject_id = state.subject_id
          and state.since is null and not state.is_open
      ), moved as (
        update content_deadlines known set check_at = case
            when state.is_open then now() + state.after_s * interval '1 s'
            when ${isDue("state")} then now() + $2::float8 * interval '1 ms'
            else state.since + state.after_s * interval '1 s' end
        from state
        where known.agent_id = state.agent_id and known.subject_id = state.subject_id
          and (state.since is not null or state.is_open)
      )
      select subject_id, agent_id, is_trace, coalesce(${isDue("state")}, false) as is_due from state`,
    values: [rowsMax, leaseMs],
  });
  if (rows.length === 0) return undefined;
  const ids = (isTrace: boolean) =>
    rows.filter(row => row.is_due && row.is_trace === isTrace).map(row => row.subject_id);
  const agentIds = [...new Set(rows.flatMap(row => (row.is_due ? row.agent_id : [])))];
  return { traceIds: ids(true), runIds: ids(false), agentIds };
}

/** Of a row of `stateOfDeadlines`, as SQL. */
export function isDue(row: string): string {
  return `(not ${row}.is_open and ${row}.since + ${row}.after_s * interval '1 s' <= now())`;
}

/** The ms until there is something to look at; undefined if there is nothing. */
export async function nextDueMs(db: Database): Promise<number | undefined> {
  const rows = await availableRows<{ ms: number | null }>(db, {
    name: "next_content_deadline",
    text: `select extract(epoch from min(check_at) - now())::float8 * 1000 as ms from content_deadlines`,
  });
  const times = rows.flatMap(({ ms }) => ms ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}
