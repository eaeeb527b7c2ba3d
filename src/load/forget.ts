// Forgets traces: opens them, leaves their structure as an agent without content would have stored it, and stores that.

import { type LoadedTrace, openEach } from "../load.ts";
import { withoutContent } from "../model/content.ts";
import type { ReadBy } from "../model/conventions/read-by.ts";
import { readTraceBy } from "../model/conventions/read-by.ts";
import { columnsOf, rulesOf, type TraceColumns } from "../model/trace/columns.ts";
import { derive } from "../model/trace/derive.ts";
import { mergeBatches } from "../model/trace/merge.ts";
import type { Batch, MergedTrace, TracePath } from "../model/trace/trace.ts";
import { forgetContent, type StructureBatch, type TraceStructure } from "../store/content/forget.ts";
import type { Database } from "../store/db.ts";
import { loadBatches, type StoredBatches } from "../store/traces/read.ts";
import { spanKeysOf } from "../store/traces/span-keys.ts";
import { encodeBatch, readBatch, readResource, scan } from "../wire/batch.ts";
import { encodeRedactions } from "../wire/redactions.ts";
import type { HeapSemaphore } from "./heap-semaphore.ts";

/** Forgotten in one transaction, which takes few statements however many there are. */
const atOnce = 20;
const bytesAtOnce = 4 * 1024 * 1024;

export type ToForget = { traceIds: string[]; runIds: string[] };

/** Those that were forgotten; the others are not due any more, or changed meanwhile. */
export async function forgetTraces(
  db: Database,
  heap: HeapSemaphore,
  { traceIds, runIds }: ToForget,
  signal?: AbortSignal,
): Promise<{ traces: { traceId: string; agentId: string }[] }> {
  const forgotten: { traceId: string; agentId: string }[] = [];
  let open: TraceStructure[] = [];
  let bytes = 0;
  const store = async (runs: string[] = []) => {
    if (open.length + runs.length === 0) return;
    const done = new Set((await forgetContent(db, open, runs)).traceIds);
    forgotten.push(...open.filter(({ traceId }) => done.has(traceId)));
    open = [];
    bytes = 0;
  };
  await store(runIds);
  for await (const outcome of openEach(db, traceIds, heap, signal ? { signal } : {})) {
    if ("missing" in outcome) continue;
    if ("error" in outcome) throw outcome.error;
    if ("refusal" in outcome) open.push(...(await structureInParts(db, outcome.traceId)));
    else {
      try {
        open.push(structureOf(outcome.loaded));
      } finally {
        outcome.release();
      }
    }
    bytes += open.at(-1)?.batches.reduce((sum, batch) => sum + batch.bytes.length, 0) ?? 0;
    if (open.length >= atOnce || bytes >= bytesAtOnce) await store();
  }
  await store();
  return { traces: forgotten.map(({ traceId, agentId }) => ({ traceId, agentId })) };
}

/**
 * One batch with the structure of the whole trace, as conventions read it now: batch by batch they would read less. Tokens,
 * cost, times and status stay as they are; names, tools and models are those that the structure still has.
 */
function structureOf({ traceId, agentId, revision, trace, derived, ...by }: LoadedTrace): TraceStructure {
  const { path, spans, resource, metadata, redactions = [] } = trace;
  const left = withoutContent({ spans, resource, metadata }, path, readByOf(by), "forgotten");
  const kept = redactions.filter(redaction => isLeft(redaction, trace, left));
  return {
    traceId,
    agentId,
    revision,
    batches: [encoded(left, kept)],
    columns: columnsLeft(columnsOf(derived, rulesOf(kept)), left, path, readByOf(by)),
  };
}

function readByOf({ conventions, conventionRules }: ReadBy): ReadBy {
  return { conventions, conventionRules };
}

function columnsLeft(columns: TraceColumns, left: Batch, path: TracePath, by: ReadBy): TraceColumns {
  const { trace, reading } = readTraceBy(mergeBatches([left], path), by, undefined, "columns");
  const { name, tools, models, providers, conversationId, userId } = columnsOf(
    derive(trace, undefined, reading, "columns"),
    columns.redacted,
  );
  const names = { name, tools, models, providers, conversationId, userId };
  return { ...columns, ...names, userInput: null, responseText: null };
}

/** Of a trace that is too large to be opened: each of its batches by itself. Log records about its spans go. */
async function structureInParts(db: Database, traceId: string): Promise<TraceStructure[]> {
  const stored = (await loadBatches(db, [traceId])).loaded.get(traceId);
  if (!stored) return [];
  const { agentId, revision, path } = stored;
  const batches: StructureBatch[] = [];
  for (const batch of readEach(stored)) {
    if (batch.logRecords) continue;
    batches.push(encoded(withoutContent(batch, path, readByOf(stored), "forgotten"), []));
  }
  return [{ traceId, agentId, revision, batches, columns: null }];
}

function* readEach({ batches }: StoredBatches): Generator<Batch> {
  for (const { spans, resource } of batches) {
    yield readBatch(scan(spans), resource ? readResource(scan(resource)) : undefined);
  }
}

type Redactions = NonNullable<MergedTrace["redactions"]>;

function encoded(batch: Batch, redactions: Redactions): StructureBatch {
  return {
    ...encodeBatch(batch),
    spanCount: batch.spans.length,
    spanKeys: spanKeysOf(batch.spans),
    // Its revision told by which settings batches were redacted that are no more.
    redactions: redactions.length > 0 ? encodeRedactions(0, redactions).bytes : null,
  };
}

/** Whether the redacted text is still there: of an attribute that is no content, such as an ID. */
function isLeft({ spanId, in: where, path }: Redactions[number], before: Batch, after: Batch): boolean {
  if (where !== "attributes" || spanId === null) return false;
  const valueIn = ({ spans }: Batch) => spans.find(({ span_id }) => span_id === spanId)?.attributes[path];
  const value = valueIn(after);
  return value !== undefined && value === valueIn(before);
}
