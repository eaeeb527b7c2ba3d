// A stored trace, loaded as a whole as for an evaluation.
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import { type LoadedTrace, withTrace } from "../../src/load.ts";
import type { Database } from "../../src/store/db.ts";

/** Throws if there is none. */
export async function loadTrace(db: Database, traceId: string): Promise<LoadedTrace> {
  const loaded = await withTrace(db, traceId, new HeapSemaphore(), one => one);
  if (!loaded) throw new Error(`There is no trace ${traceId}.`);
  return loaded;
}
