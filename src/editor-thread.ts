// The inside of the thread that works for the editor of test cases, with a judge, a sandbox and connections of its own.
import { workerData } from "node:worker_threads";
import { openEditor } from "./editor.ts";
import type { EditorData } from "./editor-host.ts";
import { openLog } from "./http/log.ts";
import { openJudge } from "./remote/judge.ts";
import { Sandbox } from "./remote/sandbox.ts";
import { openDatabase } from "./store/db.ts";
import { serveThread, tellNote } from "./thread-serve.ts";

const { config, databaseUrl } = workerData as EditorData;

const db = openDatabase(databaseUrl, 2);
const sandbox = new Sandbox();
// A share beside what the evaluation threads may ask: those who wait for a dry-run are few.
const judgeConfig = config.judge && { ...config.judge, concurrency: Math.min(4, config.judge.concurrency) };
const judge = openJudge(judgeConfig ?? null, openLog(config.logLevel), { onCall: tellNote });

serveThread(openEditor({ db, judgeOf: () => judge, sandbox }), async () => {
  await sandbox.close();
  await db.close();
});
