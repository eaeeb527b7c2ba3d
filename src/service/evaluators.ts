// Starts, wakes, restarts and stops the threads that evaluate runs.

import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { logFault } from "../claiming.ts";
import { passingHeapBytes, readingHeapMb, traceLimits } from "../threads/heap.ts";
import { SharedSemaphores } from "../threads/shared-semaphore.ts";
import { HeldElsewhere } from "../worker/held-runs.ts";
import { graceMs } from "../worker.ts";
import type { EvaluatorEvent, EvaluatorMessage, EvaluatorThreadData } from "./evaluator-thread.ts";

export type EvaluatorsOptions = Pick<EvaluatorThreadData, "config" | "addresses"> & {
  log: Logger;
  /** Gives back the runs that a thread which hung or died had claimed, and had not begun. */
  giveBack: (held: { lease: string; runIds: string[] }) => Promise<void>;
  script?: URL;
  /** A thread whose event loop does not turn for this long is ended. Default: a minute. */
  hangMs?: number;
  onEvent?: (event: EvaluatorEvent) => void;
};

const restartMs = 1_000;
// As long as reading a trace may take.
const hangMsDefault = 60_000;
const threadScript = new URL("./evaluator-thread.ts", import.meta.url);

export class Evaluators {
  readonly #options: EvaluatorsOptions;
  readonly #threads = new Set<Worker>();
  readonly #semaphores = new SharedSemaphores();
  readonly #restarts = new Set<NodeJS.Timeout>();
  #stopping: Promise<unknown> | undefined;
  #waking = false;

  constructor(options: EvaluatorsOptions) {
    this.#options = options;
    for (let count = 0; count < options.config.evaluators; count++) this.#start(count === 0);
  }

  /** Makes the threads look for due runs. Sent at most once per turn of the event loop. */
  wake(): void {
    if (this.#waking) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
      this.#wakeAll();
    });
  }

  #wakeAll(except?: Worker): void {
    for (const thread of this.#threads) if (thread !== except) thread.postMessage("wake");
  }

  /** Lets runs finish for `graceMs` and releases the others. Further calls return when the first one does. */
  async stop(): Promise<void> {
    for (const timer of this.#restarts) clearTimeout(timer);
    this.#stopping ??= Promise.all(
      [...this.#threads].map(async thread => {
        const ended = new Promise(resolve => thread.once("exit", resolve));
        thread.postMessage("stop");
        const timer = setTimeout(() => void thread.terminate(), graceMs + 2_000);
        await ended;
        clearTimeout(timer);
      }),
    );
    await this.#stopping;
  }

  #start(leads: boolean): void {
    const {
      config,
      addresses,
      log,
      onEvent,
      giveBack,
      script = threadScript,
      hangMs = hangMsDefault,
    } = this.#options;
    const held = new HeldElsewhere();
    const beats = new Int32Array(new SharedArrayBuffer(4));
    // What has not begun is given back before its lease expires: leases are extended when a third of them is over.
    const quietBeats = 10;
    const beatMs = config.leaseMs / 2 / quietBeats;
    const hangBeats = Math.ceil(hangMs / beatMs);
    const giveBackUnbegun = () => {
      const left = held.takeUnbegun();
      if (left) giveBack(left).catch(error => logFault(log, error, "runs cannot be given back"));
    };
    const workerData: EvaluatorThreadData = {
      ...{ config, addresses, leads, states: held.states, beats, beatMs },
    };
    const limits = traceLimits(config.bounds.traceBytesMax);
    const maxOldGenerationSizeMb = readingHeapMb(limits, passingHeapBytes(limits));
    const thread = new Worker(script, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    this.#threads.add(thread);
    thread.on("message", (message: EvaluatorMessage) => {
      if (message.type === "run" || message.type === "judge") onEvent?.(message);
      else if (message.type === "backlog") this.#wakeAll(thread);
      else if (message.type === "claimed") held.claimed(message);
      else void this.#semaphores.receive(thread, message);
    });
    thread.on("error", error => log.error({ err: error }, "an evaluation thread died"));
    const watch = watchBeats(beats, beatMs, missed => {
      if (missed === quietBeats) giveBackUnbegun();
      if (missed !== hangBeats) return;
      log.error("an evaluation thread hangs and is ended");
      void thread.terminate();
    });
    thread.on("exit", () => {
      clearInterval(watch);
      giveBackUnbegun();
      this.#threads.delete(thread);
      this.#semaphores.forget(thread);
      if (this.#stopping !== undefined) return;
      const timer = setTimeout(() => {
        this.#restarts.delete(timer);
        this.#start(leads);
      }, restartMs);
      this.#restarts.add(timer);
    });
  }
}

/** Tells how many beats of a thread are missing, once it has begun. Looks are counted: it may be this process that stood still. */
function watchBeats(beats: Int32Array, beatMs: number, onMissing: (missed: number) => void): NodeJS.Timeout {
  let last = 0;
  let missed = 0;
  return setInterval(() => {
    const now = Atomics.load(beats, 0);
    missed = now === last && now > 0 ? missed + 1 : 0;
    last = now;
    if (missed > 0) onMissing(missed);
  }, beatMs).unref();
}
