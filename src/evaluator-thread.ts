// A thread that judges runs, apart from the one that answers requests: neither holds the other up.
import { parentPort, workerData } from "node:worker_threads";
import { type EvaluatorData, type EvaluatorMessage, graceMs } from "./evaluators.ts";
import { openLog } from "./http/log.ts";
import { openCaller } from "./launcher/caller.ts";
import { Launcher } from "./launcher.ts";
import type { RunState } from "./model/run.ts";
import { openJudge } from "./remote/judge.ts";
import { openOutbound } from "./remote/outbound.ts";
import { Sandbox } from "./remote/sandbox.ts";
import { openDatabase } from "./store/db.ts";
import { EventPublisher } from "./store/events.ts";
import { masterKeyOf } from "./store/master-key.ts";
import { openVault } from "./store/vault.ts";
import { RunWorker } from "./worker.ts";

const { config, databaseUrl, launches } = workerData as EvaluatorData;
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
const deps = {
  db,
  events,
  sandbox,
  log,
  judge: openJudge(judgeConfig ?? null, log, { onCall: call => tell({ type: "judge", call }) }),
  leaseMs: config.leaseMs,
  onEnd: (state: RunState, verdict: string | null) => tell({ type: "run", state, verdict }),
};
const worker = new RunWorker(deps);
const launcher = launches ? await startLauncher() : undefined;

port.on("message", (message: "wake" | "stop") => {
  if (message === "wake") {
    worker.wake();
    launcher?.wake();
  } else void stop();
});

async function stop(): Promise<void> {
  await Promise.all([worker.stop(graceMs), launcher?.stop()]);
  await events.close();
  await sandbox.close();
  await db.close();
  port.close();
}

async function startLauncher() {
  const outbound = openOutbound({ allow: config.allowPrivateTargets });
  const caller = openCaller(db, openVault(await masterKeyOf(config)), outbound);
  const launcher = new Launcher({ ...deps, ...caller, debounceMs: config.debounceMs });
  return {
    wake: () => launcher.wake(),
    async stop() {
      await launcher.stop(graceMs);
      await outbound.close();
    },
  };
}
