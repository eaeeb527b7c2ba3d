// A thread that judges runs, apart from the one that answers requests: neither holds the other up.
import { parentPort, workerData } from "node:worker_threads";
import { type EvaluatorData, type EvaluatorMessage, graceMs } from "./evaluators.ts";
import { openLog } from "./http/log.ts";
import { lineOpener } from "./judging/lines.ts";
import { openJudging } from "./judging.ts";
import { openOutbound } from "./remote/outbound.ts";
import { Sandbox } from "./remote/sandbox.ts";
import { openDatabase } from "./store/db.ts";
import { EventPublisher } from "./store/events.ts";
import { masterKeyOf } from "./store/master-key.ts";
import { openVault } from "./store/vault.ts";
import { RunWorker } from "./worker.ts";

const { config, databaseUrl } = workerData as EvaluatorData;
const port = parentPort!;
const tell = (message: EvaluatorMessage) => port.postMessage(message);

const log = openLog(config.logLevel);
const db = openDatabase(databaseUrl, 4);
const events = new EventPublisher(db);
const sandbox = new Sandbox();
const outbound = openOutbound({ allow: config.allowPrivateTargets });
const judging = openJudging({
  db,
  vault: openVault(await masterKeyOf(config)),
  environment: config.judge ?? null,
  openLine: lineOpener({
    outbound,
    log,
    concurrencyOf: concurrency => Math.ceil(concurrency / config.evaluators),
    threads: config.evaluators,
  }),
  log,
  onCall: ({ kind, state }) => tell({ type: "judge", call: { kind, state } }),
});
const worker = new RunWorker({
  db,
  events,
  sandbox,
  log,
  judgeOf: judging.judgeOf,
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
  await judging.close();
  await outbound.close();
  await sandbox.close();
  await db.close();
  port.close();
}
