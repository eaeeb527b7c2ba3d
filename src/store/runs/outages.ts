// Traces whose latest run skipped checks because the judge was unavailable: counts and reschedules them.
import type pg from "pg";
import { againMax, outagesMax } from "../../model/judge/outages.ts";
import { placeOf } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { newId } from "../new-id.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { decodeDetail, encodeDetail } from "./detail.ts";
import { hasOpenRun, idAfterRunsOf } from "./of-traces.ts";

const items = multiRow<{ traceId: string; plan: Buffer }>(3, {
  trace_id: ["uuid", ({ traceId }) => traceId],
  run_id: ["uuid", newId],
  detail: ["bytes", ({ plan }) => plan],
});

export type Outages = {
  /** Traces whose latest run skipped checks because the judge was unavailable; counted up to `outagesMax`. */
  traces: number;
  /** How many of them have a scheduled run. */
  scheduled: number;
  /** When the oldest of them was received; null if there are none. */
  oldest: Date | null;
};

// `limit` and `offset 0` force one lookup per row by the index of a trace's runs. Without table statistics the planner
// chose a join of all open runs with all others, which took seconds.
const judgedSince = `(
  select true from (select state, kind from runs where trace_id = s.trace_id and id > s.id offset 0) as later
  where later.state = 'completed' and later.kind <> 'manual' limit 1
)`;
// A trace evaluated since does not count, even if two runs that completed concurrently left the flag set.
const open = `s.agent_id = $1 and s.outage_open and s.kind <> 'manual' and ${judgedSince} is null`;

export async function readOutages(db: Database, agentId: string): Promise<Outages> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<Outages>({
    name: "read_outages",
    text: `with found as materialized (
        select s.trace_id, ${hasOpenRun("s.agent_id", "s.trace_id")} as scheduled
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
  /** Affected traces without a scheduled run; counted up to `outagesMax`. */
  left: number;
};

/**
 * Schedules a run, due now, of each of the oldest affected live traces of the agent. The run uses the tests of the earlier
 * run: changing a test never evaluates traces again. Traces with a pending or active run get none.
 */
export async function judgeAgain(db: Database, agentId: string): Promise<Scheduled> {
  return transaction(await placeOf(db, agentId), async client => {
    const wanted = await listOpen(client, agentId, againMax);
    const plans = await plansOf(client, agentId, wanted);
    const { rows } = await client.query<{ runId: string; traceId: string }>(
      // Locked in the order of ids, as when batches are stored, so that no trace is deleted in the meantime.
      `with wanted as materialized (
          select id from traces where agent_id = $1 and kind = 'live' and id = any ($2::uuid[])
          order by id for key share
        )
        insert into queue (id, trace_id, agent_id, due_at, cause, detail)
        select ${idAfterRunsOf("$1", "wanted.id", "item.run_id")}, wanted.id, $1, now(), 'again', ${items.bytes("detail")}
        from wanted join ${items.from} on item.trace_id = wanted.id
        where not ${hasOpenRun("$1", "wanted.id")}
        on conflict do nothing
        returning id as "runId", trace_id as "traceId"`,
      [agentId, wanted, ...items.values(wanted.map((traceId, at) => ({ traceId, plan: plans[at]! })))],
    );
    return { runs: rows, left: (await listOpen(client, agentId, outagesMax)).length };
  });
}

/** Affected traces without a scheduled run; counted up to `outagesMax`. */
export async function countLeft(db: Database, agentId: string): Promise<number> {
  return (await listOpen((await placeOf(db, agentId)).pool, agentId, outagesMax)).length;
}

/** The tests for the new run of each trace: those of the run that skipped checks. */
async function plansOf(client: pg.PoolClient, agentId: string, traceIds: string[]): Promise<Buffer[]> {
  const { rows } = await client.query<{ traceId: string; detail: Buffer | null }>(
    `select distinct on (s.trace_id) s.trace_id as "traceId", s.detail from runs s
      where ${open} and s.trace_id = any ($2::uuid[]) order by s.trace_id, s.id desc`,
    [agentId, traceIds],
  );
  const details = new Map(rows.map(({ traceId, detail }) => [traceId, detail]));
  return traceIds.map(id => {
    const { plan } = decodeDetail(details.get(id) ?? null);
    return encodeDetail({ results: [], tests: [], ...(plan ? { plan } : {}) });
  });
}

/** The oldest affected traces without a scheduled run. */
async function listOpen(
  client: Pick<pg.PoolClient, "query">,
  agentId: string,
  rowsMax: number,
): Promise<string[]> {
  const { rows } = await client.query<{ trace_id: string }>(
    `select s.trace_id from runs s
      where ${open} and not ${hasOpenRun("s.agent_id", "s.trace_id")} order by s.trace_id limit $2`,
    [agentId, rowsMax],
  );
  return rows.map(row => row.trace_id);
}

/**
 * Clears the flag of earlier runs of these runs' traces. Call it in the transaction that completes the runs. Locks rows in
 * the order of ids, so that concurrent callers never deadlock.
 */
export async function closeOutages(
  client: pg.PoolClient,
  completed: { agentId: string; traceId: string }[],
): Promise<void> {
  await client.query({
    name: "close_outages",
    text: `with closed as materialized (
        select s.id from runs s
        where s.id = any (array(
          select flagged.id from unnest($1::uuid[], $2::uuid[]) as item (agent_id, trace_id) cross join lateral (
            select id from runs where agent_id = item.agent_id and trace_id = item.trace_id and outage_open offset 0
          ) flagged
        )) and ${judgedSince}
        order by s.id for update
      )
      update runs set outage_open = false from closed where runs.id = closed.id`,
    values: [completed.map(run => run.agentId), completed.map(run => run.traceId)],
  });
}
