// Opens traces of several agents, which are read together, by turns of accounts and agents.
import { openOne, portionBytesMax, type TraceOutcome } from "../load.ts";
import type { Database } from "../store/db.ts";
import { loadBatches } from "../store/traces/batches.ts";
import type { Owners } from "../threads/fair-queue.ts";
import type { HeapSemaphore } from "./heap-semaphore.ts";

export type Wanted = {
  traceId: string;
  owners: Owners;
  /** Heap that is needed as long as it is open. */
  besideBytes: number;
  /** Called before anything is read of it. */
  onBegin?: () => void;
};

/**
 * Calls `each` with the outcome of each trace, once there is room for it; those of an agent that do not fit into the first
 * portion are read after the others of the same agent. Ends early when `signal` is aborted.
 */
export async function openInTurns(
  db: Database,
  wanted: Wanted[],
  heap: HeapSemaphore,
  { signal, portionBytes = portionBytesMax }: { signal?: AbortSignal; portionBytes?: number },
  each: (outcome: TraceOutcome) => void,
): Promise<void> {
  const portion = await loadBatches(
    db,
    wanted.map(({ traceId }) => traceId),
    portionBytes,
  );
  const left = new Set(portion.left);
  const agents = Map.groupBy(wanted, ({ owners: [, agentId] }) => agentId);
  const share = portionBytes / agents.size;
  const openOf = async (ofAgent: Wanted[]) => {
    for (const { traceId, ...options } of ofAgent) {
      const batches = portion.loaded.get(traceId);
      if (!batches) continue;
      // Dropped once it is opened: a portion may be 32 MB before decompression.
      portion.loaded.delete(traceId);
      const outcome = await openOne(batches, heap, { signal, ...options });
      if (!outcome) return;
      each(outcome);
    }
    const rest = ofAgent.filter(({ traceId }) => left.has(traceId));
    const more = { portionBytes: share, ...(signal && { signal }) };
    if (rest.length > 0) await openInTurns(db, rest, heap, more, each);
  };
  for (const { traceId } of wanted) {
    if (!left.has(traceId) && !portion.loaded.has(traceId)) each({ traceId, missing: true });
  }
  await Promise.all(agents.values().map(openOf));
}
