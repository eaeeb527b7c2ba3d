// Stores traces: concurrent requests share a statement and a commit, and are answered after it.
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../../model/refusal.ts";
import { FairQueue, nobody } from "../../threads/fair-queue.ts";
import { partsOf } from "../cluster/routing.ts";
import { asUnavailable, type Database, isTransient, violatedConstraint } from "../db.ts";
import type { MergeLimits } from "./append.ts";
import { insertTraces } from "./insert.ts";
import { joinWaiting } from "./join-records.ts";
import { type NamedTrace, nameOf } from "./otlp-ids.ts";
import { updateTraces } from "./update.ts";
import type { SentRecords } from "./waiting-records.ts";
import type { Stored, TraceWrite, WriteOutcome } from "./write.ts";

export type WriterOptions = MergeLimits & {
  /** Concurrent transactions. One leaves the disk idle while rows are prepared; two measured best. */
  flushesMax?: number;
  /** How long a write is retried while the database is unavailable, in ms. */
  retryMs?: number;
  /** Bodies that have arrived and whose writes are about to follow. */
  arriving?: () => number;
  /** How long a statement waits for their writes. */
  gatherMs?: number;
  /** Called with log records that waited for a span that is stored now, if its trace has no room for them. */
  onRecordsRefused?: (refused: SentRecords[]) => void;
  /** Called with stored traces whose log records could not be joined. */
  retryJoin?: (traces: NamedTrace[]) => void;
};

const writesMax = 128;
// A second transaction begins only when this many writes wait: fewer, fuller statements cost less.
const crowd = 64;
// A statement has a price of its own, so it waits for at most this many writes whose bodies have arrived, and not longer.
const gatherMsDefault = 10;
const bytesMax = 16 * 1024 * 1024;

type Waiting = {
  write: TraceWrite;
  resolve: (stored: Stored) => void;
  reject: (error: unknown) => void;
};

export class TraceWriter {
  readonly #db: Database;
  readonly #options: WriterOptions;
  readonly #flushesMax: number;
  readonly #retryMs: number;
  readonly #arriving: () => number;
  /** Accounts and their keys take turns: a key that sends much waits for itself. */
  readonly #queue = new FairQueue<Waiting>();
  #waiting = 0;
  #flushes = 0;

  constructor(db: Database, options: WriterOptions) {
    this.#db = db;
    this.#options = options;
    this.#flushesMax = options.flushesMax ?? 2;
    // Less than the 8 s to 10 s after which an exporter gives up: it needs time for its own retry.
    this.#retryMs = options.retryMs ?? 3_500;
    this.#arriving = options.arriving ?? (() => 0);
  }

  /** Resolves once the trace and its scheduled run are committed; rejects with a Refusal where they are not, or IntakeChanged. */
  write(write: TraceWrite): Promise<Stored> {
    return new Promise((resolve, reject) => {
      this.#queue.add(write.owners ?? nobody, [{ write, resolve, reject }]);
      const waiting = ++this.#waiting;
      if (waiting === 1 || waiting === crowd + 1) setImmediate(() => this.#start());
    });
  }

  #start(): void {
    while (this.#flushes < this.#flushesMax && this.#waiting > this.#flushes * crowd) {
      this.#flushes++;
      void this.#drain();
    }
  }

