// A thread that judges runs, apart from the one that answers requests: neither holds the other up.
import { parentPort, workerData } from "node:worker_threads";
import { type EvaluatorData, type EvaluatorMessage, graceMs } from "./evaluators.ts";
import { openLog } from "./http/log.ts";
import { openJudge } from "./remote/judge.ts";
import { Sandbox } from "./remote/sandbox.ts";
import { openDatabase } from "./store/db.ts";
import { EventPublisher } from "./store/events.ts";
import { RunWorker } from "./worker.ts";

const { config, databaseUrl } = workerData as EvaluatorData;
const port = parentPort!;
const tell = (message: EvaluatorMessage) => port.postMessage(message);

const log = openLog(config.logLevel);
const db = openDatabase(databaseUrl, 4);
const events = new EventPublisher(db);
const sandbox = new Sandbox();
const judgeConfig = config.judge && {
  ...config.judge,
  concurrency: Math.ceil(config.judge.concurrency / config.evaluators),
};
const judge = openJudge(judgeConfig ?? null, log, { onCall: call => tell({ type: "judge", call }) });
const worker = new RunWorker({
  db,
  events,
  sandbox,
  log,
  judgeOf: () => judge,
  leaseMs: config.leaseMs,
  judgeDeadlineMs: config.judgeDeadlineMs,
  onEnd: (state, verdict) => tell({ type: "run", state, verdict }),
});

port.on("message", (message: "wake" | "stop") => {
  if (message === "wake") worker.wake();
  else void stop();
});

async function stop(): Promise<void> {
  await worker.stop(graceMs);
  await events.close();
  await sandbox.close();
  await db.close();
  port.close();
}
