// Chooses where a body is prepared: small ones at once, large ones on a thread, so that none stalls the others.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { Refusal, type RefusalCode, type RefusalDetail } from "../model/refusal.ts";
import { preparingHeapMb } from "../threads/heap.ts";
import type { DecodeLimits } from "../wire/body.ts";
import type { MediaType } from "../wire/media-type.ts";
import { repeatedBytesMax } from "../wire/otlp-groups.ts";
import { type PreparedBody, prepareBody } from "./prepare.ts";

export type PrepareRequest = { bytes: Uint8Array; mediaType: MediaType; limits: DecodeLimits };

/** A Refusal as it travels between threads. */
export type RefusalMessage = { code: RefusalCode; detail: RefusalDetail };

export type PrepareReply =
  | { path: "canonical"; body: Extract<PreparedBody, { path: "canonical" }> }
  | {
      path: "otlp";
      groups: (
        | Exclude<Extract<PreparedBody, { path: "otlp" }>["groups"][number], { refusal: Refusal }>
        | { serviceName: string | null; spanCount: number; refused: RefusalMessage }
      )[];
    }
  | { path: "refused"; refused: RefusalMessage }
  | { path: "failed"; error: string };

type Job = {
  request: PrepareRequest;
  resolve: (body: PreparedBody) => void;
  reject: (error: unknown) => void;
};

export type PreparerOptions = {
  limits: DecodeLimits;
  /** The largest body that is given to `prepare`. */
  bodyBytesMax?: number;
  /** Bodies of up to this many bytes are prepared on the calling thread. */
  inlineBytesMax?: number;
  /** Heap of one thread, in MB. By default no body within the limits fills it. */
  threadHeapMb?: number;
};

// A body of this size takes about 3 ms, no more than the largest pause other requests are asked to bear; handing a
// body to a thread and back costs about 0.2 ms of the main thread, as much as preparing 16 KB.
const inlineBytesMax = 256 * 1024;
const idleMs = 10_000;

export class Preparer {
  readonly #options: Required<PreparerOptions>;
  readonly #threadsMax = Math.max(1, Math.min(2, availableParallelism() - 1));
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #jobs: Job[] = [];
  readonly #turns: (() => void)[] = [];
  #threads = 0;

  constructor(options: PreparerOptions) {
    const { bodyBytesMax = 31_457_280, limits } = options;
    const largest = { bytes: bodyBytesMax, elements: limits.elementsMax };
    const threadHeapMb = preparingHeapMb(largest, repeatedBytesMax);
    this.#options = { inlineBytesMax, bodyBytesMax, threadHeapMb, ...options };
  }

  /** Rejects with the Refusal of a body that is refused whole. The bytes must not be used afterwards. */
  async prepare(bytes: Buffer, mediaType: MediaType): Promise<PreparedBody> {
    const { limits } = this.#options;
    if (bytes.length <= this.#options.inlineBytesMax) {
      await this.#turn();
      return prepareBody(bytes, mediaType, limits);
    }
    return new Promise((resolve, reject) => {
      this.#jobs.push({ request: { bytes, mediaType, limits }, resolve, reject });
      this.#next();
    });
  }

  /**
   * Resolves when it is this body's turn: one in each turn of the event loop. Bodies that arrive together would else
   * be prepared in one go, while answers and the database wait: 6 % fewer traces a second with 32 connections.
   */
  #turn(): Promise<void> {
    return new Promise(resolve => {
      this.#turns.push(resolve);
      if (this.#turns.length === 1) setImmediate(() => this.#nextTurn());
    });
  }

  #nextTurn(): void {
    this.#turns.shift()!();
    if (this.#turns.length > 0) setImmediate(() => this.#nextTurn());
  }

  async close(): Promise<void> {
    const threads = [...this.#idle.keys()];
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    await Promise.all(threads.map(thread => thread.terminate()));
  }

  #next(): void {
    if (this.#jobs.length === 0) return;
    const thread = this.#takeThread();
    if (thread) this.#run(thread, this.#jobs.shift()!);
  }

  #takeThread(): Worker | undefined {
    const [idle] = this.#idle;
    if (idle) {
      clearTimeout(idle[1]);
      this.#idle.delete(idle[0]);
      idle[0].ref();
      return idle[0];
    }
    if (this.#threads >= this.#threadsMax) return undefined;
    this.#threads++;
    return new Worker(new URL("./prepare-thread.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.threadHeapMb },
    });
  }

  #run(thread: Worker, job: Job): void {
    const settle = () => {
      thread.off("message", onMessage);
      thread.off("error", onError);
    };
    const onMessage = (reply: PrepareReply) => {
      settle();
      this.#rest(thread);
      try {
        job.resolve(readReply(reply));
      } catch (error) {
        job.reject(error);
      }
      this.#next();
    };
    const onError = (error: unknown) => {
      settle();
      this.#threads--;
      job.reject(tooCostly(error));
      this.#next();
    };
    thread.on("message", onMessage);
    thread.on("error", onError);
    const { bytes } = job.request;
    // A buffer that is a view of a shared pool cannot be handed over; a large body never is, but be exact.
    const owned = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    thread.postMessage({ ...job.request, bytes: owned }, [owned.buffer as ArrayBuffer]);
  }

  /** An idle thread is kept for a while and then ended: its heap is memory that nobody uses. */
  #rest(thread: Worker): void {
    const timer = setTimeout(() => {
      this.#idle.delete(thread);
      this.#threads--;
      void thread.terminate();
    }, idleMs);
    timer.unref();
    this.#idle.set(thread, timer);
    thread.unref();
  }
}

function readReply(reply: PrepareReply): PreparedBody {
  switch (reply.path) {
    case "canonical":
      return { ...reply.body, batch: revive(reply.body.batch) };
    case "otlp":
      return {
        path: "otlp",
        groups: reply.groups.map(group =>
          "refused" in group
            ? {
                serviceName: group.serviceName,
                spanCount: group.spanCount,
                refusal: new Refusal(group.refused.code, group.refused.detail),
              }
            : { ...group, batch: revive(group.batch) },
        ),
      };
    case "refused":
      throw new Refusal(reply.refused.code, reply.refused.detail);
    case "failed":
      throw new Error(reply.error);
  }
}

/** Buffers arrive from a thread as plain byte arrays. */
function revive<B extends { bytes: Uint8Array; spanKeys: Uint8Array }>(
  batch: B,
): B & { bytes: Buffer; spanKeys: Buffer } {
  const buffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
    Buffer.from(buffer, byteOffset, byteLength);
  return { ...batch, bytes: buffer(batch.bytes), spanKeys: buffer(batch.spanKeys) };
}

function tooCostly(error: unknown): unknown {
  if ((error as { code?: string }).code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: "The body holds more values than can be taken in at once.",
    hint: "Send fewer spans in one request.",
    cause: error,
  });
}
