// Loads stored traces: opens, merges and derives their batches.
import type { HeapSemaphore } from "./load/heap-semaphore.ts";
import { type ReadBy, readTraceBy, sameReadBy } from "./model/conventions/read-by.ts";
import type { TraceReading } from "./model/conventions/read-trace.ts";
import { translateSpans } from "./model/conventions/translate.ts";
import { ValueAllowance } from "./model/json-text.ts";
import { markTrace } from "./model/redaction/marks.ts";
import { Refusal } from "./model/refusal.ts";
import { columnsOf, rulesOf } from "./model/trace/columns.ts";
import { derive } from "./model/trace/derive.ts";
import { mergeBatches } from "./model/trace/merge.ts";
import { mayBeRedacted } from "./model/trace/text-redactions.ts";
import type { Attributes, Batch, Derived, MergedTrace, Span } from "./model/trace/trace.ts";
import { tellOfWork } from "./model/work.ts";
import type { Database } from "./store/db.ts";
import { loadBatches, type StoredBatch, type StoredBatches } from "./store/traces/batches.ts";
import type { Derivation } from "./store/traces/stale.ts";
import { keptValuesBytes, traceHeapBytes } from "./threads/heap.ts";
import { readBatch, readResource, type Scanned, scan } from "./wire/batch.ts";
import { readRedactions } from "./wire/redactions.ts";

export type LoadedTrace = ReadBy & {
  traceId: string;
  agentId: string;
  /** The account that the agent belongs to. */
  accountId: string;
  revision: number;
  /** Whether the row's columns were derived from an earlier revision. */
  stale: boolean;
  /** As it is stored. */
  trace: MergedTrace;
  /** What its conventions say; null if they recognize no span. */
  reading: TraceReading | null;
  /** The trace as checks and conversations read it: with the attributes that rules and conventions gave. */
  read: MergedTrace;
  derived: Derived;
  /** Upper bound of the heap it needs. */
  heapBytes: number;
};

/** Traces that keep their share of the thread's heap until `release` is called. */
export type OpenTraces = { traces: LoadedTrace[]; release: () => void };

/** The outcome of one trace: `refusal` if it is too large to be opened, `error` for any other fault. */
export type TraceOutcome =
  | { traceId: string; loaded: LoadedTrace; release: () => void }
  | { traceId: string; missing: true }
  | { traceId: string; refusal: Refusal }
  | { traceId: string; error: unknown };

/** Bytes of JSON that are read in one query, and opened without a pause. */
export const portionBytesMax = 32 * 1024 * 1024;

/**
 * Opens traces one after the other, small ones first, each once there is room for it. A trace that cannot be opened
 * does not affect the others. Ends early when `signal` is aborted.
 */
export async function* openEach(
  db: Database,
  traceIds: string[],
  heap: HeapSemaphore,
  { signal, portionBytes = portionBytesMax }: { signal?: AbortSignal; portionBytes?: number } = {},
): AsyncGenerator<TraceOutcome> {
  const asked = new Set(traceIds);
  for (let left = [...asked]; left.length > 0; ) {
    const portion = await loadBatches(db, left, portionBytes);
    left = portion.left;
    for (const [traceId, batches] of portion.loaded) {
      // Dropped once it is opened: a portion may be 32 MB before decompression.
      portion.loaded.delete(traceId);
      asked.delete(traceId);
      const outcome = await heap.alone(() => openOne(batches, heap, signal));
      if (!outcome) return;
      yield outcome;
    }
  }
  for (const traceId of asked) yield { traceId, missing: true };
}

/**
 * Opens traces that are needed together, in the order given; one that does not exist is left out. Undefined if `signal`
 * is aborted first. Throws PAYLOAD_TOO_LARGE if together they are larger than one trace may be.
 */
export function holdTraces(
  db: Database,
  traceIds: string[],
  heap: HeapSemaphore,
  signal?: AbortSignal,
): Promise<OpenTraces | undefined> {
  return heap.alone(() => hold(db, traceIds, heap, signal));
}

/** Opens one trace for the duration of `use`; undefined if it does not exist. Throws PAYLOAD_TOO_LARGE. */
export async function withTrace<T>(
  db: Database,
  traceId: string,
  heap: HeapSemaphore,
  use: (loaded: LoadedTrace) => T | Promise<T>,
): Promise<T | undefined> {
  const held = await holdTraces(db, [traceId], heap);
  try {
    const loaded = held?.traces[0];
    return loaded && (await use(loaded));
  } finally {
    held?.release();
  }
}

async function hold(
  db: Database,
  traceIds: string[],
  heap: HeapSemaphore,
  signal: AbortSignal | undefined,
): Promise<OpenTraces | undefined> {
  const scanned: ScannedTrace[] = [];
  let bytes = 0;
  // One at a time: together their batches may be as large as those of one trace.
  for (const traceId of traceIds) {
    const stored = (await loadBatches(db, [traceId])).loaded.get(traceId);
    if (!stored) continue;
    const trace = scanTrace(stored, heap);
    bytes += trace.heapBytes;
    if (!heap.fits(bytes)) throw tooManyValues();
    scanned.push(trace);
  }
  const taken = await heap.take(bytes, signal);
  if (!taken) return undefined;
  try {
    const traces = scanned.map(trace => open(trace));
    taken.grow(traces.reduce((sum, { heapBytes }) => sum + heapBytes, -bytes));
    return { traces, release: taken.release };
  } catch (error) {
    taken.release();
    throw error;
  }
}

