// Loads stored traces: opens, merges and derives their batches.

import type { HeapSemaphore, Taken } from "./load/heap-semaphore.ts";
import { type ReadBy, readByOf, sameReadBy } from "./model/agent/read-by.ts";
import { ValueAllowance } from "./model/json-text.ts";
import { rulesOf } from "./model/redaction.ts";
import { Refusal } from "./model/refusal.ts";
import type { SentMessage } from "./model/run/launch.ts";
import { mergeBatches } from "./model/trace/merge.ts";
import type { Attributes, Batch, Derived, MergedTrace } from "./model/trace/trace.ts";
import { tellOfWork } from "./model/work.ts";
import { readTraceBy } from "./reading/conventions/read-by.ts";
import type { TraceReading } from "./reading/conventions/read-trace.ts";
import { translateSpans } from "./reading/conventions/translate.ts";
import { columnsOf } from "./reading/derived/columns.ts";
import { derive } from "./reading/derived/derive.ts";
import { withSentMessage } from "./reading/derived/sent-message.ts";
import type { Database } from "./store/db.ts";
import { loadBatches, type StoredBatch, type StoredBatches } from "./store/traces/batches.ts";
import type { Derivation } from "./store/traces/stale.ts";
import type { Owners } from "./threads/fair-queue.ts";
import { keptValuesBytes, traceHeapBytes } from "./threads/heap.ts";
import { readBatch, readResource, type Scanned, scan } from "./wire/batch.ts";

