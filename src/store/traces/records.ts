// Log records as ingestion and the clock see them: stored and joined, joined when late, and dropped when their span never came.
import { type Database, isTransient } from "../db.ts";
import type { MergeLimits } from "./append.ts";
import { type JoinedTrace, type JoinLimits, joinWaiting } from "./join-records.ts";
import type { NamedTrace } from "./otlp-ids.ts";
import {
  deleteOverdue,
  insertWaiting,
  listOverdue,
  type RecordsWrite,
  type SentRecords,
} from "./waiting-records.ts";

/** How long records wait for their span. */
export const recordWaitMs = 600_000;

/**
 * `refused`: how many of the records did not fit into their trace. `dropped`: records of earlier requests that waited for a
 * trace and do not fit either.
 */
export type RecordsOutcome = { joined: JoinedTrace[]; refused: number; dropped: SentRecords[] };

/**
 * Commits the records, then joins those whose span is stored. Throws UNAUTHORIZED if the key was revoked meanwhile. `retryLater`
 * is called with their traces if the database is unavailable after the commit.
 */
export async function storeRecords(
  db: Database,
  writes: RecordsWrite[],
  limits: JoinLimits,
  retryLater?: (traces: NamedTrace[]) => void,
): Promise<RecordsOutcome> {
  const own = await insertWaiting(db, writes);
  const { joined, refused } = await joinWaiting(db, writes, limits).catch(error => {
    if (!isTransient(error)) throw error;
    retryLater?.(writes.map(({ agentId, otlpTraceId }) => ({ agentId, otlpTraceId })));
    return { joined: [], refused: [] };
  });
  const [sent, dropped] = [true, false].map(is => refused.filter(({ id }) => own.has(id) === is));
  return { joined, refused: sent!.reduce((sum, { records }) => sum + records, 0), dropped: dropped! };
}

/**
 * Drops records that have waited too long. Those whose span is stored after all are joined: the process that should have joined them
 * was interrupted. `refused`: they do not fit into their trace.
 */
export async function expireRecords(
  db: Database,
  limits: MergeLimits,
  waitMs = recordWaitMs,
): Promise<{ joined: JoinedTrace[]; refused: SentRecords[]; expired: SentRecords[] }> {
  const joined: JoinedTrace[] = [];
  const refused: SentRecords[] = [];
  const expired: SentRecords[] = [];
  for (;;) {
    const overdue = await listOverdue(db, waitMs);
    if (overdue.length === 0) return { joined, refused, expired };
    const outcome = await joinWaiting(db, overdue, limits);
    joined.push(...outcome.joined);
    refused.push(...outcome.refused);
    const dropped = await deleteOverdue(db, waitMs, overdue);
    expired.push(...dropped);
    // Another process has the rest.
    if (dropped.length === 0) return { joined, refused, expired };
  }
}
