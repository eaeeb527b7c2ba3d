// Backtests: started under a lease, one per agent at a time; their results by trace; cancelled, listed and deleted.
import { randomUUIDv7 } from "node:crypto";
import { Refusal } from "../../model/refusal.ts";
import {
  type BacktestChange,
  type BacktestState,
  type BacktestUsage,
  backtestChange,
  type TriedTrace,
} from "../../model/run/backtest.ts";
import type { Outcome } from "../../model/run/run.ts";
import type { AssertionType } from "../../model/test-case/assertion.ts";
import type { TestCaseDocument } from "../../model/test-case/test-case.ts";
import { storable } from "../../model/trace/columns.ts";
import { type Database, transaction, violatedConstraint } from "../db.ts";
import type { Listing } from "../listing.ts";
import { multiRow } from "../multi-row.ts";
import { decodeDetail } from "./detail.ts";

/** A process extends the lease every few seconds; after this long without, the backtest counts as interrupted. */
export const backtestLeaseMs = 20_000;
/** How many backtests of an agent are kept, the newest ones. */
export const backtestsKept = 20;

export type NewBacktest = {
  agentId: string;
  /** The saved test to compare with; null: none. */
  testId: string | null;
  document: TestCaseDocument;
  /** The saved version that the document equals; null: it is a draft. */
  version: number | null;
  judged: boolean;
  traceIds: string[];
};

/** Traces with the same outcomes before and now. */
export type BacktestGroup = {
  before: Outcome | null;
  after: Outcome | null;
  change: BacktestChange;
  traces: number;
};

export type Backtest = {
  id: string;
  agentId: string;
  testId: string | null;
  testVersion: number | null;
  test: TestCaseDocument;
  createdAt: Date;
  finishedAt: Date | null;
  state: BacktestState;
  judged: boolean;
  /** How many traces it has, and how many of them were tried. */
  traces: number;
  tried: number;
  groups: BacktestGroup[];
  usage: BacktestUsage;
  error: string | null;
};

// By the clock of the database. A process that stopped without saying so leaves the state as it was.
const isRunning = "state = 'running' and lease_until > now()";
const interruptExpired = `update backtests set state = 'interrupted', finished_at = lease_until
  where agent_id = $1 and state = 'running' and lease_until <= now()`;

/** Throws CONFLICT if another backtest of the agent is running. */
export async function insertBacktest(db: Database, backtest: NewBacktest): Promise<string> {
  const { agentId, testId, document, version, judged, traceIds } = backtest;
  const id = randomUUIDv7();
  try {
    await transaction(db, async client => {
      await client.query(interruptExpired, [agentId]);
      await client.query(
        `insert into backtests (id, agent_id, test_id, test, test_version, judged, state, lease_until)
         values ($1, $2, $3, $4, $5, $6, 'running', now() + $7::float8 * interval '1 ms')`,
        [id, agentId, testId, JSON.stringify(document), version, judged, backtestLeaseMs],
      );
      // Locked, so that a deletion of a trace waits and then deletes its row here too.
      await client.query(
        `insert into backtest_results (backtest_id, trace_id)
         select $1, id from traces where id = any ($2::uuid[]) and agent_id = $3 for key share`,
        [id, traceIds, agentId],
      );
      await client.query(
        `delete from backtests where id = any (array(
           select id from backtests where agent_id = $1 order by id desc offset $2
         ))`,
        [agentId, backtestsKept],
      );
    });
  } catch (error) {
    if (violatedConstraint(error) !== "backtests_one_running") throw error;
    throw new Refusal("CONFLICT", {
      message: "Another backtest of this agent is running.",
      hint: "Wait for it to finish, or cancel it.",
    });
  }
  return id;
}

/** The backtests of an agent, newest first. */
export async function listBacktests(
  db: Database,
  agentId: string,
  { before, rowsMax }: Listing,
): Promise<Backtest[]> {
  const { rows } = await db.pool.query<BacktestRow>(
    `${select} where b.agent_id = $1 and b.id < $2 order by b.id desc limit $3`,
    [agentId, before, rowsMax],
  );
  return rows.map(toBacktest);
}

