// Inside the thread that reads large traces: keeps those that were read last.
import { workerData } from "node:worker_threads";
import { TraceRoom } from "../load/trace-room.ts";
import { asUnavailable, openDatabase } from "../store/db.ts";
import { serveThread } from "../threads/serve.ts";
import { holdVersion, keepLoaded, type OutlinePart, openTraceReader } from "../trace-reader.ts";
import type { TraceData } from "./trace-host.ts";

// Bytes of JSON; several times as much in memory.
const keptBytesMax = 96 * 1024 * 1024;

const { databaseUrl, limits } = workerData as TraceData;
const db = openDatabase(databaseUrl, 2);
const room = new TraceRoom(limits);
const kept = keepLoaded(holdVersion(db, room), keptBytesMax);
room.makeRoom = () => kept.drop();

serveThread(openTraceReader(kept.load), {
  stop: () => db.close(),
  toRefusal: asUnavailable,
  bytesIn: (answer: OutlinePart | Uint8Array | undefined) =>
    answer instanceof Uint8Array ? [answer] : answer ? [answer.spans] : [],
});
