// Retries joins of log records that failed, such as because the database was unavailable just after their commit.
import type { Logger } from "pino";
import { type Database, isTransient } from "../db.ts";
import { type JoinedTrace, type JoinLimits, joinWaiting } from "./join-records.ts";
import type { NamedTrace } from "./otlp-ids.ts";
import type { SentRecords } from "./waiting-records.ts";

export type JoinRetryOptions = {
  db: Database;
  limits: JoinLimits;
  log: Pick<Logger, "error">;
  onJoined: (trace: JoinedTrace) => void;
  onRefused: (records: SentRecords[]) => void;
  /** Before the first retry; doubled after each that fails. */
  firstMs?: number;
};

const firstMsDefault = 1_000;
const waitMsMax = 30_000;
/** Records of further traces, and those of a process that ends, are joined by their next batch, or just before they would be dropped. */
const tracesMax = 10_000;

export class JoinRetry {
  readonly #options: JoinRetryOptions;
  /** By agent and OTLP trace id. */
  readonly #traces = new Map<string, Map<string, NamedTrace>>();
  readonly #firstMs: number;
  #count = 0;
  #waitMs: number;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;
  #closed = false;

  constructor(options: JoinRetryOptions) {
    this.#options = options;
    this.#firstMs = options.firstMs ?? firstMsDefault;
    this.#waitMs = this.#firstMs;
  }

  /** Call it with the traces whose records were committed but could not be joined. */
  add(traces: NamedTrace[]): void {
    for (const trace of traces) {
      if (this.#count >= tracesMax) break;
      const { agentId, otlpTraceId } = trace;
      const ofAgent = this.#traces.get(agentId) ?? new Map<string, NamedTrace>();
      if (!ofAgent.has(otlpTraceId)) this.#count++;
      ofAgent.set(otlpTraceId, trace);
      this.#traces.set(agentId, ofAgent);
    }
    this.#schedule();
  }

  /** Does not retry what is left. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  #schedule(): void {
    if (this.#closed || this.#timer || this.#working || this.#count === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#working = this.#joinAll().finally(() => {
        this.#working = undefined;
        this.#schedule();
      });
    }, this.#waitMs).unref();
  }

  /** Until one agent's fail, who comes last next time: they may be at a worker of a cluster that is unavailable for long. */
  async #joinAll(): Promise<void> {
    const { db, limits, log, onJoined, onRefused } = this.#options;
    for (const [agentId, ofAgent] of this.#traces) {
      if (this.#closed) return;
      this.#traces.delete(agentId);
      this.#count -= ofAgent.size;
      const traces = [...ofAgent.values()];
      try {
        const { joined, refused } = await joinWaiting(db, traces, limits);
        for (const trace of joined) onJoined(trace);
        onRefused(refused);
      } catch (error) {
        if (!isTransient(error)) {
          log.error({ err: error, agentId }, "log records cannot be joined to their traces");
          continue;
        }
        this.add(traces);
        this.#waitMs = Math.min(2 * this.#waitMs, waitMsMax);
        return;
      }
    }
    this.#waitMs = this.#firstMs;
  }
}
