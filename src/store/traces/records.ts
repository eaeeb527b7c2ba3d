// Log records as ingestion and the clock see them: stored and joined, joined when late, and dropped when their span never came.
import { type Database, isTransient } from "../db.ts";
import type { MergeLimits } from "./append.ts";
import { type JoinedTrace, type JoinOutcome, joinWaiting } from "./join-records.ts";
import {
  deleteOverdue,
  type ExpiredRecords,
  insertWaiting,
  listOverdue,
  type RecordsWrite,
} from "./waiting-records.ts";

/** How long records wait for their span. */
export const recordWaitMs = 600_000;

/** Commits the records, then joins those whose span is stored. Throws UNAUTHORIZED if the key was revoked meanwhile. */
export async function storeRecords(
  db: Database,
  writes: RecordsWrite[],
  limits: MergeLimits,
): Promise<JoinOutcome> {
  await insertWaiting(db, writes);
  return joinWaiting(db, writes, limits).catch(error => {
    // The records are committed: the next batch of their trace joins them, or the clock.
    if (isTransient(error)) return { joined: [], refused: [] };
    throw error;
  });
}

/**
 * Drops records that have waited too long. Those whose span is stored after all are joined: whoever should have joined them
 * was interrupted.
 */
export async function expireRecords(
  db: Database,
  limits: MergeLimits,
  waitMs = recordWaitMs,
): Promise<{ joined: JoinedTrace[]; expired: ExpiredRecords[] }> {
  const joined: JoinedTrace[] = [];
  const expired: ExpiredRecords[] = [];
  for (;;) {
    const overdue = await listOverdue(db, waitMs);
    if (overdue.length === 0) return { joined, expired };
    joined.push(...(await joinWaiting(db, overdue, limits)).joined);
    const dropped = await deleteOverdue(db, waitMs, overdue);
    expired.push(...dropped);
    // Another process has the rest.
    if (dropped.length === 0) return { joined, expired };
  }
}
