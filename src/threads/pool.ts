// Worker thread pool: threads start on demand, end when idle, and are replaced when they crash or hang.
import { type Transferable, Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { Refusal } from "../model/refusal.ts";
import { FairQueue, type Owners } from "./fair-queue.ts";
import { type RefusalMessage, refusalOf } from "./refusal-message.ts";

/** A message to a thread. */
export type ThreadRequest =
  | { type: "call"; id: number; name: string; input: unknown }
  | { type: "cancel"; id: number }
  | { type: "stop" };

/** A message from a thread. An event belongs to no call. */
export type ThreadReply =
  | { type: "result"; id: number; result: unknown }
  | { type: "refused"; id: number; refusal: RefusalMessage }
  | { type: "failed"; id: number; error: string }
  | { type: "event"; event: unknown };

export type ThreadPoolOptions = {
  script: URL;
  workerData?: unknown;
  /** Heap limit of each thread. */
  memoryMb: number;
  threadsMax?: number;
  /** Calls that run on one thread at a time; further calls are queued. Unlimited by default. */
  callsPerThread?: number;
  /** Running and queued calls; further calls are refused. Unlimited by default. */
  callsMax?: number;
  /** An idle thread ends after this time, to free its memory and connections. */
  idleMs?: number;
  /** A thread that has calls and finishes none of them for this long is killed. Unlimited by default. */
  hangMs?: number;
  onEvent?: (event: unknown) => void;
  /** Makes the error that the calls of a dead thread reject with. `error` is undefined for a thread that was killed. */
  crashError?: (error: unknown) => unknown;
  /** Names a thread in the log: "the editor thread". */
  name?: string;
  log?: Pick<Logger, "error">;
};

export type CallOptions = {
  /** Cancels the call on the thread, which still settles it. */
  signal?: AbortSignal;
  /** Buffers of the input that are moved instead of copied. */
  transfer?: Transferable[];
  /** Whose turn a queued call is. By default all are of one owner: first in, first out. */
  owners?: Owners;
};

const oneOwner: Owners = ["", ""];

type Call = CallOptions & {
  name: string;
  input: unknown;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
};

type Thread = {
  worker: Worker;
  /** By id. */
  calls: Map<number, { call: Call; settle: () => void }>;
  idleTimer: NodeJS.Timeout | undefined;
  hangTimer: NodeJS.Timeout | undefined;
  error: unknown;
};

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #queue = new FairQueue<Call>();
  #nextId = 1;
  #open = 0;
  #closed: boolean = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /** Rejects with the Refusal that the thread threw; UNAVAILABLE if the pool is full or closed, or the thread died. */
  call<R>(name: string, input: unknown, options: CallOptions = {}): Promise<R> {
    const { callsMax = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#closed) return Promise.reject(stopping());
    if (this.#open >= callsMax) return Promise.reject(busy());
    this.#open++;
    const result = new Promise<R>((resolve, reject) => {
      const call = { ...options, name, input, resolve, reject };
      this.#queue.add(options.owners ?? oneOwner, [call]);
      this.#next();
    });
    return result.finally(() => this.#open--);
  }

  /** Kills the threads and refuses open calls. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = [...this.#threads];
    for (const thread of threads) this.#drop(thread, () => stopping());
    for (const call of this.#queue.clear()) call.reject(stopping());
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #next(): void {
    while (!this.#queue.isEmpty) {
      const thread = this.#freeThread();
      if (!thread) return;
      this.#send(thread, this.#queue.turn(calls => calls.shift()!)!);
    }
  }

  #freeThread(): Thread | undefined {
    const { threadsMax = 1, callsPerThread = Number.POSITIVE_INFINITY } = this.#options;
    const free = this.#threads.values().find(({ calls }) => calls.size < callsPerThread);
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
      calls: new Map(),
      idleTimer: undefined,
      hangTimer: undefined,
      error: undefined,
    };
    worker.on("message", (reply: ThreadReply) => this.#receive(thread, reply));
    worker.on("error", error => {
      thread.error = error;
      log?.error({ err: error }, `${name} died`);
    });
    worker.on("exit", () => {
      const { crashError = tooCostly } = this.#options;
      this.#drop(thread, () => crashError(thread.error));
      this.#next();
    });
    this.#threads.add(thread);
    return thread;
  }

  #send(thread: Thread, call: Call): void {
    const { worker, calls } = thread;
    const id = this.#nextId++;
    const cancel = () => worker.postMessage({ type: "cancel", id } satisfies ThreadRequest);
    const settle = () => {
      call.signal?.removeEventListener("abort", cancel);
      calls.delete(id);
    };
    clearTimeout(thread.idleTimer);
    worker.ref();
    if (calls.size === 0) this.#startHangTimer(thread);
    calls.set(id, { call, settle });
    const { name, input, transfer = [] } = call;
    worker.postMessage({ type: "call", id, name, input } satisfies ThreadRequest, transfer);
    if (call.signal?.aborted) cancel();
    else call.signal?.addEventListener("abort", cancel, { once: true });
  }

  #receive(thread: Thread, reply: ThreadReply): void {
    if (reply.type === "event") {
      this.#options.onEvent?.(reply.event);
      return;
    }
    const open = thread.calls.get(reply.id);
    if (!open) return;
    open.settle();
    if (reply.type === "result") open.call.resolve(reply.result as never);
    else open.call.reject(reply.type === "refused" ? refusalOf(reply.refusal) : new Error(reply.error));
    this.#next();
    if (thread.calls.size === 0) this.#startIdleTimer(thread);
    else this.#startHangTimer(thread);
  }

  /** Limits the time to the next result, not to each result: a thread with a long queue may still be making progress. */
  #startHangTimer(thread: Thread): void {
    const { hangMs, name, log } = this.#options;
    clearTimeout(thread.hangTimer);
    if (hangMs === undefined) return;
    thread.hangTimer = setTimeout(() => {
      log?.error(`${name} hangs and is killed`);
      void thread.worker.terminate();
    }, hangMs);
  }

  #startIdleTimer(thread: Thread): void {
    const { idleMs = 60_000 } = this.#options;
    clearTimeout(thread.hangTimer);
    clearTimeout(thread.idleTimer);
    thread.worker.unref();
    thread.idleTimer = setTimeout(() => {
      this.#threads.delete(thread);
      thread.worker.postMessage({ type: "stop" } satisfies ThreadRequest);
    }, idleMs).unref();
  }

  #drop(thread: Thread, reason: () => unknown): void {
    clearTimeout(thread.idleTimer);
    clearTimeout(thread.hangTimer);
    this.#threads.delete(thread);
    for (const { call, settle } of [...thread.calls.values()]) {
      settle();
      call.reject(reason());
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
