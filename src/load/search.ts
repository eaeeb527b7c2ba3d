// Searches the spans of stored traces, one trace after the other, for as long as it may take.
import { readStored, type ScannedTrace, scanTrace } from "../load.ts";
import { Refusal } from "../model/refusal.ts";
import { mergeBatches } from "../model/trace/merge.ts";
import { matchesSpans, type NeededText, neededTexts, type SpanFilter } from "../model/trace/span-filter.ts";
import type { Database } from "../store/db.ts";
import { loadBatches, type StoredBatches } from "../store/traces/batches.ts";
import { findTraceSizes } from "../store/traces/read.ts";
import type { Scanned } from "../wire/batch.ts";
import type { HeapSemaphore } from "./heap-semaphore.ts";

/** `ms`: no further traces are read after this. */
export type SpanSearch = { traceIds: string[]; filter: SpanFilter; ms: number };

/** Of the first `searched` traces, in the order given: those that match, and how many were too large to be read. */
export type SpansFound = { matching: string[]; searched: number; tooLarge: number };

// Read in one query: a few milliseconds of work.
const readMax = 64;
const readBytesMax = 2 * 1024 * 1024;
/** A larger trace takes too much of a second. */
const traceBytesMax = 32 * 1024 * 1024;

export async function searchSpans(
  db: Database,
  heap: HeapSemaphore,
  { traceIds, filter, ms }: SpanSearch,
  signal?: AbortSignal,
): Promise<SpansFound> {
  const begun = performance.now();
  const sizes = await findTraceSizes(db, traceIds);
  const needed = neededTexts(filter).map(neededIn);
  const matching: string[] = [];
  let tooLarge = 0;
  let searched = 0;
  while (searched < traceIds.length) {
    if (searched > 0 && (signal?.aborted || performance.now() - begun > ms)) break;
    const part = nextPart(traceIds, sizes, searched);
    const readable = part.filter(id => (sizes.get(id) ?? 0) <= traceBytesMax);
    tooLarge += part.length - readable.length;
    const { loaded } = await loadBatches(db, readable);
    for (const id of readable) {
      const stored = loaded.get(id);
      if (!stored) continue;
      const found = await heap.alone(() => matches(stored, heap, filter, needed));
      if (found === undefined) tooLarge++;
      else if (found) matching.push(id);
    }
    searched += part.length;
  }
  return { matching, searched, tooLarge };
}

/** Part of each trace that matches: as JSON has it, and as protobuf has it; null: that does not tell. */
type Needed = { json: Buffer; protobuf: Buffer | null };

function neededIn({ text, isKey }: NeededText): Needed {
  const json = JSON.stringify(text).slice(1, -1);
  // Of values, numbers and bytes are no text; U+FFFD may stand for any invalid bytes.
  const isText = isKey && !text.includes("\uFFFD") && text.isWellFormed();
  return { json: Buffer.from(json), protobuf: isText ? Buffer.from(text) : null };
}

function mayHave({ text, received }: Scanned, { json, protobuf }: Needed): boolean {
  if (received !== "protobuf") return text.includes(json);
  return protobuf === null || text.includes(protobuf);
}

function nextPart(traceIds: string[], sizes: Map<string, number>, from: number): string[] {
  let to = from;
  let bytes = 0;
  do bytes += sizes.get(traceIds[to++]!) ?? 0;
  while (
    to < traceIds.length &&
    to - from < readMax &&
    bytes + (sizes.get(traceIds[to]!) ?? 0) <= readBytesMax
  );
  return traceIds.slice(from, to);
}

/** Undefined if the trace has too many values to be opened. */
async function matches(
  trace: StoredBatches,
  heap: HeapSemaphore,
  filter: SpanFilter,
  needed: Needed[],
): Promise<boolean | undefined> {
  let scanned: ScannedTrace;
  try {
    scanned = scanTrace(trace, heap);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
  const stored = scanned.batches.flatMap(({ spans, resource }) => (resource ? [spans, resource] : [spans]));
  if (!needed.every(text => stored.some(one => mayHave(one, text)))) return false;
  const taken = await heap.take(scanned.heapBytes);
  try {
    return matchesSpans(mergeBatches(scanned.batches.map(readStored), scanned.path), filter);
  } finally {
    taken?.release();
  }
}
