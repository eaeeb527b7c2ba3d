// Starts, wakes, restarts and stops the threads that evaluate runs.
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { CountedCall } from "../model/judge/call.ts";
import type { Addresses } from "../store/db.ts";
import { passingHeapBytes, readingHeapMb, traceLimits } from "../threads/heap.ts";
import { type PermitRequest, SharedSemaphores } from "../threads/shared-semaphore.ts";

export type EvaluatorThreadData = {
  config: Config;
  addresses: Addresses;
  /**
   * Whether the thread executes manual runs, and asks a cluster for due runs as often as one server. One is enough: manual runs spend
   * nearly all their time waiting for agents.
   */
  leads: boolean;
};

/** `backlog`: more runs may be due than this thread has claimed. */
export type EvaluatorMessage = PermitRequest | EvaluatorEvent | { type: "backlog" };

/** Counted in the metrics. */
export type EvaluatorEvent =
  | { type: "run"; state: string; verdict: string | null }
  | { type: "judge"; call: CountedCall };

export type EvaluatorsOptions = Omit<EvaluatorThreadData, "leads"> & {
  log: Logger;
  onEvent?: (event: EvaluatorEvent) => void;
};

/** How long a thread may take to finish its runs. */
export const graceMs = 15_000;
const restartMs = 1_000;

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
    const { config, addresses, log, onEvent } = this.#options;
    const workerData: EvaluatorThreadData = { config, addresses, leads };
    const limits = traceLimits(config.bounds.traceBytesMax);
    const maxOldGenerationSizeMb = readingHeapMb(limits, passingHeapBytes(limits));
    const thread = new Worker(new URL("./evaluator-thread.ts", import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    this.#threads.add(thread);
    thread.on("message", (message: EvaluatorMessage) => {
      if (message.type === "run" || message.type === "judge") onEvent?.(message);
      else if (message.type === "backlog") this.#wakeAll(thread);
      else void this.#semaphores.receive(thread, message);
    });
    thread.on("error", error => log.error({ err: error }, "an evaluation thread died"));
    thread.on("exit", () => {
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
