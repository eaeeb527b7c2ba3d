// Claims due runs under a lease, has them judged, keeps what came of it; gives back what it cannot finish.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { refreshStale } from "./load.ts";
import { columnsOf } from "./model/columns.ts";
import type { RunState } from "./model/run.ts";
import { type JudgedRun, judgeRuns, type RunDeps } from "./run.ts";
import { isTransient } from "./store/db.ts";
import type { EventPublisher } from "./store/events.ts";
import {
  type ClaimedRun,
  claimRuns,
  completeRuns,
  extendLeases,
  failRun,
  giveBackRuns,
  nextDueMs,
} from "./store/runs.ts";
import { updateColumns } from "./store/traces.ts";

export type WorkerDeps = RunDeps & {
  events: EventPublisher;
  log: Logger;
  leaseMs: number;
  /** Told of every run that ended. */
  onEnd?: (state: RunState, verdict: string | null) => void;
};

// Claimed in one statement, and judged at once by one thread: enough for the statements to cost little beside the
// judging, few enough that a thread that dies holds up little.
const claimMax = 32;
// In hand at once. Runs that wait for the judge fill these; runs without semantic checks never reach it.
const inHandMax = 128;
const idleMaxMs = 500;
// A row that lags behind its spans is brought up to date once nothing came for this long.
const staleQuietMs = 10_000;
const staleMax = 20;

