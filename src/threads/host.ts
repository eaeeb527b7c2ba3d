// A thread that answers questions: started when first asked, ended when idle, replaced when it dies.
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { Refusal, type RefusalCode, type RefusalDetail } from "../model/refusal.ts";

/** What the thread is told: a question, that nobody waits for its answer any more, or to end. */
export type ThreadRequest =
  | { type: "ask"; id: number; name: string; ask: unknown }
  | { type: "withdraw"; id: number }
  | { type: "stop" };

export type ThreadReply =
  | { type: "answer"; id: number; answer: unknown }
  | { type: "refused"; id: number; code: RefusalCode; detail: RefusalDetail }
  | { type: "failed"; id: number; error: string }
  | { type: "note"; note: unknown };

export type ThreadHostOptions = {
  /** For the log: "the editor's thread". */
  name: string;
  script: URL;
  workerData: unknown;
  log: Pick<Logger, "error">;
  /** For what the thread tells beside its answers. */
  onNote?: (note: unknown) => void;
  /** For the heap of the thread. */
  memoryMb: number;
  /** A thread that has questions and answers none of them for so long is ended. */
  answerMs: number;
};

type Job = { resolve: (answer: never) => void; reject: (error: unknown) => void; settle: () => void };

const idleMs = 60_000;
// More than people ask for by hand; what is beyond would wait too long to be wanted still.
const jobsMax = 200;

export class ThreadHost {
  readonly #options: ThreadHostOptions;
  readonly #jobs = new Map<number, Job>();
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #overdue: NodeJS.Timeout | undefined;
  #nextId = 1;
  #closed: boolean = false;

  constructor(options: ThreadHostOptions) {
    this.#options = options;
  }

  /** What is asked and not answered is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#giveUp(stopping());
    await thread?.terminate();
  }

  ask<A>(name: string, ask: unknown, signal: AbortSignal): Promise<A> {
    if (this.#closed) return Promise.reject(stopping());
    if (this.#jobs.size >= jobsMax) return Promise.reject(busy());
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    const thread = this.#thread;
    if (this.#jobs.size === 0) this.#watch(thread);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const withdraw = () => thread.postMessage({ type: "withdraw", id } satisfies ThreadRequest);
      const settle = () => {
        signal.removeEventListener("abort", withdraw);
        this.#jobs.delete(id);
      };
      this.#jobs.set(id, { resolve, reject, settle });
      thread.postMessage({ type: "ask", id, name, ask } satisfies ThreadRequest);
      if (signal.aborted) withdraw();
      else signal.addEventListener("abort", withdraw, { once: true });
    });
  }

  /** From now on: a long queue is no reason to end a thread that works through it. */
  #watch(thread: Worker): void {
    const { name, answerMs, log } = this.#options;
    clearTimeout(this.#overdue);
    this.#overdue = setTimeout(() => {
      log.error(`${name} hangs and is ended`);
      void thread.terminate();
    }, answerMs);
  }

  #start(): Worker {
    const { name, script, workerData, memoryMb: maxOldGenerationSizeMb, log } = this.#options;
    const thread = new Worker(script, { workerData, resourceLimits: { maxOldGenerationSizeMb } });
    thread.on("message", (reply: ThreadReply) => this.#read(reply));
    thread.on("error", error => log.error({ err: error }, `${name} died`));
    thread.on("exit", () => {
      if (thread === this.#thread) this.#giveUp(lost());
    });
    return thread;
  }

  #read(reply: ThreadReply): void {
    if (reply.type === "note") {
      this.#options.onNote?.(reply.note);
      return;
    }
    const job = this.#jobs.get(reply.id);
    if (!job) return;
    job.settle();
    if (reply.type === "answer") job.resolve(reply.answer as never);
    else
      job.reject(reply.type === "refused" ? new Refusal(reply.code, reply.detail) : new Error(reply.error));
    if (this.#jobs.size === 0) this.#rest();
    else if (this.#thread) this.#watch(this.#thread);
  }

  /** An idle thread is memory and connections that nobody uses. */
  #rest(): void {
    clearTimeout(this.#overdue);
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#thread?.postMessage({ type: "stop" } satisfies ThreadRequest);
      this.#thread = undefined;
    }, idleMs);
    this.#idle.unref();
  }

  #giveUp(refusal: Refusal): void {
    clearTimeout(this.#overdue);
    this.#thread = undefined;
    for (const job of [...this.#jobs.values()]) {
      job.settle();
      job.reject(refusal);
    }
  }
}

function stopping(): Refusal {
  return new Refusal("UNAVAILABLE", { message: "The service is stopping." });
}

function busy(): Refusal {
  return new Refusal("UNAVAILABLE", {
    message: "Too much is being worked out at this moment.",
    hint: "Try again in a moment.",
  });
}

function lost(): Refusal {
  return new Refusal("UNAVAILABLE", {
    message: "This could not be worked out: it took more memory or time than it is given.",
    hint: "Try a smaller trace.",
  });
}
