// Stores every call before its answer is used; while the database is unavailable, calls wait in memory.
import type { Logger } from "pino";
import { type Database, isTransient } from "../store/db.ts";
import { type CallEntry, countCached, keepJudgeCall } from "../store/judge/calls.ts";

const writeAfterMs = 1_000;
// About 20 KB each; a busy hour produces about this many.
const entriesMax = 2_000;

export class Ledger {
  readonly #db: Database;
  readonly #log: Pick<Logger, "error" | "warn">;
  readonly #cached = new Map<string, number>();
  #waiting: CallEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();

  constructor(db: Database, log: Pick<Logger, "error" | "warn">) {
    this.#db = db;
    this.#log = log;
  }

  /** Resolves once the call is stored, or waits for the database to come back. */
  async keep(entry: CallEntry): Promise<void> {
    if (await this.#done(keepJudgeCall(this.#db, entry))) return;
    this.#waiting.push(entry);
    this.#writeLater();
  }

  /** Counts questions that needed no call. */
  countCached(agentId: string, questions: number): void {
    if (questions === 0) return;
    this.#cached.set(agentId, (this.#cached.get(agentId) ?? 0) + questions);
    this.#writeLater();
  }

  /** Writes the calls that wait. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#write();
    await this.#writing;
    clearTimeout(this.#timer);
  }

  /** Whether the write need not be retried. */
  async #done(write: Promise<void>): Promise<boolean> {
    try {
      await write;
      return true;
    } catch (error) {
      if (!isTransient(error)) this.#log.error({ err: error }, "judge usage cannot be stored");
      else this.#log.warn({ err: (error as Error).message }, "judge usage waits for the database");
      return !isTransient(error);
    }
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#write();
    }, writeAfterMs).unref();
  }

  /** One statement at a time, so that a slow database is not flooded. */
  #write(): void {
    this.#writing = this.#writing.then(async () => {
      // Stops at the first that fails: the others would fail as well, one by one.
      while (this.#waiting[0] && (await this.#done(keepJudgeCall(this.#db, this.#waiting[0])))) {
        this.#waiting.shift();
      }
      this.#waiting = this.#waiting.slice(-entriesMax);
      for (const [agentId, questions] of this.#waiting.length > 0 ? [] : [...this.#cached]) {
        this.#cached.delete(agentId);
        if (await this.#done(countCached(this.#db, agentId, questions))) continue;
        this.#cached.set(agentId, (this.#cached.get(agentId) ?? 0) + questions);
        break;
      }
      if (this.#waiting.length + this.#cached.size > 0) this.#writeLater();
    });
  }
}
