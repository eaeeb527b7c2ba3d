// Reads the figures of an agent's overview in bounded time: traffic, open runs, slow traces, and what tests left out.

import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { clockSlackMs, idAt } from "../listing.ts";
import { type SearchBudget, scan } from "../scan.ts";
import { eligibleSql } from "../test-cases.ts";
import { hasOpenRun, opaque, queuedOf } from "./of-traces.ts";

/** `to` is exclusive. */
export type Within = { from: Date; to: Date };

/** `atLeast`: counting ended early, so there may be more. */
export type BoundedCount = { count: number; atLeast: boolean };

/** Counted up to this. */
export const trafficMax = 50_000;

/**
 * The live traces received in this time. Ids contain their time, so only the traces within the clocks' difference of
 * either end are read; all others are counted in the index.
 */
export async function countTraffic(
  db: Database,
  agentId: string,
  { from, to }: Within,
  max = trafficMax,
): Promise<BoundedCount> {
  const [start, end] = [from.getTime(), to.getTime()];
  const middle = Math.max(start + clockSlackMs, end - clockSlackMs);
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ count: number }>({
    name: "count_traffic",
    text: `select (
        (select count(*) from (
          select from traces where agent_id = $1 and id >= $3 and id < $4 limit $8 + 1
        ) whole)
        - (select count(*) from (
          select from traces where agent_id = $1 and kind = 'test_run' and id >= $3 and id < $4 limit $8 + 1
        ) manual)
        + (select count(*) from (
          select from traces
          where agent_id = $1 and (id >= $2 and id < $3) and kind = 'live' and received_at >= $6 and received_at < $7
          limit $8 + 1
        ) early)
        + (select count(*) from (
          select from traces
          where agent_id = $1 and (id >= $4 and id < $5) and kind = 'live' and received_at >= $6 and received_at < $7
          limit $8 + 1
        ) late)
      )::int as count`,
    values: [
      agentId,
      idAt(start - clockSlackMs),
      idAt(Math.min(start + clockSlackMs, middle)),
      idAt(middle),
      idAt(end + clockSlackMs),
      from,
      to,
      max,
    ],
  });
  const count = rows[0]!.count;
  return count > max ? { count: max, atLeast: true } : { count, atLeast: false };
}

const openStates = ["pending", "running", "error"] as const;
export type OpenState = (typeof openStates)[number];
/** Of each state. */
const openMax = 1_000;

/** The live traces of this time that have no verdict yet, or never will, by the state that lists show. */
export async function countOpen(
  db: Database,
  agentId: string,
  { from, to }: Within,
): Promise<Record<OpenState, BoundedCount>> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ state: OpenState; count: number }>({
    name: "count_open",
    text: `select wanted.state, counted.count from unnest($2::text[]) as wanted (state)
      cross join lateral (
        select count(*)::int as count from (
          select from (
            select id, trace_id from queue where agent_id = $1 and state = wanted.state
              and trace_id >= $3 and trace_id < $4
            union all
            select id, trace_id from runs where agent_id = $1 and state <> 'completed' and state = wanted.state
              and trace_id >= $3 and trace_id < $4
          ) s join traces t on t.id = s.trace_id
          where t.kind = 'live' and t.received_at >= $5 and t.received_at < $6 and s.id = coalesce(
            (select id from runs where trace_id = t.id and state = ${opaque("completed")} order by id desc limit 1),
            (select id from queue where ${queuedOf("$1", "t.id")} order by id desc limit 1),
            (select id from runs where trace_id = t.id order by id desc limit 1)
          )
          limit $7
        ) shown
      ) counted`,
    values: [agentId, openStates, ...idsOf({ from, to }), from, to, openMax + 1],
  });
  const counts = new Map(rows.map(({ state, count }) => [state, count]));
  const of = (state: OpenState): BoundedCount => {
    const count = counts.get(state) ?? 0;
    return { count: Math.min(count, openMax), atLeast: count > openMax };
  };
  return { pending: of("pending"), running: of("running"), error: of("error") };
}

const searchBudget: SearchBudget = { ms: 8, stretch: 500 };
const foundMax = 10_000;

