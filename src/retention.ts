// Deletes traces whose retention time is over, in the background: in one process at a time, few at a time, with rests.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import type { Database } from "./store/db.ts";
import { holdLease, releaseLease } from "./store/leases.ts";
import { expireTraces, listAgentsToExpire } from "./store/traces/retention.ts";

export type RetentionDeps = {
  db: Database;
  log: Logger;
  /** The operator's, for all projects, in days; null: only the projects' own. */
  serverDays: number | null;
  onDeleted?: (traces: number) => void;
  /** Between two searches for old traces. */
  pauseMs?: number;
};

const pauseMsDefault = 60_000;
const leaseMs = 60_000;
// How long a transaction may take about: as long as it runs, a request that shares a resource with a deleted trace waits.
const transactionMs = 50;
const tracesFirst = 20;
const tracesMost = 500;

export class Retention {
  readonly #deps: RetentionDeps;
  readonly #lease = { name: "retention", holder: randomUUID() };
  readonly #abort = new AbortController();
  readonly #loop: ClaimLoop;
  /** Traces in a transaction: as many as it had time for before. */
  #tracesMax = tracesFirst;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
    this.#loop = new ClaimLoop({
      claim: () => this.#round(),
      onFault: error => logFault(deps.log, error, "old traces cannot be deleted"),
    });
  }

  /** Call it when a project's time has become shorter. */
  wake(): void {
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#loop.stop();
  }

  async #round(): Promise<number> {
    const { db, serverDays, pauseMs = pauseMsDefault } = this.#deps;
    if (this.#abort.signal.aborted || !(await holdLease(db, this.#lease, leaseMs))) return pauseMs;
    // Of an agent whose traces cannot be deleted: those of the others are.
    const faults: unknown[] = [];
    try {
      for (const agentId of await listAgentsToExpire(db, serverDays)) {
        if (!(await this.#expire(agentId, faults))) break;
      }
    } finally {
      await releaseLease(db, this.#lease);
    }
    if (faults.length > 0) throw faults[0];
    return pauseMs;
  }

  /** False if this process must stop, or another one has taken over. */
  async #expire(agentId: string, faults: unknown[]): Promise<boolean> {
    const { db, serverDays, onDeleted } = this.#deps;
    const { signal } = this.#abort;
    for (;;) {
      if (signal.aborted || !(await holdLease(db, this.#lease, leaseMs))) return false;
      const tracesMax = this.#tracesMax;
      const begun = performance.now();
      const deleted = await expireTraces(db, agentId, { serverDays, tracesMax }).catch(error => {
        faults.push(error);
      });
      if (deleted === undefined) {
        // Of large traces, as many as before of small ones may take longer than a statement may.
        this.#tracesMax = Math.max(1, Math.floor(tracesMax / 4));
        return true;
      }
      const tookMs = performance.now() - begun;
      if (deleted > 0) onDeleted?.(deleted);
      if (deleted < tracesMax) return true;
      const fitting = Math.floor((tracesMax * transactionMs) / tookMs);
      this.#tracesMax = Math.max(1, Math.min(fitting, 2 * tracesMax, tracesMost));
      // As long a rest as the work took: at most half of a core, and of a connection.
      await delay(tookMs, undefined, { signal }).catch(() => {});
    }
  }
}
