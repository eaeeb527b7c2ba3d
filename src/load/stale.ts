// Derives columns again that lag behind the spans of their traces.
import { derivationOf, openEach, portionBytesMax } from "../load.ts";
import type { Database } from "../store/db.ts";
import { listStale, type StaleTrace, skipRevisions, updateColumns } from "../store/traces/stale.ts";
import { HeapSemaphore } from "./heap-semaphore.ts";

type Refreshing = {
  heap?: HeapSemaphore | undefined;
  /** Traces larger than this are skipped. */
  bytesMax?: number;
  signal?: AbortSignal | undefined;
};

const updatesMax = 10;

/**
 * Updates derived columns that are behind their spans. A merge only appends, because deriving on each of 500 batches
 * would cost the square of their number, so lists have this done before they read, and the worker calls it for traces that
 * nobody reads. Returns how many rows were behind.
 */
export async function refreshStale(
  db: Database,
  {
    heap,
    bytesMax = Infinity,
    limit = 200,
    signal,
    ...which
  }: Refreshing & { agentId?: string; quietMs?: number; limit?: number },
): Promise<number> {
  const stale = await listStale(db, { ...which, bytesMax, limit });
  await deriveColumns(db, stale, { heap, bytesMax, signal });
  return stale.length;
}

/**
 * Derives the columns of these traces, at these revisions, again. One that cannot be opened keeps its columns and is not
 * retried until it changes. Ends early when `signal` is aborted.
 */
export async function deriveColumns(
  db: Database,
  traces: Pick<StaleTrace, "id" | "revision">[],
  { heap = new HeapSemaphore(), bytesMax = Infinity, signal }: Refreshing,
): Promise<void> {
  const revisions = new Map(traces.map(({ id, revision }) => [id, revision]));
  const options = { portionBytes: Math.min(bytesMax, portionBytesMax), ...(signal && { signal }) };
  const derived: Parameters<typeof updateColumns>[1] = [];
  for await (const outcome of openEach(db, [...revisions.keys()], heap, options)) {
    const { traceId } = outcome;
    if ("loaded" in outcome) {
      derived.push(derivationOf(outcome.loaded));
      outcome.release();
    } else if ("error" in outcome) throw outcome.error;
    else if ("refusal" in outcome) await skipRevisions(db, [{ traceId, revision: revisions.get(traceId)! }]);
    if (derived.length === updatesMax) await updateColumns(db, derived.splice(0));
  }
  if (derived.length > 0) await updateColumns(db, derived);
}
