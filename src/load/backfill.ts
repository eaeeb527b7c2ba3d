// Fills, in the background, what old traces lack: what lists find them by (tools, models, results of tests), and the agents
// of their batches.
import { claimBackfill, moveBackfill } from "../store/backfills.ts";
import type { Database } from "../store/db.ts";
import { backfillResults } from "../store/runs/result-backfill.ts";
import { fillBatchAgents } from "../store/traces/batch-agents.ts";
import { listUnfilled } from "../store/traces/read.ts";
import type { HeapSemaphore } from "./heap-semaphore.ts";
import { deriveColumns } from "./stale.ts";

const tracesMax = 20;
const keyedMax = 100;
const leaseMs = 60_000;

/** Fills the newest traces that are left; false if none are, or another process is at work. */
export async function backfillTraces(
  db: Database,
  heap: HeapSemaphore,
  signal: AbortSignal,
): Promise<boolean> {
  const from = await claimBackfill(db, "trace_values", leaseMs);
  if (from === undefined) return false;
  const rows = await listUnfilled(db, from, tracesMax);
  await deriveColumns(
    db,
    rows.filter(({ filled }) => !filled),
    { heap, signal },
  );
  await backfillResults(
    db,
    rows.map(({ id }) => id),
  );
  if (signal.aborted) return false;
  await moveBackfill(db.pool, "trace_values", {
    from,
    through: rows.length < tracesMax ? null : rows.at(-1)!.id,
  });
  return true;
}

/** The same for the agents of batches. */
export async function backfillBatchAgents(db: Database): Promise<boolean> {
  const from = await claimBackfill(db, "batch_agents", leaseMs);
  if (from === undefined) return false;
  const through = await fillBatchAgents(db, from, keyedMax);
  await moveBackfill(db.pool, "batch_agents", { from, through });
  return true;
}
