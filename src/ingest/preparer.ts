// Prepares small bodies inline and large ones on a thread, so that no body stalls other requests.

import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import type { StoringRules } from "../model/privacy.ts";
import { Refusal } from "../model/refusal.ts";
import { tellOfWork } from "../model/work.ts";
import { FairQueue, nobody, type Owners } from "../threads/fair-queue.ts";
import { preparingHeapMb } from "../threads/heap.ts";
import { ThreadPool } from "../threads/pool.ts";
import { refusalOf } from "../threads/refusal-message.ts";
import { BeyondLimits, type DecodeLimits } from "../wire/limits.ts";
import type { MediaType } from "../wire/media-type.ts";
import { repeatedBytesMax } from "../wire/otlp-groups.ts";
import type { IntakeBy } from "./intake.ts";
import { type PrepareAgain, type PreparedAgain, type PreparedBody, prepareBody } from "./prepare.ts";
import { type PreparedRecords, type PreparedService, prepareLogs } from "./prepare-logs.ts";
import type { PrepareInput, PrepareLogsResult, PrepareResult } from "./prepare-thread.ts";
import type { PreparedBatch } from "./prepared.ts";
import type { Readers } from "./readers.ts";

export type PreparerOptions = {
  limits: DecodeLimits;
  /** The largest body that `prepare` is called with. */
  bodyBytesMax?: number;
  /** Bodies of up to this many bytes are prepared on the calling thread. */
  inlineBytesMax?: number;
  /** Heap of one thread, in MB. By default no body within the limits fills it. */
  threadHeapMb?: number;
  /** Told of threads that died. */
  log?: Pick<Logger, "error">;
};

// A body of this size takes about 3 ms, the longest pause that other requests should see. Sending a body to a thread
// and back costs the main thread about 0.2 ms, as much as preparing 16 KB.
const inlineBytesMax = 256 * 1024;
const redactionFactor = 4;

// Exporters send an element per 13 to 25 bytes, and nest values some 20 levels deep. The costliest bodies within these take
// about 5 ms; one text that is read as JSON, 25 ms.
const inlineValues = { elementsMax: 20_000, nestingMax: 64 };
const inlineTraces: Partial<DecodeLimits> = { ...inlineValues, tracesMax: 100 };
const inlineLogs: Partial<DecodeLimits> = { ...inlineValues, spansMax: 50 };

export class Preparer {
  readonly #limits: DecodeLimits;
  readonly #inlineTraces: DecodeLimits;
  readonly #inlineLogs: DecodeLimits;
  readonly #inlineBytesMax: number;
  readonly #pool: ThreadPool;
  readonly #turns = new FairQueue<() => void>();
  #waiting = 0;

