// The inside of the thread that reads large traces, and keeps those that were asked for last.
import { workerData } from "node:worker_threads";
import { TraceRoom } from "../load/trace-room.ts";
import { asUnavailable, openDatabase } from "../store/db.ts";
import { serveThread } from "../threads/serve.ts";
import { holdVersion, keepLoaded, openTraceReader } from "../trace-reader.ts";
import type { TraceData } from "./trace-host.ts";

// Of JSON; in memory it is up to several times as much.
const keptBytesMax = 96 * 1024 * 1024;

const { databaseUrl, limits } = workerData as TraceData;
const db = openDatabase(databaseUrl, 2);
const room = new TraceRoom(limits);
const kept = keepLoaded(holdVersion(db, room), keptBytesMax);
room.makeRoom = () => kept.drop();

serveThread(openTraceReader(kept.load), { stop: () => db.close(), toRefusal: asUnavailable });
