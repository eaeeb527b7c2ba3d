// The erasure thread: reads the stored content of traces for erasures, deletes what quotes it, and forgets content.

import { workerData } from "node:worker_threads";
import type { JobWork } from "../jobs.ts";
import { findInTurns, findMatches } from "../load/erasure.ts";
import { eraseDrafts, findHolders } from "../load/erasure-holders.ts";
import { eraseQuotes, eraseWaiting } from "../load/erasure-quotes.ts";
import { recheckMatches } from "../load/erasure-recheck.ts";
import { forgetTraces } from "../load/forget.ts";
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import { openStore } from "../store/cluster/open.ts";
import { asUnavailable } from "../store/db.ts";
import { serveThread } from "../threads/serve.ts";
import type { TraceThreadData } from "./trace-thread.ts";

const { addresses, limits } = workerData as TraceThreadData;
const db = openStore(addresses, 2);
const heap = new HeapSemaphore(limits);

const work: JobWork = {
  forget: (due, signal) => forgetTraces(db, heap, due, signal),
  find: (search, signal) => findMatches(db, heap, search, signal),
  recheck: (request, signal) => recheckMatches(db, heap, request, signal),
  turns: search => findInTurns(db, search),
  waiting: ({ projectId, criterion }) => eraseWaiting(db, projectId, criterion),
  drafts: request => eraseDrafts(db, request),
  quotes: request => eraseQuotes(db, request),
  holders: request => findHolders(db, request),
};

serveThread(work as Parameters<typeof serveThread>[0], { stop: () => db.close(), toRefusal: asUnavailable });
