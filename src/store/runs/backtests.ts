// Backtests: started under a lease, one per agent at a time; ended, listed and deleted.

import { parseNumbers } from "../../model/json-exact.ts";
import { Refusal } from "../../model/refusal.ts";
import type { BacktestChange, BacktestState, BacktestUsage } from "../../model/run/backtest.ts";
import type { Outcome } from "../../model/run/outcome.ts";
import type { TestCaseDocument } from "../../model/test-case/document.ts";
import { storable } from "../../model/trace/storable.ts";
import { placeOf, placeOfRow } from "../cluster/routing.ts";
import { type Database, transaction, violatedConstraint } from "../db.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";

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
  draftedFrom: string[];
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
export const isRunning = "state = 'running' and lease_until > now()";
const interruptExpired = `update backtests set state = 'interrupted', finished_at = lease_until
  where agent_id = $1 and state = 'running' and lease_until <= now()`;

/** Throws CONFLICT if another backtest of the agent is running. */
export async function insertBacktest(db: Database, backtest: NewBacktest): Promise<string> {
  const { agentId, testId, document, version, draftedFrom, judged, traceIds } = backtest;
  const id = newId();
  try {
    await transaction(await placeOf(db, agentId), async client => {
      await client.query(interruptExpired, [agentId]);
      await client.query(
        `insert into backtests (id, agent_id, test_id, test, test_version, drafted_from, judged, state, lease_until)
         values ($1, $2, $3, $4, $5, $6, $7, 'running', now() + $8::float8 * interval '1 ms')`,
        [id, agentId, testId, JSON.stringify(document), version, draftedFrom, judged, backtestLeaseMs],
      );
      // Locked, so that a deletion of a trace waits and then deletes its row here too.
      await client.query(
        `insert into backtest_results (agent_id, backtest_id, trace_id)
         select agent_id, $1, id from traces where id = any ($2::uuid[]) and agent_id = $3 for key share`,
        [id, traceIds, agentId],
      );
      await client.query(
        `delete from backtests where agent_id = $1 and id = any (array(
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
  const { rows } = await (await placeOf(db, agentId)).pool.query<BacktestRow>(
    `${select} where b.agent_id = $1 and b.id < $2 order by b.id desc limit $3`,
    [agentId, before, rowsMax],
  );
  return rows.map(toBacktest);
}

export async function findBacktest(db: Database, id: string): Promise<Backtest | undefined> {
  const { rows } = await (await placeOfRow(db, "backtests", id)).pool.query<BacktestRow>(
    `${select} where b.id = $1`,
    [id],
  );
  return rows[0] && toBacktest(rows[0]);
}

/** Ends a running backtest; does nothing if it has ended, also because its lease expired. */
export async function endBacktest(
  db: Database,
  id: string,
  state: Exclude<BacktestState, "running">,
  error: string | null = null,
): Promise<void> {
  await (await placeOfRow(db, "backtests", id)).pool.query(
    `update backtests set state = $2, error = $3, finished_at = now() where id = $1 and ${isRunning}`,
    [id, state, error && storable(error)],
  );
}

export async function deleteBacktest(db: Database, id: string): Promise<void> {
  await (await placeOfRow(db, "backtests", id)).pool.query("delete from backtests where id = $1", [id]);
}

/** Whether it is still running; then its lease is extended. */
export async function extendBacktest(db: Database, id: string): Promise<boolean> {
  const { rowCount } = await (await placeOfRow(db, "backtests", id)).pool.query(
    `update backtests set lease_until = now() + $2::float8 * interval '1 ms' where id = $1 and ${isRunning}`,
    [id, backtestLeaseMs],
  );
  return rowCount === 1;
}

const select = `select b.*, case when ${isRunning} or state <> 'running' then state else 'interrupted' end as seen_state,
    case when state = 'running' and lease_until <= now() then lease_until else finished_at end as ended_at, c.*
  from backtests b cross join lateral (
    select coalesce(sum(traces), 0)::int as traces, coalesce(sum(traces) filter (where change is not null), 0)::int as tried,
      coalesce(json_agg(json_build_object('before', before, 'after', after, 'change', change, 'traces', traces)
        order by traces desc) filter (where change is not null), '[]') as groups
    from (
      select before, after, change, count(*)::int as traces from backtest_results
      where agent_id = b.agent_id and backtest_id = b.id
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
    test: parseNumbers(row.test) as TestCaseDocument,
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
