// Inserts hourly counts of runs directly, for tests of insights.
import assert from "node:assert/strict";
import type { Database } from "../../src/store/db.ts";
import { eventually } from "./eventually.ts";

export const hourMs = 3_600_000;

const spareMs = 15_000;

/** Resolves when the hour has some seconds left, so that everything evaluated now is counted in one hour. */
export async function hourWithRoom(): Promise<void> {
  await eventually(() => assert.ok(hourMs - (Date.now() % hourMs) > spareMs));
}

/** `ago`: hours before the hour in which `now` is. `others`: not fully evaluated. */
export type Hour = {
  ago: number;
  passed?: number;
  failed?: number;
  skipped?: number;
  missing?: number;
  others?: number;
};

/** Each run took 1 ms, 1,000 tokens in and 100 out. */
export async function countRuns(
  db: Database,
  agentId: string,
  now: number,
  hours: (Hour & { unrouted?: number })[],
): Promise<void> {
  for (const { ago, passed = 0, failed = 0, skipped = 0, missing = 0, others = 0, unrouted = 0 } of hours) {
    const runs = passed + failed + skipped + missing + others;
    const at = new Date(now - ago * hourMs);
    await db.pool.query(
      "insert into agent_hours values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
      [
        ...[agentId, at, runs, passed, failed, skipped, missing, unrouted],
        ...[runs * 1000, runs * 100, [0, runs], others],
      ],
    );
  }
}

/** Results of a test that has only this check. */
export async function countResults(
  db: Database,
  testId: string,
  checkId: string,
  now: number,
  { ago, passed = 0, failed = 0, skipped = 0, missing = 0, others = 0 }: Hour,
): Promise<void> {
  const at = new Date(now - ago * hourMs);
  const counts = [passed, failed, skipped, missing];
  await db.pool.query(
    "insert into test_hours select agent_id, $1, $2, $3, $4, $5, $6, now(), 'passed', true, $7 from test_cases where id = $1",
    [...[testId, at, ...counts, others]],
  );
  await db.pool.query(
    "insert into check_hours select agent_id, $1, $2, $3, $4, $5, $6, $7 from test_cases where id = $1",
    [...[testId, checkId, at, ...counts]],
  );
}
