// Reads the hourly rollups: an agent's over time, and the summaries on agent cards and test strips.

import type { Histogram } from "../../model/run/histogram.ts";
import type { Counts, Outcome, Tally } from "../../model/run/outcome.ts";
import { type PassRate, passRateOf } from "../../model/run/pass-rate.ts";
import { placeOf, placeOfRow, placesOfProject } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import type { Listing } from "../listing.ts";

export type Interval = "hour" | "day";

/** `to` is exclusive; days are UTC. */
export type Span = { from: Date; to: Date; interval: Interval };

export type AgentPoint = Tally & {
  at: Date;
  runs: number;
  routingUnavailable: number;
  inputTokens: number;
  outputTokens: number;
  durations: Histogram;
};

/** One row per hour with runs. Callers add up days, because SQL cannot add histograms. */
export async function listAgentHours(
  db: Database,
  agentId: string,
  { from, to }: Pick<Span, "from" | "to">,
): Promise<AgentPoint[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<AgentPoint>(
    `select hour as at, runs, passed, failed, skipped, missing_instrumentation, not_fully_evaluated,
      routing_unavailable as "routingUnavailable", input_tokens as "inputTokens",
      output_tokens as "outputTokens", durations
    from agent_hours where agent_id = $1 and hour >= $2 and hour < $3 order by hour`,
    [agentId, from, to],
  );
  return rows;
}

// Runs that were asked for may have taken back all that an hour counted.
const someChecked = "passed + failed + skipped + missing_instrumentation > 0";
const someCounted = "passed + failed + skipped + missing_instrumentation + not_fully_evaluated > 0";

export type TestPoint = Tally & { testId: string; name: string; at: Date };

/** Sorted by test, then by time; at most `rowsMax`. */
export async function listTestPoints(
  db: Database,
  { agentId, testId }: { agentId: string; testId?: string | undefined },
  { from, to, interval }: Span,
  rowsMax: number,
): Promise<TestPoint[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<TestPoint>(
    `select t.id as "testId", t.name, date_trunc($5, h.hour, 'UTC') as at, ${sums}
    from test_cases t join test_hours h on h.agent_id = t.agent_id and h.test_id = t.id
    where t.agent_id = $1 and ($2::uuid is null or t.id = $2) and h.hour >= $3 and h.hour < $4 and ${someCounted}
    group by 1, 2, 3 order by 1, 3 limit $6`,
    [agentId, testId ?? null, from, to, interval, rowsMax],
  );
  return rows;
}

export type CheckPoint = Counts & { testId: string; checkId: string; name: string; at: Date };

/** Sorted by check, then by time; at most `rowsMax`. */
export async function listCheckPoints(
  db: Database,
  { agentId, testId }: { agentId: string; testId?: string | undefined },
  { from, to, interval }: Span,
  rowsMax: number,
): Promise<CheckPoint[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<CheckPoint>(
    `select t.id as "testId", t.name, h.check_id as "checkId", date_trunc($5, h.hour, 'UTC') as at, ${sumsOf(outcomes)}
    from test_cases t join check_hours h on h.agent_id = t.agent_id and h.test_id = t.id
    where t.agent_id = $1 and ($2::uuid is null or t.id = $2) and h.hour >= $3 and h.hour < $4 and ${someChecked}
    group by 1, 2, 3, 4 order by 1, 3, 4 limit $6`,
    [agentId, testId ?? null, from, to, interval, rowsMax],
  );
  return rows;
}

const outcomes = ["passed", "failed", "skipped", "missing_instrumentation"];
const tally = [...outcomes, "not_fully_evaluated"];
const sumsOf = (columns: string[]) => columns.map(column => `sum(${column})::int as ${column}`).join(", ");
const sums = sumsOf(tally);

export type AgentCard = Tally & {
  id: string;
  lastTraceAt: Date | null;
  runs: number;
  routingUnavailable: number;
};

/** The agents of a project, newest first, with their counts since `from`. */
export async function listAgentCards(
  db: Database,
  projectId: string,
  from: Date,
  { before, rowsMax }: Listing,
): Promise<AgentCard[]> {
  const cards: AgentCard[] = [];
  const places = await placesOfProject(db, projectId);
  for (const place of places) {
    const { rows } = await place.pool.query<AgentCard>(cardsStatement, [projectId, from, before, rowsMax]);
    cards.push(...(await onlyOf(db, place, rows)));
  }
  return places.length > 1 ? cards.sort((one, other) => (one.id < other.id ? 1 : -1)) : cards;
}

/** Every node of a cluster has all agents: those whose traces are elsewhere have none here. */
async function onlyOf<T extends { id: string }>(db: Database, place: Database, rows: T[]): Promise<T[]> {
  if (!db.places) return rows;
  const found = await db.places.of(rows.map(({ id }) => id));
  return rows.filter(({ id }) => found.get(id) === place);
}
const tallyOrNone = tally.map(column => `coalesce(sum(${column}), 0)::int as ${column}`).join(", ");