export class RunWorker {
  readonly #deps: WorkerDeps;
  readonly #lease = randomUUID();
  readonly #inHand = new Map<string, ClaimedRun>();
  readonly #abort = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  #judged: JudgedRun[] = [];
  #keeping: Promise<void> | undefined;
  /** Whether `wake` was called since the loop last began to look: what came while it looked is not missed. */
  #woken = false;
  #endPause: () => void = () => {};
  #stopping = false;
  readonly #loop: Promise<void>;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#heartbeat = setInterval(() => void this.#extend(), deps.leaseMs / 3);
    this.#loop = this.#run();
  }

  /** Something may be due now. */
  wake(): void {
    this.#woken = true;
    this.#endPause();
  }

  /** Takes no further run, finishes within `graceMs` what is in hand, and gives back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.wake();
    await this.#loop;
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    while (this.#inHand.size > 0 && !this.#abort.signal.aborted) await delay(20);
    clearTimeout(timer);
    clearInterval(this.#heartbeat);
    const runIds = [...this.#inHand.keys()];
    if (runIds.length > 0) await giveBackRuns(this.#deps.db, { lease: this.#lease, runIds }).catch(() => {});
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#woken = false;
      try {
        if (!(await this.#claim())) await this.#pause(await this.#idle());
      } catch (error) {
        this.#logFault(error, "runs cannot be claimed");
        await this.#pause(1_000);
      }
    }
  }

  /** Whether there may be more to claim at once. */
  async #claim(): Promise<boolean> {
    const runsMax = Math.min(claimMax, inHandMax - this.#inHand.size);
    if (runsMax === 0) return false;
    const { db, leaseMs } = this.#deps;
    const inHand = [...this.#inHand.keys()];
    const { runs, ended } = await claimRuns(db, { lease: this.#lease, leaseMs, runsMax, inHand });
    for (const run of ended) this.#tellError(run);
    if (runs.length === 0) return false;
    for (const run of runs) this.#inHand.set(run.id, run);
    await this.#judge(runs);
    return true;
  }

  /** Resolves once the runs without questions are judged; those that wait for the judge end in their own time. */
  async #judge(runs: ClaimedRun[]): Promise<void> {
    try {
      await judgeRuns(this.#deps, runs, this.#abort.signal, {
        judged: run => this.#keep(run),
        faulty: (run, error) => void this.#fail(run, error),
        gone: run => this.#inHand.delete(run.id),
      });
    } catch (error) {
      if (!isTransient(error)) {
        // One that cannot be loaded must not hold up those that were claimed with it.
        if (runs.length === 1) await this.#fail(runs[0]!, error);
        else for (const run of runs) await this.#judge([run]);
        return;
      }
      this.#logFault(error, "runs cannot be loaded");
      for (const run of runs) this.#inHand.delete(run.id);
      const runIds = runs.map(run => run.id);
      await giveBackRuns(this.#deps.db, { lease: this.#lease, runIds });
      await this.#pause(1_000);
    }
  }

  /** Runs that are judged while others are being kept are kept together next. */
  #keep(run: JudgedRun): void {
    this.#judged.push(run);
    this.#keeping ??= this.#keepAll();
  }

  async #keepAll(): Promise<void> {
    // What is judged in this turn of the event loop is kept together.
    await new Promise(resolve => setImmediate(resolve));
    while (this.#judged.length > 0) {
      const judged = this.#judged.splice(0, 2 * claimMax);
      try {
        await this.#store(judged);
      } catch (error) {
        this.#logFault(error, "results cannot be kept");
        if (isTransient(error) && !this.#abort.signal.aborted) {
          this.#judged.unshift(...judged);
          await delay(500);
          continue;
        }
        // The leases run out, and whoever is there then judges these again.
      }
      for (const { run } of judged) this.#inHand.delete(run.id);
      this.wake();
    }
    this.#keeping = undefined;
  }

  async #store(judged: JudgedRun[]): Promise<void> {
    const { db, events } = this.#deps;
    const kept = await completeRuns(
      db,
      this.#lease,
      judged.map(({ run, loaded, verdict }) => ({
        id: run.id,
        revision: loaded.revision,
        verdict,
        durationMs: loaded.derived.durationMs,
        tokens: loaded.derived.tokens,
      })),
    );
    const stale = judged.filter(({ loaded }) => loaded.stale);
    if (stale.length > 0) {
      await updateColumns(
        db,
        stale.map(({ loaded: { traceId, revision, derived } }) => ({
          traceId,
          revision,
          columns: columnsOf(derived),
        })),
      );
    }
    for (const { run, verdict } of judged) {
      if (!kept.has(run.id)) continue;
      const { id: runId, agentId, traceId } = run;
      events.publish({ type: "run", agentId, traceId, runId, state: "completed", verdict: verdict.verdict });
      this.#deps.onEnd?.("completed", verdict.verdict);
    }
  }

  async #fail(run: ClaimedRun, error: unknown): Promise<void> {
    const { db, log } = this.#deps;
    log.error({ err: error, runId: run.id, traceId: run.traceId }, "a run could not be judged");
    try {
      const said = "A fault of the service kept this run from being judged; its log says more.";
      await failRun(db, { lease: this.#lease, runId: run.id, error: said });
      this.#tellError(run);
    } catch (failure) {
      this.#logFault(failure, "a run cannot be marked as an error");
    }
    this.#inHand.delete(run.id);
  }

  #tellError({ id: runId, agentId, traceId }: ClaimedRun): void {
    this.#deps.events.publish({ type: "run", agentId, traceId, runId, state: "error", verdict: null });
    this.#deps.onEnd?.("error", null);
  }

  async #idle(): Promise<number> {
    if (this.#inHand.size >= inHandMax) return idleMaxMs;
    const refreshed = await refreshStale(this.#deps.db, { quietMs: staleQuietMs, limit: staleMax });
    if (refreshed === staleMax) return 0;
    const dueMs = await nextDueMs(this.#deps.db, [...this.#inHand.keys()]);
    return Math.max(1, Math.min(dueMs ?? idleMaxMs, idleMaxMs));
  }

  async #extend(): Promise<void> {
    const runIds = [...this.#inHand.keys()];
    if (runIds.length === 0) return;
    const { db, leaseMs } = this.#deps;
    await extendLeases(db, { lease: this.#lease, leaseMs, runIds }).catch(error =>
      this.#logFault(error, "leases cannot be extended"),
    );
  }

  #pause(ms: number): Promise<void> {
    if (this.#woken) return Promise.resolve();
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #logFault(error: unknown, what: string): void {
    if (isTransient(error)) this.#deps.log.warn({ err: (error as Error).message }, `${what}: no database`);
    else this.#deps.log.error({ err: error }, what);
  }
}