export type LoadedTrace = ReadBy & {
  traceId: string;
  agentId: string;
  /** The account that the agent belongs to. */
  accountId: string;
  revision: number;
  /** Whether the row's columns were derived from an earlier revision. */
  stale: boolean;
  /** The message that made it, if it is the trace of a manual run. */
  sent: SentMessage | null;
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
      const outcome = await openOne(batches, heap, { signal });
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
export async function holdTraces(
  db: Database,
  traceIds: string[],
  heap: HeapSemaphore,
  signal?: AbortSignal,
): Promise<OpenTraces | undefined> {
  const held = await heap.alone(() => hold(db, traceIds, heap, bytes => heap.tryTake(bytes)));
  if (typeof held !== "number") return held;
  // Others are opened while this one waits, and what it decompressed is dropped.
  const taken = await heap.take(held, signal);
  if (!taken) return undefined;
  try {
    return (await hold(db, traceIds, heap, bytes => {
      taken.grow(bytes - held);
      return taken;
    })) as OpenTraces;
  } catch (error) {
    taken.release();
    throw error;
  }
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

/** How many bytes it needs, if `take` gives nothing. */
async function hold(
  db: Database,
  traceIds: string[],
  heap: HeapSemaphore,
  take: (bytes: number) => Taken | undefined,
): Promise<OpenTraces | number> {
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
  const taken = take(bytes);
  if (!taken) return bytes;
  try {
    const traces = scanned.map(trace => open(trace));
    taken.grow(traces.reduce((sum, { heapBytes }) => sum + heapBytes, -bytes));
    return { traces, release: taken.release };
  } catch (error) {
    taken.release();
    throw error;
  }
}

type OpenOptions = {
  signal?: AbortSignal | undefined;
  /** Whose turn it is. */
  owners?: Owners;
  /** Heap that is needed as long as the trace is open. */
  besideBytes?: number;
  /** Called before anything is read of it. */
  onBegin?: (() => void) | undefined;
};

/** Opens a trace once there is room for it, while others may be opened; undefined if `signal` is aborted first. */
export async function openOne(
  stored: StoredBatches,
  heap: HeapSemaphore,
  { signal, owners, besideBytes = 0, onBegin }: OpenOptions = {},
): Promise<TraceOutcome | undefined> {
  const { traceId } = stored;
  const openIn = (scanned: ScannedTrace, taken: Taken): TraceOutcome => {
    try {
      const loaded = open(scanned);
      taken.grow(loaded.heapBytes - scanned.heapBytes);
      return { traceId, loaded, release: taken.release };
    } catch (error) {
      taken.release();
      throw error;
    }
  };
  try {
    const opened = await heap.alone(async () => {
      if (signal?.aborted) return undefined;
      onBegin?.();
      const scanned = scanTrace(stored, heap);
      const bytes = scanned.heapBytes + besideBytes;
      const taken = heap.tryTake(bytes, owners);
      return taken ? openIn(scanned, taken) : bytes;
    }, owners);
    if (typeof opened !== "number") return opened;
    // What was decompressed is dropped while it waits.
    const taken = await heap.take(opened, signal, owners);
    return taken && openIn(scanTrace(stored, heap), taken);
  } catch (error) {
    return error instanceof Refusal ? { traceId, refusal: error } : { traceId, error };
  }
}

export type ScannedTrace = Omit<StoredBatches, "batches"> & { batches: ScannedBatch[]; heapBytes: number };

type ScannedBatch = { spans: Scanned; resource: ScannedResource | null };
type ScannedResource = Scanned & { value?: Attributes };

// Batches loaded together share the buffer of their resource, which is read once for all of them: it may be as large as
// the request that brought it, with thousands of traces. Their number of bytes and elements counts for each trace.
const scannedResources = new WeakMap<Buffer, ScannedResource>();

function scanResource(resource: NonNullable<StoredBatch["resource"]>): ScannedResource {
  const scanned = scannedResources.get(resource) ?? scan(resource);
  scannedResources.set(resource, scanned);
  return scanned;
}

export function readStored({ spans, resource }: ScannedBatch): Batch {
  if (resource) resource.value ??= readResource(resource);
  return readBatch(spans, resource?.value);
}

/** Checks the size before anything is parsed. Throws PAYLOAD_TOO_LARGE. */
export function scanTrace({ batches, ...trace }: StoredBatches, heap: HeapSemaphore): ScannedTrace {
  const scanned: ScannedBatch[] = [];
  let bytes = 0;
  let elements = 0;
  for (const batch of batches) {
    const one = { spans: scan(batch.spans), resource: batch.resource && scanResource(batch.resource) };
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
  const { keptBytes, ...values } = read(merged, trace, trace.sent);
  return { ...trace, ...values, stale, trace: merged, heapBytes: heapBytes + keptBytes };
}

/** The trace read by others than its agent's rules and conventions, such as those that a run began with. */
export function readAgain(loaded: LoadedTrace, readBy: ReadBy): LoadedTrace {
  const by = readByOf(readBy);
  if (sameReadBy(by, loaded)) return loaded;
  const { keptBytes: _, ...values } = read(loaded.trace, by, loaded.sent);
  return { ...loaded, ...values, ...by };
}

function read(stored: MergedTrace, by: ReadBy, sent: SentMessage | null) {
  const allowance = new ValueAllowance();
  const { trace, reading } = readTraceBy(stored, by, allowance);
  const derived = derive(trace, allowance, reading);
  const read = reading ? { ...trace, spans: translateSpans(trace.spans, reading) } : trace;
  const seen =
    sent && !stored.content ? withSentMessage({ trace: read, derived }, sent) : { trace: read, derived };
  return { reading, read: seen.trace, derived: seen.derived, keptBytes: keptValuesBytes(allowance.used) };
}

/** What the columns of its row should be. */
export function derivationOf(loaded: LoadedTrace): Derivation {
  const { traceId, revision, derived, trace } = loaded;
  const columns = columnsOf(derived, rulesOf(trace.redactions));
  return { traceId, revision, columns, readBy: readByOf(loaded) };
}

function tooManyValues(): Refusal {
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: "The trace contains too many values (objects, lists and their entries) to be opened.",
    hint: "Send fewer or smaller spans in one trace, or large structures as JSON text in one attribute.",
  });
}