  constructor({ limits, bodyBytesMax = 31_457_280, ...options }: PreparerOptions) {
    const largest = { bytes: bodyBytesMax, elements: limits.elementsMax };
    this.#limits = limits;
    this.#inlineTraces = lower(limits, inlineTraces);
    this.#inlineLogs = lower(limits, inlineLogs);
    this.#inlineBytesMax = options.inlineBytesMax ?? inlineBytesMax;
    this.#pool = new ThreadPool({
      script: new URL("./prepare-thread.ts", import.meta.url),
      memoryMb: options.threadHeapMb ?? preparingHeapMb(largest, repeatedBytesMax),
      threadsMax: Math.max(1, Math.min(2, availableParallelism() - 1)),
      callsPerThread: 1,
      idleMs: 10_000,
      crashError: refusalOfDead,
      name: "a thread that prepares bodies",
      ...(options.log && { log: options.log }),
    });
  }

  /** Bodies that wait for their turn on the calling thread. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Rejects with the Refusal of a body that is refused as a whole. The bytes must not be used afterwards. `owners`: who waits for a turn. */
  async prepare(
    bytes: Buffer,
    mediaType: MediaType,
    readers: Readers | null = null,
    owners: Owners = nobody,
  ): Promise<PreparedBody> {
    const small = await this.#inline(bytes, readers, owners, this.#inlineTraces, limits =>
      prepareBody(bytes, mediaType, limits, readers),
    );
    if (small) return small;
    return bodyOf(await this.#onThread<PrepareResult>("prepare", bytes, mediaType, readers, owners));
  }

  /** As `prepare`, for the body of a log export. */
  async prepareLogs(
    bytes: Buffer,
    mediaType: MediaType,
    readers: Readers | null,
    owners: Owners = nobody,
  ): Promise<PreparedService[]> {
    const small = await this.#inline(bytes, readers, owners, this.#inlineLogs, limits =>
      prepareLogs(bytes, mediaType, limits, readers),
    );
    if (small) return small;
    const services = await this.#onThread<PrepareLogsResult>(
      "prepareLogs",
      bytes,
      mediaType,
      readers,
      owners,
    );
    return services.map(({ refused, spans, ...service }) => ({
      ...service,
      refused: refused.map(one => ({ ...one, refusal: refusalOf(one.refusal) })),
      spans: spans.map(reviveRecords),
    }));
  }

  /** A stored-form batch changed once more by the settings of its agent: they changed after it was prepared. */
  async prepareAgain(input: PrepareAgain): Promise<PreparedAgain> {
    const { batch, resource } = await this.#pool.call<PreparedAgain>("again", input);
    return {
      batch: reviveBatch(batch),
      resource: resource && { ...resource, bytes: revive(resource.bytes) },
    };
  }

  /** As `prepareAgain`, for log records; null if nothing of them is left. */
  async prepareRecordsAgain(
    records: PreparedRecords,
    by: IntakeBy,
    storing: StoringRules | null,
  ): Promise<PreparedRecords | null> {
    const again = await this.#pool.call<PreparedRecords | null>("recordsAgain", { records, by, storing });
    return again && reviveRecords(again);
  }

  #onThread<T>(
    name: string,
    bytes: Buffer,
    mediaType: MediaType,
    readers: Readers | null,
    owners: Owners,
  ): Promise<T> {
    // Only a buffer of its own can be transferred. Large bodies have one, but this does not depend on it.
    const owned = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    const input: PrepareInput = { bytes: owned, mediaType, limits: this.#limits, readers };
    return this.#pool.call<T>(name, input, { transfer: [owned.buffer as ArrayBuffer], owners });
  }

  /** What `work` returns within the limits of small bodies; null if the body is not small, which it may find out itself. */
  async #inline<T>(
    bytes: Buffer,
    readers: Readers | null,
    owners: Owners,
    limits: DecodeLimits,
    work: (limits: DecodeLimits) => T,
  ): Promise<T | null> {
    if (bytes.length > this.#inlineBytesOf(readers)) return null;
    await this.#turn(owners);
    try {
      const prepared = work(limits);
      tellOfWork("trace", { bytes: bytes.length });
      return prepared;
    } catch (error) {
      if (error instanceof BeyondLimits) return null;
      throw error;
    }
  }

  /** Redaction takes several times as long as the rest. What a project's own rules take is known to nobody. */
  #inlineBytesOf(readers: Readers | null): number {
    if (!readers?.storing) return this.#inlineBytesMax;
    return readers.storing.rules.rules.length > 0 ? -1 : this.#inlineBytesMax / redactionFactor;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  /**
   * Limits inline preparation to one body per turn of the event loop. Otherwise bodies that arrive together are prepared
   * in one go, while responses and the database wait: 6% fewer traces per second with 32 connections. Accounts and their
   * keys take turns, so that a key with many requests delays its own.
   */
  #turn(owners: Owners): Promise<void> {
    return new Promise(resolve => {
      if (this.#waiting++ === 0) setImmediate(() => this.#nextTurn());
      this.#turns.add(owners, [resolve]);
    });
  }

  #nextTurn(): void {
    this.#turns.turn(waiting => waiting.shift()!)?.();
    if (--this.#waiting > 0) setImmediate(() => this.#nextTurn());
  }
}

function lower(limits: DecodeLimits, max: Partial<DecodeLimits>): DecodeLimits {
  const { nestingMax, spansMax, tracesMax, elementsMax } = { ...limits, ...max };
  return {
    nestingMax: Math.min(nestingMax, limits.nestingMax),
    spansMax: Math.min(spansMax, limits.spansMax),
    tracesMax: Math.min(tracesMax, limits.tracesMax),
    elementsMax: Math.min(elementsMax, limits.elementsMax),
  };
}

function bodyOf(result: PrepareResult): PreparedBody {
  if (result.path === "canonical") return { ...result, batch: reviveBatch(result.batch) };
  const groups = result.groups.map(group =>
    "refusal" in group
      ? { ...group, refusal: refusalOf(group.refusal) }
      : { ...group, batch: reviveBatch(group.batch) },
  );
  const resources = result.resources.map(resource => ({ ...resource, bytes: revive(resource.bytes) }));
  return { path: "otlp", groups, resources };
}

function reviveBatch(batch: PreparedBatch): PreparedBatch {
  return { ...batch, bytes: revive(batch.bytes), spanKeys: revive(batch.spanKeys) };
}

function reviveRecords(records: PreparedRecords): PreparedRecords {
  return { ...records, bytes: revive(records.bytes), recordKeys: revive(records.recordKeys) };
}

/** Buffers arrive from a thread as plain byte arrays. */
function revive({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** What the call of a thread that died rejects with. */
function refusalOfDead(error: unknown): Refusal {
  if ((error as { code?: string } | undefined)?.code !== "ERR_WORKER_OUT_OF_MEMORY")
    return new Refusal("UNAVAILABLE", { message: "The body could not be read this time.", cause: error });
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: "The body contains more values than one request may have.",
    hint: "Send fewer spans in one request.",
    cause: error,
  });
}
