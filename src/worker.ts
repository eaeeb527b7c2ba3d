// Claims due runs under a lease, evaluates them, and stores the results; runs that wait for the judge are stored as they
// are, and what a stopping worker cannot finish is given back.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import { HeapSemaphore } from "./load/heap-semaphore.ts";
import { refreshStale } from "./load.ts";
import { Refusal } from "./model/refusal.ts";
import { runErrorReason } from "./model/run/reason.ts";
import type { RunState } from "./model/run/run.ts";
import { columnsOf } from "./model/trace/columns.ts";
import { Admission } from "./run/admission.ts";
import { type EvaluatedRun, evaluateRuns, type PartialRun, type RunDeps, type RunEnds } from "./run.ts";
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
} from "./store/runs/claims.ts";
import { savePartial } from "./store/runs/waiting.ts";
import { updateColumns } from "./store/traces/read.ts";

export type WorkerDeps = RunDeps & {
  events: EventPublisher;
  log: Logger;
  leaseMs: number;
  /** Called for every run that ended. */
  onEnd?: (state: RunState, verdict: string | null) => void;
};

// Claimed in one statement and evaluated together: enough that the statements cost little beside the evaluation, few
// enough that a thread that dies holds up little.
const claimMax = 32;
const inHandMax = 128;
// Runs that may wait for the judge: a whole claim of others always fits beside them.
const askingMax = inHandMax - claimMax;
const idleMaxMs = 500;
// A trace row that lags behind its spans is updated after this long without new batches.
const staleQuietMs = 10_000;
const staleMax = 20;

export class RunWorker {
  readonly #deps: WorkerDeps & { heap: HeapSemaphore; admission: Admission };
  readonly #lease = randomUUID();
  readonly #inHand = new Map<string, ClaimedRun>();
  /** Release the heap of a run's trace, by the ids of the runs that have started. */
  readonly #releases = new Map<string, () => void>();
  readonly #stopping = new AbortController();
  readonly #abort = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #evaluated: EvaluatedRun[] = [];
  readonly #partial: PartialRun[] = [];
  #storing: Promise<void> | undefined;
  readonly #claimLoop: ClaimLoop;

