// The results of backtests by trace: the traces still to try, results compared with stored ones, and their list.

import { readByOf } from "../../model/agent/read-by.ts";
import {
  type BacktestCause,
  type BacktestChange,
  type BacktestUsage,
  type ComparedResult,
  comparedResult,
  compareResults,
  type TriedTrace,
} from "../../model/run/backtest.ts";
import type { Outcome } from "../../model/run/outcome.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { AssertionType } from "../../model/test-case/assertion.ts";
import { storable } from "../../model/trace/storable.ts";
import { placeOfRow } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import type { Listing } from "../listing.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { backtestLeaseMs, isRunning } from "./backtests.ts";
import { decodeDetail } from "./detail.ts";
import { opaque } from "./of-traces.ts";

/** Traces that are not tried yet, newest first. */
export async function listUntried(db: Database, id: string, rowsMax: number): Promise<string[]> {
  const { rows } = await (await placeOfRow(db, "backtests", id)).pool.query<{ id: string }>(
    `select r.trace_id as id from backtests b join backtest_results r on r.agent_id = b.agent_id and r.backtest_id = b.id
     where b.id = $1 and r.change is null order by r.trace_id desc limit $2`,
    [id, rowsMax],
  );
  return rows.map(row => row.id);
}

type LatestResult = { version: number | null; compared: ComparedResult };

/** The test's result in the latest completed run of each trace that has one, by trace; without those not fully evaluated. */
async function findLatestResults(
  db: Database,
  testId: string,
  traceIds: string[],
): Promise<Map<string, LatestResult>> {
  type Row = { traceId: string; revision: number | null; detail: Buffer | null };
  const { rows } = await db.pool.query<Row>({
    name: "latest_results_of_test",
    text: `select distinct on (trace_id) trace_id as "traceId", revision, detail from runs
      where trace_id = any ($2::uuid[]) and kind = 'passive' and state = ${opaque("completed")} and $1::uuid = any (test_ids)
      order by trace_id, id desc`,
    values: [testId, traceIds],
  });
  return new Map(
    rows.flatMap(({ traceId, revision, detail: stored }) => {
      const detail = decodeDetail(stored);
      const result = detail.results.find(one => one.testId === testId);
      if (!result?.fullyEvaluated) return [];
      const scenario = detail.tests.find(one => one.testId === testId);
      const compared = comparedResult(result, scenario, { revision, readBy: readByOf(detail) });
      return [[traceId, { version: result.testVersion, compared }]];
    }),
  );
}

type TriedRow = TriedTrace & ReturnType<typeof compareResults> & { before: LatestResult | undefined };

const triedRows = multiRow<TriedRow>(2, {
  trace_id: ["uuid", row => row.traceId],
  before: ["text", row => row.before?.compared.outcome ?? null],
  before_version: ["int", row => row.before?.version ?? null],
  after: ["text", row => row.after],
  change: ["text", row => row.change],
  cause: ["text", row => row.cause],
  reason: ["text", row => storable(row.reason)],
  check_id: ["text", row => row.check && storable(row.check.id)],
  check_type: ["text", row => row.check?.type ?? null],
});

const contentGone = reasonText({ code: "content_not_stored" });

/** Stores results, compared with the latest ones of the test. False if the backtest is no longer running. */
export async function storeTried(
  db: Database,
  { id, testId }: { id: string; testId: string | null },
  items: TriedTrace[],
  usage: BacktestUsage,
): Promise<boolean> {
  const place = await placeOfRow(db, "backtests", id);
  const before =
    testId === null
      ? new Map<string, LatestResult>()
      : await findLatestResults(
          place,
          testId,
          items.map(({ traceId }) => traceId),
        );
  return transaction(place, async client => {
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
    // Locked, so that what is forgotten meanwhile is not written back.
    const { rows: forgotten } = await client.query<{ id: string }>(
      `with held as materialized (
         select id, content from traces where id = any ($1::uuid[]) order by id for key share
       )
       select id from held where content = 'forgotten'`,
      [items.map(({ traceId }) => traceId)],
    );
    const gone = new Set(forgotten.map(({ id: traceId }) => traceId));
    const told = items.map(item => (gone.has(item.traceId) ? { ...item, reason: contentGone } : item));
    const compared = told.map((item): TriedRow => {
      const earlier = before.get(item.traceId);
      return { ...item, before: earlier, ...compareResults(earlier?.compared, item) };
    });
    await client.query(
      `update backtest_results r set before = item.before, before_version = item.before_version, after = item.after,
         change = item.change, cause = item.cause, reason = item.reason, check_id = item.check_id, check_type = item.check_type
       from ${triedRows.from}, backtests b
       where b.id = $1 and r.agent_id = b.agent_id and r.backtest_id = b.id and r.trace_id = item.trace_id`,
      [id, ...triedRows.values(compared)],
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
  cause: BacktestCause | null;
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
  const { rows } = await (await placeOfRow(db, "backtests", id)).pool.query<BacktestResult>(
    `select r.trace_id as id, t.received_at as "receivedAt", t.user_input as "userInput",
       r.before, r.before_version as "beforeVersion", r.after, r.change, r.cause, r.reason, r.check_id as "checkId",
       r.check_type as "checkType"
     from backtests b join backtest_results r on r.agent_id = b.agent_id and r.backtest_id = b.id
       join traces t on t.agent_id = r.agent_id and t.id = r.trace_id
     where b.id = $1 and r.change is not null and r.trace_id < $2
       and ($4::text is null or r.change = $4)
       and ($5::text is null or coalesce(r.before, 'none') = $5)
       and ($6::text is null or coalesce(r.after, 'none') = $6)
     order by r.trace_id desc limit $3`,
    [id, listing.before, listing.rowsMax, change ?? null, before ?? null, after ?? null],
  );
  return rows;
}
