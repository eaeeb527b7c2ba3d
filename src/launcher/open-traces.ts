// Opens the traces of a manual run's turns, within the heap that this thread has for traces.
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import { holdTraces, type OpenTraces } from "../load.ts";
import type { Database } from "../store/db.ts";
import { traceDeleted } from "../store/runs/manual-runs.ts";
import { retryTransient } from "./retry.ts";

export type OpenDeps = {
  db: Database;
  /** Absent: no limit shared with other work. */
  heap?: HeapSemaphore;
};

/** Undefined if `signal` was aborted. Throws a Refusal if one was deleted. */
export async function openTraces(
  { db, heap = new HeapSemaphore() }: OpenDeps,
  traceIds: string[],
  signal: AbortSignal,
): Promise<OpenTraces | undefined> {
  const held = await retryTransient(signal, () => holdTraces(db, traceIds, heap, signal));
  if (!held || held.traces.length === traceIds.length) return held;
  held.release();
  throw traceDeleted();
}
