// The trace reader thread: reads large traces, with an LRU cache of loaded ones, or searches the spans of many.
import { workerData } from "node:worker_threads";
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import { type SpanSearch, type SpansFound, searchSpans } from "../load/search.ts";
import type { Preview } from "../model/conventions/report.ts";
import { asUnreadable } from "../store/db.ts";
import { openStore } from "../store/scale/open.ts";
import type { Derivation } from "../store/traces/stale.ts";
import { serveThread } from "../threads/serve.ts";
import type { OutlinePart, WholePart } from "../trace-reader/parts.ts";
import type { TurnPart } from "../trace-reader/turn.ts";
import { acquireVersion, cacheTraces, openTraceReader } from "../trace-reader.ts";
import type { TraceThreadData } from "./threaded-trace-reader.ts";

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
};

serveThread(handlers, {
  stop: () => db.close(),
  toRefusal: asUnreadable,
  bytesIn(
    result: OutlinePart | WholePart | Uint8Array | SpansFound | Preview | TurnPart | Derivation | undefined,
  ) {
    if (!result || "matching" in result || "tools" in result || "calls" in result || "columns" in result)
      return [];
    if (result instanceof Uint8Array) return [result];
    return ["json" in result ? result.json : result.spans];
  },
});