export async function findBacktest(db: Database, id: string): Promise<Backtest | undefined> {
  const { rows } = await db.pool.query<BacktestRow>(`${select} where b.id = $1`, [id]);
  return rows[0] && toBacktest(rows[0]);
}

/** Ends a running backtest; does nothing if it has ended, also because its lease expired. */
export async function endBacktest(
  db: Database,
  id: string,
  state: Exclude<BacktestState, "running">,
  error: string | null = null,
): Promise<void> {
  await db.pool.query(
    `update backtests set state = $2, error = $3, finished_at = now() where id = $1 and ${isRunning}`,
    [id, state, error && storable(error)],
  );
}

export async function deleteBacktest(db: Database, id: string): Promise<void> {
  await db.pool.query("delete from backtests where id = $1", [id]);
}

/** Whether it is still running; then its lease is extended. */
export async function extendBacktest(db: Database, id: string): Promise<boolean> {
  const { rowCount } = await db.pool.query(
    `update backtests set lease_until = now() + $2::float8 * interval '1 ms' where id = $1 and ${isRunning}`,
    [id, backtestLeaseMs],
  );
  return rowCount === 1;
}

/** Traces that are not tried yet, newest first. */
export async function listUntried(db: Database, id: string, rowsMax: number): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    `select trace_id as id from backtest_results where backtest_id = $1 and change is null
     order by trace_id desc limit $2`,
    [id, rowsMax],
  );
  return rows.map(row => row.id);
}

export type LatestResult = { outcome: Outcome; version: number | null };

/** The outcome of the test in the latest completed run of each trace that has a result of it, by trace. */
export async function findLatestResults(
  db: Database,
  testId: string,
  traceIds: string[],
): Promise<Map<string, LatestResult>> {
  const { rows } = await db.pool.query<{ traceId: string; detail: Buffer | null }>({
    name: "latest_results_of_test",
    text: `select distinct on (trace_id) trace_id as "traceId", detail from runs
      where trace_id = any ($2::uuid[]) and kind = 'passive' and state = 'completed' and $1::uuid = any (test_ids)
      order by trace_id, id desc`,
    values: [testId, traceIds],
  });
  return new Map(
    rows.flatMap(({ traceId, detail }) => {
      const result = decodeDetail(detail).results.find(one => one.testId === testId);
      return result ? [[traceId, { outcome: result.outcome, version: result.testVersion }]] : [];
    }),
  );
}

type TriedRow = TriedTrace & { before: LatestResult | undefined };

const triedRows = multiRow<TriedRow>(2, {
  trace_id: ["uuid", row => row.traceId],
  before: ["text", row => row.before?.outcome ?? null],
  before_version: ["int", row => row.before?.version ?? null],
  after: ["text", row => row.after],
  change: ["text", row => backtestChange(row.before?.outcome ?? null, row.after)],
  reason: ["text", row => storable(row.reason)],
  check_id: ["text", row => row.check && storable(row.check.id)],
  check_type: ["text", row => row.check?.type ?? null],
});

/** Stores results, compared with the latest ones of the test. False if the backtest is no longer running. */
export async function storeTried(
  db: Database,
  { id, testId }: { id: string; testId: string | null },
  items: TriedTrace[],
  usage: BacktestUsage,
): Promise<boolean> {
  const before =
    testId === null
      ? new Map<string, LatestResult>()
      : await findLatestResults(
          db,
          testId,
          items.map(({ traceId }) => traceId),
        );
  return transaction(db, async client => {
    const { rowCount } = await client.query(
      `update backtests set calls = calls + $2, input_tokens = input_tokens + $3, output_tokens = output_tokens + $4,
         cost_usd = cost_usd + $5, unpriced_tokens = unpriced_tokens + $6,
         lease_until = now() + $7::float8 * interval '1 ms'
       where id = $1 and ${isRunning}`,
      [
        id,
        usage.calls,
        usage.inputTokens,
        usage.outputTokens,
        usage.costUsd,
        usage.unpricedTokens,
        backtestLeaseMs,
      ],
    );
    if (rowCount !== 1) return false;
    await client.query(
      `update backtest_results r set before = item.before, before_version = item.before_version, after = item.after,
         change = item.change, reason = item.reason, check_id = item.check_id, check_type = item.check_type
       from ${triedRows.from} where r.backtest_id = $1 and r.trace_id = item.trace_id`,
      [id, ...triedRows.values(items.map(item => ({ ...item, before: before.get(item.traceId) })))],
    );
    return true;
  });
}

