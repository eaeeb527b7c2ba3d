// What outages of the judge left unjudged: counted by agent, judged again on demand, and closed by any later run.
import { randomUUIDv7 } from "node:crypto";
import type pg from "pg";
import { type Database, transaction } from "./db.ts";

export type Outages = {
  /** Traces of which the latest run lacks something for an outage; at most `outagesMax` are counted. */
  traces: number;
  /** Of these, those that are going to be judged again. */
  scheduled: number;
  /** When the oldest of them was received; null where there is none. */
  oldest: Date | null;
};

export const outagesMax = 10_000;
/** How many traces are scheduled at once. */
export const againMax = 1_000;

// A run whose trace was judged since is none, even where two that completed at once left it open.
const open = `s.agent_id = $1 and s.outage_open and not exists (
  select from runs later where later.trace_id = s.trace_id and later.id > s.id and later.state = 'completed'
    and later.kind = 'passive'
)`;
const underWay = (traceId: string) => `exists (
  select from runs other where other.trace_id = ${traceId} and other.state in ('pending', 'running')
    and other.kind = 'passive'
)`;

export async function readOutages(db: Database, agentId: string): Promise<Outages> {
  const { rows } = await db.pool.query<Outages>({
    name: "read_outages",
    text: `with found as materialized (
        select s.trace_id, ${underWay("s.trace_id")} as scheduled
        from runs s where ${open} order by s.trace_id limit $2
      )
      select count(*)::int as traces, count(*) filter (where scheduled)::int as scheduled,
        (select received_at from traces where id = (select trace_id from found order by trace_id limit 1)) as oldest
      from found`,
    values: [agentId, outagesMax],
  });
  return rows[0]!;
}

export type Scheduled = {
  runs: { runId: string; traceId: string }[];
  /** Traces with something still open that are not going to be judged again; at most `outagesMax` are counted. */
  left: number;
};

/**
 * Schedules one further run, due now, of each of these live traces of the agent, or of the oldest that an outage left
 * something open on. One that is judged anyway, soon or at this moment, gets none. Undefined where the agent has no
 * test that judges live traces: a run would only replace a verdict by none.
 */
export async function judgeAgain(
  db: Database,
  agentId: string,
  traceIds?: string[],
): Promise<Scheduled | undefined> {
  return transaction(db, async client => {
    const eligible = await client.query(
      `select from test_cases where agent_id = $1 and status = 'active' and passive_behavior <> 'manual_only'
        and turn_count = 1 limit 1`,
      [agentId],
    );
    if (eligible.rowCount === 0) return undefined;
    const wanted = traceIds ?? (await listOpen(client, agentId, againMax));
    const { rows } = await client.query<{ runId: string; traceId: string }>(
      // Locked like the traces of every batch that is stored, in the order of their ids: none goes meanwhile.
      `with wanted as materialized (
          select id from traces where agent_id = $1 and kind = 'live' and id = any ($2::uuid[])
          order by id for key share
        )
        insert into runs (id, trace_id, agent_id, kind, state, due_at, cause)
        select item.run_id, wanted.id, $1, 'passive', 'pending', now(), 'again'
        from wanted join unnest($2::uuid[], $3::uuid[]) as item (trace_id, run_id) on item.trace_id = wanted.id
        where not ${underWay("wanted.id")}
        on conflict (trace_id) where state = 'pending' and kind = 'passive' do nothing
        returning id as "runId", trace_id as "traceId"`,
      [agentId, wanted, wanted.map(() => randomUUIDv7())],
    );
    return { runs: rows, left: (await listOpen(client, agentId, outagesMax)).length };
  });
}

/** The oldest traces with something open that are not going to be judged again. */
async function listOpen(client: pg.PoolClient, agentId: string, rowsMax: number): Promise<string[]> {
  const { rows } = await client.query<{ trace_id: string }>(
    `select s.trace_id from runs s where ${open} and not ${underWay("s.trace_id")} order by s.trace_id limit $2`,
    [agentId, rowsMax],
  );
  return rows.map(row => row.trace_id);
}

/**
 * To be called in the transaction that completes runs, of which these are. What an outage left open on their traces is
 * closed where a later run has completed; nobody waits in a ring, because all lock in the order of ids.
 */
export async function closeOutages(
  client: pg.PoolClient,
  completed: { agentId: string; traceId: string }[],
): Promise<void> {
  await client.query({
    name: "close_outages",
    text: `with closed as materialized (
        select s.id from runs s
        where (s.agent_id, s.trace_id) in (select * from unnest($1::uuid[], $2::uuid[])) and s.outage_open
          and exists (
            select from runs later where later.trace_id = s.trace_id and later.id > s.id and later.state = 'completed'
              and later.kind = 'passive'
          )
        order by s.id for update
      )
      update runs set outage_open = false from closed where runs.id = closed.id`,
    values: [completed.map(run => run.agentId), completed.map(run => run.traceId)],
  });
}