  constructor(deps: WorkerDeps) {
    this.#deps = { ...deps, heap: deps.heap ?? new HeapSemaphore(), admission: new Admission(askingMax) };
    this.#heartbeat = setInterval(() => void this.#extend(), deps.leaseMs / 3);
    this.#claimLoop = new ClaimLoop({
      claim: () => this.#claim(),
      onFault: error => logFault(this.#deps.log, error, "runs cannot be claimed"),
    });
  }

  /** Call it when a run may be due. */
  wake(): void {
    this.#claimLoop.wake();
  }

  /** Claims no further run, finishes its runs within `graceMs`, and gives back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#claimLoop.stop();
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    while (this.#inHand.size > 0 && !this.#abort.signal.aborted) await delay(20);
    clearTimeout(timer);
    clearInterval(this.#heartbeat);
    const runIds = [...this.#inHand.keys()];
    if (runIds.length > 0) await giveBackRuns(this.#deps.db, { lease: this.#lease, runIds }).catch(() => {});
  }

  /**
   * Agents with at least as many runs in hand as there are free places: one whose runs take long never fills all of them,
   * and those of others are claimed past its queue.
   */
  #fullAgents(): string[] {
    const free = inHandMax - this.#inHand.size;
    const byAgent = Map.groupBy(this.#inHand.values(), ({ agentId }) => agentId);
    return [...byAgent].flatMap(([agentId, runs]) => (runs.length >= free ? [agentId] : []));
  }

  /** Resolves to the ms after which to claim again. */
  async #claim(): Promise<number> {
    const runsMax = Math.min(claimMax, inHandMax - this.#inHand.size);
    if (runsMax === 0) return idleMaxMs;
    const { db, leaseMs, admission } = this.#deps;
    const inHand = [...this.#inHand.keys()];
    const resumedMax = admission.free;
    const places = { runsMax, resumedMax, inHand, fullAgents: this.#fullAgents() };
    const { runs, ended } = await claimRuns(db, { lease: this.#lease, leaseMs, ...places });
    for (const run of ended) this.#publishError(run);
    if (runs.length === 0) return this.#idleMs();
    for (const run of runs) {
      this.#inHand.set(run.id, run);
      // Viewers of a run that waited see that it continues.
      if (run.detail) this.#publishRunning(run);
    }
    await this.#evaluate(runs);
    return 0;
  }

  /** Resolves once the runs without questions have ended; runs that ask the judge end in their own time. */
  async #evaluate(runs: ClaimedRun[]): Promise<void> {
    const unstarted = new Set(runs);
    const ends: RunEnds = {
      started: (run, release) => {
        unstarted.delete(run);
        this.#releases.set(run.id, release);
      },
      evaluated: run => this.#enqueue(this.#evaluated, run),
      partial: run => this.#enqueue(this.#partial, run),
      waiting: run => this.#enqueue(this.#partial, run),
      failed: (run, error) => {
        unstarted.delete(run);
        void this.#fail(run, error);
      },
      deleted: run => {
        unstarted.delete(run);
        this.#letGo(run);
      },
    };
    try {
      await evaluateRuns(this.#deps, runs, this.#abort.signal, ends, this.#stopping.signal);
      if (this.#stopping.signal.aborted) await this.#giveBack([...unstarted]);
    } catch (error) {
      const left = [...unstarted];
      if (!isTransient(error)) {
        // A run that cannot be loaded must not hold up the others of its claim.
        if (runs.length === 1) for (const run of left) await this.#fail(run, error);
        else for (const run of left) await this.#evaluate([run]);
        return;
      }
      logFault(this.#deps.log, error, "runs cannot be loaded");
      await this.#giveBack(left);
      await this.#claimLoop.pause(1_000);
    }
  }

  async #giveBack(runs: ClaimedRun[]): Promise<void> {
    if (runs.length === 0) return;
    for (const run of runs) this.#letGo(run);
    await giveBackRuns(this.#deps.db, { lease: this.#lease, runIds: runs.map(run => run.id) });
  }

  #letGo({ id }: ClaimedRun): void {
    this.#inHand.delete(id);
    this.#releases.get(id)?.();
    this.#releases.delete(id);
  }

  /** Runs that end while others are being stored are stored together next. */
  #enqueue<R>(queue: R[], run: R): void {
    queue.push(run);
    this.#storing ??= this.#storeAll();
  }

  async #storeAll(): Promise<void> {
    // Runs that end in this turn of the event loop are stored together.
    await new Promise(resolve => setImmediate(resolve));
    while (this.#partial.length + this.#evaluated.length > 0) {
      // In this order: the partial verdict of a run never replaces its results.
      await this.#storeSome(
        this.#partial,
        partial => this.#storePartial(partial),
        ({ wait }) => wait !== undefined,
      );
      await this.#storeSome(
        this.#evaluated,
        evaluated => this.#storeResults(evaluated),
        () => true,
      );
    }
    this.#storing = undefined;
  }

  async #storeSome<R extends { run: ClaimedRun }>(
    queue: R[],
    store: (runs: R[]) => Promise<void>,
    isOver: (run: R) => boolean,
  ): Promise<void> {
    const runs = queue.splice(0, 2 * claimMax);
    if (runs.length === 0) return;
    try {
      await store(runs);
    } catch (error) {
      logFault(this.#deps.log, error, "results cannot be stored");
      if (isTransient(error) && !this.#abort.signal.aborted) {
        queue.unshift(...runs);
        await delay(500);
        return;
      }
      // Their leases expire, and another worker evaluates them again.
    }
    for (const one of runs) if (isOver(one)) this.#letGo(one.run);
    this.wake();
  }

  async #storePartial(partial: PartialRun[]): Promise<void> {
    const latest = [...new Map(partial.map(one => [one.run.id, one])).values()];
    const kept = await savePartial(
      this.#deps.db,
      this.#lease,
      latest.map(({ run, ...known }) => ({ id: run.id, ...known })),
    );
    for (const { run } of latest) if (kept.has(run.id)) this.#publishRunning(run);
  }

  async #storeResults(evaluated: EvaluatedRun[]): Promise<void> {
    const { db, events } = this.#deps;
    const kept = await completeRuns(
      db,
      this.#lease,
      evaluated.map(({ run, loaded, verdict, outage, plan }) => ({
        id: run.id,
        revision: loaded.revision,
        verdict,
        outage,
        plan,
        durationMs: loaded.derived.durationMs,
        tokens: loaded.derived.tokens,
      })),
    );
    const stale = evaluated.filter(({ loaded }) => loaded.stale);
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
    for (const { run, verdict } of evaluated) {
      if (!kept.has(run.id)) continue;
      const { id: runId, agentId, traceId } = run;
      events.publish({ type: "run", agentId, traceId, runId, state: "completed", verdict: verdict.verdict });
      this.#deps.onEnd?.("completed", verdict.verdict);
    }
  }

  async #fail(run: ClaimedRun, error: unknown): Promise<void> {
    const { db, log } = this.#deps;
    const isFault = !(error instanceof Refusal);
    if (isFault)
      log.error({ err: error, runId: run.id, traceId: run.traceId }, "a run could not be evaluated");
    try {
      await failRun(db, { lease: this.#lease, runId: run.id, error: runErrorReason(error) });
      this.#publishError(run);
    } catch (failure) {
      logFault(this.#deps.log, failure, "a run cannot be marked as an error");
    }
    this.#letGo(run);
  }

  #publishRunning({ id: runId, agentId, traceId }: ClaimedRun): void {
    this.#deps.events.publish({ type: "run", agentId, traceId, runId, state: "running", verdict: null });
  }

  #publishError({ id: runId, agentId, traceId }: ClaimedRun): void {
    this.#deps.events.publish({ type: "run", agentId, traceId, runId, state: "error", verdict: null });
    this.#deps.onEnd?.("error", null);
  }

  /** Updates stale trace rows while there is nothing else to do. */
  async #idleMs(): Promise<number> {
    const { db, heap, admission } = this.#deps;
    const { signal } = this.#stopping;
    const refreshed = await refreshStale(db, { quietMs: staleQuietMs, limit: staleMax, heap, signal });
    if (refreshed === staleMax) return 0;
    const inHand = [...this.#inHand.keys()];
    const places = { inHand, resumes: admission.free > 0, fullAgents: this.#fullAgents() };
    const dueMs = await nextDueMs(db, places);
    return Math.max(1, Math.min(dueMs ?? idleMaxMs, idleMaxMs));
  }

  async #extend(): Promise<void> {
    const runIds = [...this.#inHand.keys()];
    if (runIds.length === 0) return;
    const { db, leaseMs } = this.#deps;
    await extendLeases(db, { lease: this.#lease, leaseMs, runIds }).catch(error =>
      logFault(this.#deps.log, error, "leases cannot be extended"),
    );
  }
}