/** The live traces of this time without a run: no test was active when they arrived. A search, newest first. */
export async function countNotEvaluated(
  db: Database,
  agentId: string,
  { from, to }: Within,
  budget = searchBudget,
): Promise<BoundedCount> {
  const [floor, before] = idsOf({ from, to });
  const { rows, reach } = await scan<string>(
    { before, rowsMax: foundMax },
    async (listing, stretch) => {
      const found = await (await placeOf(db, agentId)).pool.query<{ reach: string | null; ids: string[] }>({
        name: "find_not_evaluated",
        text: `with stretch as materialized (
            select id from traces where agent_id = $1 and id < $2 and id >= $3
            order by id desc offset $4::int - 1 limit 1
          )
          select (select id from stretch) as reach, array(
            select t.id from traces t
            where t.agent_id = $1 and t.id < $2 and t.id >= coalesce((select id from stretch), $3::uuid)
              and t.kind = 'live' and t.received_at >= $5 and t.received_at < $6
              and (select r.id from runs r where r.trace_id = t.id limit 1) is null
              and not ${hasOpenRun("t.agent_id", "t.id")}
            order by t.id desc limit $7
          ) as ids`,
        values: [agentId, listing.before, floor, stretch, from, to, listing.rowsMax],
      });
      return { rows: found.rows[0]!.ids, reach: found.rows[0]!.reach };
    },
    budget,
  );
  return { count: rows.length, atLeast: reach !== null };
}

export type SlowTrace = {
  id: string;
  name: string;
  userInput: string | null;
  receivedAt: Date;
  durationMs: number;
};

/** How many traces are searched for the slowest: about 5 ms. */
export const searchedMax = 5_000;

/** The slowest live traces among the newest `searchedMax` of this time. */
export async function listSlowest(
  db: Database,
  agentId: string,
  { from, to }: Within,
  rowsMax: number,
): Promise<SlowTrace[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<SlowTrace>({
    name: "list_slowest",
    text: `select t.id, t.name, t.user_input as "userInput", t.received_at as "receivedAt", t.duration_ms as "durationMs"
      from (
        select id from (
          select id, kind, duration_ms, received_at from traces
          where agent_id = $1 and id >= $2 and id < $3 order by id desc limit $6
        ) newest
        where kind = 'live' and duration_ms is not null and received_at >= $4 and received_at < $5
        order by duration_ms desc, id desc limit $7
      ) slow
      join traces t on t.id = slow.id
      order by t.duration_ms desc, t.id desc`,
    values: [agentId, ...idsOf({ from, to }), from, to, searchedMax, rowsMax],
  });
  return rows;
}

/** How many results of a test lacked instrumentation. */
export type MissingInTest = { testId: string; name: string; count: number };

/** The tests with missing instrumentation in these hours, most first. */
export async function listMissing(
  db: Database,
  agentId: string,
  { from, to }: Within,
  rowsMax: number,
): Promise<MissingInTest[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<MissingInTest>({
    name: "list_missing",
    text: `select t.id as "testId", t.name, hours.count from test_cases t
      cross join lateral (
        select sum(missing_instrumentation)::int as count from test_hours
        where agent_id = $1 and test_id = t.id and hour >= $2 and hour < $3
      ) hours
      where t.agent_id = $1 and hours.count > 0 order by hours.count desc, t.id limit $4`,
    values: [agentId, from, to, rowsMax],
  });
  return rows;
}

export type AgentFacts = { lastTraceAt: Date | null; tests: number; eligibleTests: number };

/** When the last trace arrived, and how many tests there are and evaluate live traffic. */
export async function readAgentFacts(db: Database, agentId: string): Promise<AgentFacts> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<AgentFacts>({
    name: "read_agent_facts",
    text: `select (select received_at from traces where agent_id = $1 order by id desc limit 1) as "lastTraceAt",
        (select count(*)::int from test_cases where agent_id = $1) as tests,
        (select count(*)::int from test_cases where agent_id = $1 and ${eligibleSql}) as "eligibleTests"`,
    values: [agentId],
  });
  return rows[0]!;
}

/** The lowest id of this time, and the one above the highest. */
function idsOf({ from, to }: Within): [floor: string, before: string] {
  return [idAt(from.getTime() - clockSlackMs), idAt(to.getTime() + clockSlackMs)];
}