const cardsStatement = `select a.id, latest.received_at as "lastTraceAt", counted.*
  from (select id from agents where project_id = $1 and id < $3 order by id desc limit $4) a
  left join lateral (
    select received_at from traces where agent_id = a.id order by id desc limit 1
  ) latest on true
  cross join lateral (
    select coalesce(sum(runs), 0)::int as runs, coalesce(sum(routing_unavailable), 0)::int as "routingUnavailable",
      ${tallyOrNone}
    from agent_hours where agent_id = a.id and hour >= $2
  ) counted
  order by a.id desc`;

export type TestStrip = {
  id: string;
  lastOutcome: Outcome | null;
  lastFullyEvaluated: boolean | null;
  lastRunAt: Date | null;
  /** Manual runs; all other fields exclude them. */
  lastManualOutcome: Outcome | null;
  lastManualRunAt: Date | null;
  /** Whether all runs of the test in that launch are fully evaluated; null: no run. */
  lastManualFullyEvaluated: boolean | null;
  /** Of the same launch, if several runs of the test have completed in it. */
  lastManualPassRate: PassRate | null;
  /** Days with runs, oldest first. */
  days: (Tally & { at: string })[];
};

// As the pass rate of a launch is counted.
const manualCounts = `count(*)::int as runs,
        count(*) filter (where verdict = 'passed' and fully_evaluated)::int as succeeded,
        count(*) filter (where verdict in ('passed', 'failed') and fully_evaluated)::int as decided`;

/** The tests of an agent, newest first, each with its days since `from`. */
export async function listTestStrips(
  db: Database,
  agentId: string,
  from: Date,
  { before, rowsMax }: Listing,
): Promise<TestStrip[]> {
  type Row = Omit<TestStrip, "lastManualPassRate"> & { runs: number; succeeded: number; decided: number };
  const { rows } = await (await placeOf(db, agentId)).pool.query<Row>(
    `select t.id, latest.last_outcome as "lastOutcome", latest.last_run_at as "lastRunAt",
      latest.last_fully_evaluated as "lastFullyEvaluated",
      manual.verdict as "lastManualOutcome", manual.finished_at as "lastManualRunAt",
      manual.fully_evaluated as "lastManualFullyEvaluated",
      manual.runs, manual.succeeded, manual.decided, strip.days
    from (select id from test_cases where agent_id = $1 and id < $3 order by id desc limit $4) t
    left join lateral (
      select last_outcome, last_run_at, last_fully_evaluated from test_hours where agent_id = $1 and test_id = t.id and ${someCounted}
      order by hour desc limit 1
    ) latest on true
    left join lateral (
      select id, launch_id from runs
      where kind = 'manual' and test_id = t.id and state = 'completed' order by id desc limit 1
    ) last on true
    left join lateral (
      select max(finished_at) as finished_at, bool_and(fully_evaluated) as fully_evaluated, ${manualCounts},
        case when bool_or(verdict = 'failed') then 'failed'
          when bool_or(verdict = 'missing_instrumentation') then 'missing_instrumentation'
          when bool_or(verdict = 'passed') then 'passed' when bool_or(verdict = 'skipped') then 'skipped' end as verdict
      from runs
      where kind = 'manual' and test_id = t.id and state = 'completed' and launch_id = last.launch_id
        -- The ids of a launch's runs follow its own, so only its runs are read.
        and id >= least(last.id, last.launch_id)
    ) manual on true
    cross join lateral (
      select coalesce(json_agg(day order by day.at), '[]') as days from (
        select date_trunc('day', hour, 'UTC') as at, ${sums}
        from test_hours where agent_id = $1 and test_id = t.id and hour >= $2 and ${someCounted} group by 1
      ) day
    ) strip
    order by t.id desc`,
    [agentId, from, before, rowsMax],
  );
  return rows.map(({ runs, succeeded, decided, ...strip }) => ({
    ...strip,
    lastManualPassRate: runs > 1 ? passRateOf(succeeded, decided) : null,
  }));
}

export type TestVersionCounts = Tally & { version: number; firstRunAt: Date; lastRunAt: Date };

/** The results of a test on live traffic by its version, newest first; at most `rowsMax` versions. */
export async function listTestVersions(
  db: Database,
  testId: string,
  rowsMax: number,
): Promise<TestVersionCounts[]> {
  const { rows } = await (await placeOfRow(db, "test_cases", testId)).pool.query<TestVersionCounts>(
    `select v.version, v.passed, v.failed, v.skipped, v.missing_instrumentation, v.not_fully_evaluated, v.first_run_at as "firstRunAt",
      v.last_run_at as "lastRunAt"
    from test_cases c join test_versions v on v.agent_id = c.agent_id and v.test_id = c.id
    where c.id = $1 and ${someCounted} order by v.version desc limit $2`,
    [testId, rowsMax],
  );
  return rows;
}
