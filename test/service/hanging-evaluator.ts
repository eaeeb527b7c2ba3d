// An evaluation thread that hangs in a synchronous loop at the first trace it opens, unless one did so before.

import { parentPort, workerData } from "node:worker_threads";
import pino from "pino";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import type { EvaluatorThreadData } from "../../src/service/evaluator-thread.ts";
import { openDatabase } from "../../src/store/db.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { HeldRuns } from "../../src/worker/held-runs.ts";
import { RunWorker } from "../../src/worker.ts";

const { config, addresses, states, beats, beatMs } = workerData as EvaluatorThreadData & {
  config: { hung: Int32Array };
};
Atomics.add(beats, 0, 1);
const db = openDatabase(addresses.url, 4);
const events = new EventPublisher(db);
const sandbox = new Sandbox();
const heap = new HeapSemaphore();
const tryTake = heap.tryTake.bind(heap);
heap.tryTake = (...asked) => {
  for (let isFirst = Atomics.exchange(config.hung, 0, 1) === 0; isFirst; );
  return tryTake(...asked);
};
const worker = new RunWorker({
  ...{ db, events, sandbox, heap, log: pino({ level: "silent" }) },
  judgeOf: () => ({ route: () => Promise.reject(new Error()), ask: () => Promise.reject(new Error()) }),
  leaseMs: config.leaseMs,
  judgeDeadlineMs: 1_000,
  held: new HeldRuns(states, claimed => parentPort!.postMessage({ type: "claimed", ...claimed })),
});
const beat = setInterval(() => Atomics.add(beats, 0, 1), beatMs / 2);
parentPort!.on("message", async message => {
  if (message !== "stop") return;
  await worker.stop(5_000);
  for (const one of [events, sandbox, db]) await one.close();
  clearInterval(beat);
  parentPort!.close();
});
