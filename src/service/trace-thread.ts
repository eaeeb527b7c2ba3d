// The trace reader thread: reads large traces, with an LRU cache of loaded ones, or searches the spans of many.

import { workerData } from "node:worker_threads";
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import { type SpanSearch, searchSpans } from "../load/search.ts";
import { deriveColumns } from "../load/stale.ts";
import { openStore } from "../store/cluster/open.ts";
import { type Addresses, asUnreadable } from "../store/db.ts";
import type { StaleTrace } from "../store/traces/stale.ts";
import type { TraceLimits } from "../threads/heap.ts";
import { serveThread } from "../threads/serve.ts";
import { acquireVersion, cacheTraces, openTraceReader } from "../trace-reader.ts";

// Bytes of JSON, which take several times as much memory.
const cachedBytesMax = 96 * 1024 * 1024;

const { addresses, limits } = workerData as TraceThreadData;
const db = openStore(addresses, 2);
const heap = new HeapSemaphore(limits);
const cache = cacheTraces(acquireVersion(db, heap), cachedBytesMax);
heap.makeRoom = () => cache.drop();

const handlers = {
  ...openTraceReader(cache.load),
  search: (request: SpanSearch, signal: AbortSignal) => searchSpans(db, heap, request, signal),
  derive: (stale: StaleTrace[]) => deriveColumns(db, stale, { heap }),
};

serveThread(handlers, {
  stop: () => db.close(),
  toRefusal: asUnreadable,
  bytesIn(result: object | undefined) {
    if (!result) return [];
    if (result instanceof Uint8Array) return [result];
    const { json, spans } = result as { json?: unknown; spans?: unknown };
    return [json, spans].filter(part => part instanceof Uint8Array);
  },
});

export type TraceThreadData = { addresses: Addresses; limits: TraceLimits };