  async #drain(): Promise<void> {
    for (let taken = await this.#gather(); taken.length > 0; taken = await this.#gather()) {
      const outcomes = await this.#storeAll(taken.map(({ write }) => write));
      await this.#joinRecords(
        taken.filter((_, at) => !(outcomes[at] instanceof Error)).map(one => one.write),
      );
      taken.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index]!;
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      });
    }
    this.#flushes--;
  }

  /** Only agents with conventions have log records: for others this asks nothing. */
  async #joinRecords(stored: TraceWrite[]): Promise<void> {
    const named = stored.flatMap(write =>
      write.readBy?.conventions.length || write.mayHaveRecords ? (nameOf(write) ?? []) : [],
    );
    if (named.length === 0) return;
    // The traces are committed, and answered whether their records can be joined now or not.
    await this.#byPlace(named, async (db, part) => {
      const { refused } = await joinWaiting(db, part, this.#options);
      this.#options.onRecordsRefused?.(refused);
    }).catch(() => this.#options.retryJoin?.(named));
  }

  /** Half of what is here: while it is stored, the other half is prepared. */
  async #gather(): Promise<Waiting[]> {
    const { gatherMs = gatherMsDefault } = this.#options;
    const deadline = performance.now() + gatherMs;
    const isFew = () => this.#waiting > 0 && this.#waiting < Math.min(this.#arriving(), crowd);
    while (isFew() && performance.now() < deadline) await nextTurn();
    return this.#take();
  }

  #take(): Waiting[] {
    const taken: Waiting[] = [];
    const resources = new Set<string>();
    for (let bytes = 0; taken.length < writesMax && (taken.length === 0 || bytes < bytesMax); ) {
      const next = this.#queue.turn(waiting => waiting.shift()!);
      if (!next) break;
      taken.push(next);
      const { write } = next;
      bytes += write.bytes.length;
      if (!write.resource || resources.has(write.resource.id)) continue;
      resources.add(write.resource.id);
      bytes += write.resource.bytes.length;
    }
    this.#waiting -= taken.length;
    return taken;
  }

  /** Stores all; if the statement fails, each write is stored separately, so that none fails because of another. */
  async #storeAll(writes: TraceWrite[]): Promise<(Stored | Error)[]> {
    try {
      return await this.#retried(() => this.#storeTogether(writes));
    } catch (error) {
      if (writes.length === 1 || isTransient(error)) return writes.map(write => this.#refusal(error, write));
      const alone: (Stored | Error)[] = [];
      for (const write of writes) alone.push((await this.#storeAll([write]))[0]!);
      return alone;
    }
  }

  async #retried<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#retryMs;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 500)) {
      try {
        return await work();
      } catch (error) {
        if (!isTransient(error) || performance.now() + waitMs > deadline) throw error;
        await sleep(waitMs);
      }
    }
  }

  /** In each place at the same time. What is committed in one place when another fails is recognized when it comes again. */
  async #storeTogether(writes: TraceWrite[]): Promise<(Stored | Error)[]> {
    const outcomes = new Map<TraceWrite, Stored | Error>();
    await this.#byPlace(writes, async (db, part) => {
      const stored = await storeIn(db, part, this.#options);
      part.forEach((write, index) => {
        outcomes.set(write, stored[index]!);
      });
    });
    return writes.map(write => outcomes.get(write)!);
  }

  async #byPlace<T extends { agentId: string }>(
    items: T[],
    work: (db: Database, part: T[]) => Promise<unknown>,
  ): Promise<void> {
    const parts = await partsOf(this.#db, items);
    if (parts.length === 1) return void (await work(...parts[0]!));
    const ended = await Promise.allSettled(parts.map(([db, part]) => work(db, part)));
    for (const part of ended) if (part.status === "rejected") throw part.reason;
  }

  #refusal(error: unknown, write: TraceWrite): Error {
    // The agent was deleted in the meantime: for the client it does not exist.
    if (/^trace(s|_identities)_agent_id_fkey/.test(violatedConstraint(error) ?? "")) {
      return write.path === "otlp"
        ? new Refusal("OTLP_PLATFORM_NOT_FOUND", {
            hint: "The agent was just deleted: set OTEL_SERVICE_NAME to another agent's OTLP service name.",
          })
        : new Refusal("CUSTOM_API_PLATFORM_NOT_FOUND", {
            hint: "The agent was just deleted: send platformId with the id of another agent that the key may write to.",
          });
    }
    return asUnavailable(error) as Error;
  }
}

/** New traces in one statement; existing ones in a second transaction that locks them. */
async function storeIn(
  db: Database,
  writes: TraceWrite[],
  options: WriterOptions,
): Promise<(Stored | Error)[]> {
  const outcomes: WriteOutcome[] = await insertTraces(db, writes, options.debounceMs);
  for (;;) {
    const open = outcomes.flatMap((outcome, index) => (outcome === undefined ? [index] : []));
    if (open.length === 0) return outcomes as (Stored | Error)[];
    const known = open.map(index => writes[index]!);
    const updated = await updateTraces(db, known, options);
    // Deleted between the two statements, so new again.
    const vanished = open.filter((_, position) => updated[position] === undefined);
    open.forEach((index, position) => {
      outcomes[index] = updated[position];
    });
    if (vanished.length === 0) continue;
    const again = vanished.map(index => writes[index]!);
    const inserted = await insertTraces(db, again, options.debounceMs);
    vanished.forEach((index, position) => {
      outcomes[index] = inserted[position];
    });
  }
}
