// A pool of threads that answer questions: started on demand, ended when idle, replaced when one dies or hangs.
import { type Transferable, Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { Refusal } from "../model/refusal.ts";
import { type RefusalMessage, refusalOf } from "./refusal-message.ts";

/** To a thread: a question, that nobody waits for its answer any more, or to end. */
export type ThreadRequest =
  | { type: "ask"; id: number; name: string; ask: unknown }
  | { type: "withdraw"; id: number }
  | { type: "stop" };

/** A note belongs to no question. */
export type ThreadReply =
  | { type: "answer"; id: number; answer: unknown }
  | { type: "refused"; id: number; refusal: RefusalMessage }
  | { type: "failed"; id: number; error: string }
  | { type: "note"; note: unknown };

export type ThreadPoolOptions = {
  script: URL;
  workerData?: unknown;
  /** For the heap of each thread. */
  memoryMb: number;
  threadsMax?: number;
  /** Questions that one thread has at a time; further ones wait. Unlimited by default. */
  asksPerThread?: number;
  /** Open questions beyond which a further one is refused. */
  asksMax?: number;
  /** An idle thread ends after this time: it is memory and connections that nobody uses. */
  idleMs?: number;
  /** A thread that has questions and answers none of them for this long is killed. Unlimited by default. */
  answerMs?: number;
  onNote?: (note: unknown) => void;
  /** What the questions of a thread that died are rejected with. `error` is undefined for a thread that was killed. */
  lost?: (error: unknown) => unknown;
  /** `name` is how the log calls a thread: "the editor's thread". */
  name?: string;
  log?: Pick<Logger, "error">;
};

export type AskOptions = {
  /** Tells the thread that nobody waits any more; what the thread answers then still arrives. */
  signal?: AbortSignal;
  /** Buffers of the question that are moved instead of copied. */
  transfer?: Transferable[];
};

type Job = AskOptions & {
  name: string;
  ask: unknown;
  resolve: (answer: never) => void;
  reject: (error: unknown) => void;
};

type Thread = {
  worker: Worker;
  /** By id. */
  jobs: Map<number, { job: Job; settle: () => void }>;
  idle: NodeJS.Timeout | undefined;
  overdue: NodeJS.Timeout | undefined;
  error: unknown;
};

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #queue: Job[] = [];
  #nextId = 1;
  #open = 0;
  #closed: boolean = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /** Rejects with the Refusal that the thread threw; UNAVAILABLE when the pool is full, closed, or the thread died. */
  ask<A>(name: string, ask: unknown, options: AskOptions = {}): Promise<A> {
    const { asksMax = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#closed) return Promise.reject(stopping());
    if (this.#open >= asksMax) return Promise.reject(busy());
    this.#open++;
    const asked = new Promise<A>((resolve, reject) => {
      this.#queue.push({ ...options, name, ask, resolve, reject });
      this.#next();
    });
    return asked.finally(() => this.#open--);
  }

  /** Kills the threads; open questions are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = [...this.#threads];
    for (const thread of threads) this.#drop(thread, () => stopping());
    for (const job of this.#queue.splice(0)) job.reject(stopping());
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #next(): void {
    while (this.#queue.length > 0) {
      const thread = this.#freeThread();
      if (!thread) return;
      this.#post(thread, this.#queue.shift()!);
    }
  }

  #freeThread(): Thread | undefined {
    const { threadsMax = 1, asksPerThread = Number.POSITIVE_INFINITY } = this.#options;
    const free = this.#threads.values().find(({ jobs }) => jobs.size < asksPerThread);
    return free ?? (this.#threads.size < threadsMax ? this.#start() : undefined);
  }

  #start(): Thread {
    const { script, workerData, memoryMb, name, log } = this.#options;
    const worker = new Worker(script, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const thread: Thread = {
      worker,
      jobs: new Map(),
      idle: undefined,
      overdue: undefined,
      error: undefined,
    };
    worker.on("message", (reply: ThreadReply) => this.#read(thread, reply));
    worker.on("error", error => {
      thread.error = error;
      log?.error({ err: error }, `${name} died`);
    });
    worker.on("exit", () => {
      const { lost = tooCostly } = this.#options;
      this.#drop(thread, () => lost(thread.error));
      this.#next();
    });
    this.#threads.add(thread);
    return thread;
  }

  #post(thread: Thread, job: Job): void {
    const { worker, jobs } = thread;
    const id = this.#nextId++;
    const withdraw = () => worker.postMessage({ type: "withdraw", id } satisfies ThreadRequest);
    const settle = () => {
      job.signal?.removeEventListener("abort", withdraw);
      jobs.delete(id);
    };
    clearTimeout(thread.idle);
    worker.ref();
    if (jobs.size === 0) this.#watch(thread);
    jobs.set(id, { job, settle });
    const { name, ask, transfer = [] } = job;
    worker.postMessage({ type: "ask", id, name, ask } satisfies ThreadRequest, transfer);
    if (job.signal?.aborted) withdraw();
    else job.signal?.addEventListener("abort", withdraw, { once: true });
  }

  #read(thread: Thread, reply: ThreadReply): void {
    if (reply.type === "note") {
      this.#options.onNote?.(reply.note);
      return;
    }
    const open = thread.jobs.get(reply.id);
    if (!open) return;
    open.settle();
    if (reply.type === "answer") open.job.resolve(reply.answer as never);
    else open.job.reject(reply.type === "refused" ? refusalOf(reply.refusal) : new Error(reply.error));
    this.#next();
    if (thread.jobs.size === 0) this.#rest(thread);
    else this.#watch(thread);
  }

  /** Limits the time to the next answer: a long queue is no reason to kill a thread that works through it. */
  #watch(thread: Thread): void {
    const { answerMs, name, log } = this.#options;
    clearTimeout(thread.overdue);
    if (answerMs === undefined) return;
    thread.overdue = setTimeout(() => {
      log?.error(`${name} hangs and is killed`);
      void thread.worker.terminate();
    }, answerMs);
  }

  #rest(thread: Thread): void {
    const { idleMs = 60_000 } = this.#options;
    clearTimeout(thread.overdue);
    clearTimeout(thread.idle);
    thread.worker.unref();
    thread.idle = setTimeout(() => {
      this.#threads.delete(thread);
      thread.worker.postMessage({ type: "stop" } satisfies ThreadRequest);
    }, idleMs).unref();
  }

  #drop(thread: Thread, reason: () => unknown): void {
    clearTimeout(thread.idle);
    clearTimeout(thread.overdue);
    this.#threads.delete(thread);
    for (const { job, settle } of [...thread.jobs.values()]) {
      settle();
      job.reject(reason());
    }
  }
}

function stopping(): Refusal {
  return new Refusal("UNAVAILABLE", { message: "The service is stopping." });
}

function busy(): Refusal {
  return new Refusal("UNAVAILABLE", {
    message: "The service is busy.",
    hint: "Try again in a moment.",
  });
}

function tooCostly(): Refusal {
  return new Refusal("UNAVAILABLE", {
    message: "This took too much time or memory.",
    hint: "Try a smaller trace.",
  });
}
