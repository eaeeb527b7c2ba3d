// An evaluation thread: evaluates runs off the main thread, so that evaluation and requests do not block each other.

import { parentPort, workerData } from "node:worker_threads";
import type { Config } from "../config.ts";
import { derive } from "../jobs/derive.ts";
import { startJob } from "../jobs/job.ts";
import { clientOpener } from "../judge/connections.ts";
import { Judges } from "../judge.ts";
import { openCaller } from "../launcher/caller.ts";
import { Launcher } from "../launcher.ts";
import { HeapSemaphore } from "../load/heap-semaphore.ts";
import { logStream, openLog } from "../log.ts";
import type { CountedCall } from "../model/judge/call.ts";
import type { RunState } from "../model/run/run.ts";
import { openOutbound } from "../remote/outbound.ts";
import { Sandbox } from "../remote/sandbox/sandbox.ts";
import { openStore } from "../store/cluster/open.ts";
import type { Addresses } from "../store/db.ts";
import { EventPublisher } from "../store/events.ts";
import { masterKeyOf } from "../store/secrets/master-key.ts";
import { openVault } from "../store/secrets/vault.ts";
import { traceLimits } from "../threads/heap.ts";
import { type PermitGrant, type PermitRequest, shareSemaphores } from "../threads/shared-semaphore.ts";
import { type Claimed, HeldRuns } from "../worker/held-runs.ts";
import { graceMs, RunWorker } from "../worker.ts";

const { config, addresses, leads, states, beats, beatMs } = workerData as EvaluatorThreadData;
const port = parentPort!;
const send = (message: EvaluatorMessage) => port.postMessage(message);
// From here on it may hang.
Atomics.add(beats, 0, 1);

const log = openLog(config.logLevel, logStream(config.logFormat));
const db = openStore(addresses, 4);
const events = new EventPublisher(db);
const sandbox = new Sandbox();
const outbound = openOutbound({ allow: config.allowPrivateTargets });
const vault = openVault(await masterKeyOf(config));
const semaphores = shareSemaphores(send);
const judges = new Judges({
  db,
  vault,
  environment: config.judge ?? null,
  timeoutMs: config.judgeTimeoutMs,
  accountTokensMax: config.judgeAccountTokensPerDay ?? null,
  openClient: clientOpener({
    outbound,
    log,
    semaphore: semaphores.semaphore,
    threads: config.evaluators,
  }),
  log,
  onCall: ({ kind, state }) => send({ type: "judge", call: { kind, state } }),
});
const deps = {
  db,
  events,
  sandbox,
  log,
  judgeOf: judges.judgeOf,
  leaseMs: config.leaseMs,
  judgeDeadlineMs: config.judgeDeadlineMs,
  heap: new HeapSemaphore(traceLimits(config.bounds.traceBytesMax)),
  onEnd: (state: RunState, verdict: string | null) => send({ type: "run", state, verdict }),
};
const worker = new RunWorker({
  ...deps,
  held: new HeldRuns(states, claimed => send({ type: "claimed", ...claimed })),
  // Each time, a cluster asks every group of shards five times: one thread does so often, and tells the others of a backlog.
  ...(db.places && (leads ? { onBacklog: () => send({ type: "backlog" }) } : { idleMaxMs: 2_000 })),
});
// Only one thread executes manual runs.
const launcher = leads
  ? new Launcher({
      ...deps,
      ...openCaller(db, vault, outbound),
      debounceMs: config.debounceMs,
      traceBytesMax: config.bounds.traceBytesMax,
    })
  : undefined;

// While it has no runs to claim.
const deriving = startJob(derive({ db, heap: deps.heap, isIdle: () => worker.isIdle }), { db, log });

const beat = setInterval(() => Atomics.add(beats, 0, 1), beatMs / 2);

port.on("message", (message: "wake" | "stop" | PermitGrant) => {
  if (message === "stop") void stop();
  else if (message === "wake") {
    worker.wake();
    launcher?.wake();
  } else semaphores.granted(message.id, message.pause);
});

async function stop(): Promise<void> {
  await Promise.all([deriving.stop(), worker.stop(graceMs), launcher?.stop(graceMs)]);
  await events.close();
  await judges.close();
  await outbound.close();
  await sandbox.close();
  await db.close();
  clearInterval(beat);
  port.close();
}

export type EvaluatorThreadData = {
  config: Config;
  addresses: Addresses;
  /**
   * Whether the thread executes manual runs, and asks a cluster for due runs as often as one server. One is enough: manual runs spend
   * nearly all their time waiting for agents.
   */
  leads: boolean;
  /** What it holds; see worker/held-runs.ts. */
  states: Uint8Array<SharedArrayBuffer>;
  /** Counts up every `beatMs` while its event loop turns. */
  beats: Int32Array<SharedArrayBuffer>;
  beatMs: number;
};

/** `backlog`: more runs may be due than this thread has claimed. */
export type EvaluatorMessage =
  | PermitRequest
  | EvaluatorEvent
  | { type: "backlog" }
  | ({ type: "claimed" } & Claimed);

/** Counted in the metrics. */
export type EvaluatorEvent =
  | { type: "run"; state: string; verdict: string | null }
  | { type: "judge"; call: CountedCall };
