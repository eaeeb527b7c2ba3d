// The inside of the thread that reads large traces, and keeps those that were asked for last.
import { workerData } from "node:worker_threads";
import { openDatabase } from "./store/db.ts";
import { serveThread } from "./thread-serve.ts";
import type { TraceData } from "./trace-host.ts";
import { keepLoaded, loadVersion, oneByOne, openTraceReader } from "./trace-reader.ts";

// Of JSON; in memory it is up to several times as much.
const keptBytesMax = 96 * 1024 * 1024;

const db = openDatabase((workerData as TraceData).databaseUrl, 2);

serveThread(openTraceReader(keepLoaded(oneByOne(loadVersion(db)), keptBytesMax)), () => db.close());
