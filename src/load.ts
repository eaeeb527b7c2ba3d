// Loads traces whole: their batches opened, merged and derived; and brings rows that lag behind up to date.
import { columnsOf } from "./model/columns.ts";
import { derive } from "./model/derive.ts";
import { mergeBatches } from "./model/merge.ts";
import type { Derived, MergedTrace } from "./model/trace.ts";
import type { Database } from "./store/db.ts";
import { listStale, loadBatches, type StoredBatches, updateColumns } from "./store/traces.ts";
import { decodeBatch } from "./wire/batch.ts";

export type LoadedTrace = {
  traceId: string;
  agentId: string;
  revision: number;
  /** Whether the row's columns were derived from an earlier revision. */
  stale: boolean;
  trace: MergedTrace;
  derived: Derived;
};

/** Each trace in one snapshot; a trace that does not exist is missing from the map. */
export async function loadTraces(db: Database, traceIds: string[]): Promise<Map<string, LoadedTrace>> {
  const stored = await loadBatches(db, traceIds);
  return new Map([...stored].map(([id, batches]) => [id, open(batches)]));
}

/**
 * Derives again what merges have left behind: a merge only appends, because deriving on each of 500 batches would
 * cost the square of their number. Whoever reads a list does this first, and the worker does it for traces that
 * nobody reads. Returns how many rows were behind.
 */
export async function refreshStale(
  db: Database,
  { agentId, quietMs, limit = 200 }: { agentId?: string; quietMs?: number; limit?: number },
): Promise<number> {
  const ids = await listStale(db, { ...(agentId && { agentId }), ...(quietMs && { quietMs }), limit });
  // A few at a time: each may hold up to 200,000 spans.
  for (let at = 0; at < ids.length; at += 10) {
    const loaded = await loadTraces(db, ids.slice(at, at + 10));
    await updateColumns(
      db,
      [...loaded.values()].map(({ traceId, revision, derived }) => ({
        traceId,
        revision,
        columns: columnsOf(derived),
      })),
    );
  }
  return ids.length;
}

function open({ traceId, agentId, path, revision, derivedRevision, batches }: StoredBatches): LoadedTrace {
  const trace = mergeBatches(batches.map(decodeBatch), path);
  return { traceId, agentId, revision, stale: derivedRevision !== revision, trace, derived: derive(trace) };
}