/** `besideBytes`: heap that is needed as long as the trace is open. Undefined if `signal` is aborted first. */
export async function openOne(
  stored: StoredBatches,
  heap: HeapSemaphore,
  signal: AbortSignal | undefined,
  besideBytes = 0,
): Promise<TraceOutcome | undefined> {
  const { traceId } = stored;
  try {
    const scanned = scanTrace(stored, heap);
    const taken = await heap.take(scanned.heapBytes + besideBytes, signal);
    if (!taken) return undefined;
    try {
      const loaded = open(scanned);
      taken.grow(loaded.heapBytes - scanned.heapBytes);
      return { traceId, loaded, release: taken.release };
    } catch (error) {
      taken.release();
      throw error;
    }
  } catch (error) {
    return error instanceof Refusal ? { traceId, refusal: error } : { traceId, error };
  }
}

export type ScannedTrace = Omit<StoredBatches, "batches"> & { batches: ScannedBatch[]; heapBytes: number };

type ScannedBatch = { spans: Scanned; resource: ScannedResource | null; redactions: Buffer | null };
type ScannedResource = Scanned & { value?: Attributes };

// Batches loaded together share the buffer of their resource, which is read once for all of them: it may be as large as
// the request that brought it, with thousands of traces. Their number of bytes and elements counts for each trace.
const scannedResources = new WeakMap<Buffer, ScannedResource>();

function scanResource(resource: NonNullable<StoredBatch["resource"]>): ScannedResource {
  const scanned = scannedResources.get(resource) ?? scan(resource);
  scannedResources.set(resource, scanned);
  return scanned;
}

export function readStored({ spans, resource, redactions }: ScannedBatch): Batch {
  if (resource) resource.value ??= readResource(resource);
  const batch = readBatch(spans, resource?.value);
  return redactions ? { ...batch, redactions: readRedactions(redactions).redactions } : batch;
}

/** Checks the size before anything is parsed. Throws PAYLOAD_TOO_LARGE. */
export function scanTrace({ batches, ...trace }: StoredBatches, heap: HeapSemaphore): ScannedTrace {
  const scanned: ScannedBatch[] = [];
  let bytes = 0;
  let elements = 0;
  for (const batch of batches) {
    const { redactions } = batch;
    const one = {
      spans: scan(batch.spans),
      resource: batch.resource && scanResource(batch.resource),
      redactions,
    };
    for (const part of [one.spans, one.resource]) {
      bytes += part?.text.length ?? 0;
      elements += part?.elements ?? 0;
    }
    if (!heap.fits(traceHeapBytes({ bytes, elements }))) throw tooManyValues();
    scanned.push(one);
  }
  tellOfWork("trace", { bytes, elements });
  return { ...trace, batches: scanned, heapBytes: traceHeapBytes({ bytes, elements }) };
}

function open({ batches, heapBytes, path, derivedRevision, ...trace }: ScannedTrace): LoadedTrace {
  const { revision } = trace;
  const opened: Batch[] = [];
  // Each text is dropped once it is parsed: together they may be 256 MB.
  for (batches.reverse(); batches.length > 0; ) opened.push(readStored(batches.pop()!));
  const merged = mergeBatches(opened, path);
  const stale = derivedRevision !== revision;
  const { keptBytes, ...values } = read(merged, trace);
  return { ...trace, ...values, stale, trace: merged, heapBytes: heapBytes + keptBytes };
}

/** The trace read by others than its agent's rules and conventions, such as those that a run began with. */
export function readAgain(loaded: LoadedTrace, { conventions, conventionRules }: ReadBy): LoadedTrace {
  const by = { conventions, conventionRules };
  if (sameReadBy(by, loaded)) return loaded;
  const { keptBytes: _, ...values } = read(loaded.trace, by);
  return { ...loaded, ...values, ...by };
}

/** The trace, read once more with marks around its redacted places. */
export type MarkedTrace = Pick<LoadedTrace, "read" | "derived">;

/** Null if nothing in its spans was redacted, or the trace is too large to be read twice. */
export function readMarked(loaded: LoadedTrace): MarkedTrace | null {
  if (loaded.heapBytes > markedHeapMax) return null;
  const marked = markTrace(loaded.trace);
  return marked && read(marked, loaded);
}

/** What checks copy of the trace is marked by. */
export function twinOf(loaded: LoadedTrace): () => { spans: Span[]; derived: Derived } | null {
  return () => {
    const marked = readMarked(loaded);
    return marked && { spans: marked.read.spans, derived: marked.derived };
  };
}

/** It was not reserved; traces are usually a hundredth of it. */
const markedHeapMax = 32 * 1024 * 1024;

function read(stored: MergedTrace, by: ReadBy) {
  const allowance = new ValueAllowance();
  const { trace, reading } = readTraceBy(stored, by, allowance);
  const derived = derive(trace, allowance, reading);
  const read = reading ? { ...trace, spans: translateSpans(trace.spans, reading) } : trace;
  return { reading, read, derived, keptBytes: keptValuesBytes(allowance.used) };
}

/** What the columns of its row should be. */
export function derivationOf(loaded: LoadedTrace): Derivation {
  const { traceId, revision, conventions, conventionRules, derived, trace } = loaded;
  const rules = rulesOf(trace.redactions);
  const columns = columnsOf(
    derived,
    rules,
    mayBeRedacted(rules, derived) ? readMarked(loaded)?.derived : null,
  );
  return { traceId, revision, columns, readBy: { conventions, conventionRules } };
}

function tooManyValues(): Refusal {
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: "The trace contains too many values (objects, lists and their entries) to be opened.",
    hint: "Send fewer or smaller spans in one trace, or large structures as JSON text in one attribute.",
  });
}