/** A tried trace, with its own columns as they are now. */
export type BacktestResult = {
  /** The trace's. */
  id: string;
  receivedAt: Date;
  userInput: string | null;
  before: Outcome | null;
  beforeVersion: number | null;
  after: Outcome | null;
  change: BacktestChange;
  reason: string;
  checkId: string | null;
  checkType: AssertionType | null;
};

/** "none": no outcome. */
export type BacktestFilter = {
  change?: BacktestChange | undefined;
  before?: Outcome | "none" | undefined;
  after?: Outcome | "none" | undefined;
};

/** The tried traces, newest first. */
export async function listBacktestResults(
  db: Database,
  id: string,
  { change, before, after }: BacktestFilter,
  listing: Listing,
): Promise<BacktestResult[]> {
  const { rows } = await db.pool.query<BacktestResult>(
    `select r.trace_id as id, t.received_at as "receivedAt", t.user_input as "userInput", r.before,
       r.before_version as "beforeVersion", r.after, r.change, r.reason, r.check_id as "checkId",
       r.check_type as "checkType"
     from backtest_results r join traces t on t.id = r.trace_id
     where r.backtest_id = $1 and r.change is not null and r.trace_id < $2
       and ($4::text is null or r.change = $4)
       and ($5::text is null or coalesce(r.before, 'none') = $5)
       and ($6::text is null or coalesce(r.after, 'none') = $6)
     order by r.trace_id desc limit $3`,
    [id, listing.before, listing.rowsMax, change ?? null, before ?? null, after ?? null],
  );
  return rows;
}

const select = `select b.*, case when ${isRunning} or state <> 'running' then state else 'interrupted' end as seen_state,
    case when state = 'running' and lease_until <= now() then lease_until else finished_at end as ended_at, c.*
  from backtests b cross join lateral (
    select coalesce(sum(traces), 0)::int as traces, coalesce(sum(traces) filter (where change is not null), 0)::int as tried,
      coalesce(json_agg(json_build_object('before', before, 'after', after, 'change', change, 'traces', traces)
        order by traces desc) filter (where change is not null), '[]') as groups
    from (
      select before, after, change, count(*)::int as traces from backtest_results where backtest_id = b.id
      group by before, after, change
    ) grouped
  ) c`;

type BacktestRow = {
  id: string;
  agent_id: string;
  test_id: string | null;
  test: string;
  test_version: number | null;
  created_at: Date;
  judged: boolean;
  seen_state: BacktestState;
  ended_at: Date | null;
  error: string | null;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  unpriced_tokens: number;
  traces: number;
  tried: number;
  groups: BacktestGroup[];
};

function toBacktest(row: BacktestRow): Backtest {
  return {
    id: row.id,
    agentId: row.agent_id,
    testId: row.test_id,
    testVersion: row.test_version,
    test: JSON.parse(row.test) as TestCaseDocument,
    createdAt: row.created_at,
    finishedAt: row.ended_at,
    state: row.seen_state,
    judged: row.judged,
    traces: row.traces,
    tried: row.tried,
    groups: row.groups,
    usage: {
      calls: row.calls,
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      costUsd: row.cost_usd,
      unpricedTokens: row.unpriced_tokens,
    },
    error: row.error,
  };
}
