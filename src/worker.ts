// Claims due runs under a lease, evaluates them, and has the results stored; what a stopping worker cannot finish is given
// back.

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { ClaimLoop, logFault, logFaultOfAgents } from "./claiming.ts";
import { HeapSemaphore } from "./load/heap-semaphore.ts";
import { Refusal } from "./model/refusal.ts";
import { runErrorReason } from "./model/run/reason.ts";
import type { RunState } from "./model/run/run.ts";
import { judgePermits } from "./run/admission.ts";
import { evaluateRuns, type RunDeps, type RunEnds } from "./run.ts";
import { listAgentsOf } from "./store/accounts/ownership.ts";
import { isTransient } from "./store/db.ts";
import type { EventPublisher } from "./store/events.ts";
import type { ClaimedRun } from "./store/runs/claim.ts";
import { ClaimTurns } from "./store/runs/claim-turns.ts";
import { claimRuns, extendLeases, failRun, giveBackRuns, nextDueMs } from "./store/runs/claims.ts";
import { QueueStarts } from "./store/runs/queue-starts.ts";
import type { FairSemaphore } from "./threads/fair-semaphore.ts";
import type { HeldRuns } from "./worker/held-runs.ts";
import { publishRunning, ResultWriter } from "./worker/result-writer.ts";

export type WorkerDeps = RunDeps & {
  events: EventPublisher;
  log: Logger;
  leaseMs: number;
  /** For how long it may ask for no due runs while it knows of none; `wake` ends that. Default: 500 ms. */
  idleMaxMs?: number;
  /** Called when it has claimed as many runs as it takes at a time, or can take no more: others may be due. */
  onBacklog?: () => void;
  /** Told what it holds. */
  held?: HeldRuns;
  /** Called for every run that ended. */
  onEnd?: (state: RunState, verdict: string | null) => void;
};

// Claimed in one statement and evaluated together: enough that the statements cost little beside the evaluation, few
// enough that a thread that dies holds up little.
const claimMax = 32;
const inHandMax = 128;
// Runs that are evaluated and wait to be stored, in as few statements as can be. They hold no place.
const evaluatedMax = 4 * claimMax;
// Runs that may wait for the judge: a whole claim of others always fits beside them.
const askingMax = inHandMax - claimMax;
const idleMaxMsDefault = 500;
// How long the runs of one claim may hold up the next one: they are opened and evaluated by turns.
const claimHoldMs = 50;

/** How long a thread may take to finish its runs. */
export const graceMs = 15_000;

export class RunWorker {
  readonly #deps: WorkerDeps & { heap: HeapSemaphore; admission: FairSemaphore };
  readonly #lease = randomUUID();
  readonly #starts = new QueueStarts();
  readonly #turns = new ClaimTurns();
  readonly #inHand = new Map<string, ClaimedRun>();
  readonly #evaluating = new Set<Promise<number>>();
  /** The ids of those in hand that are evaluated. */
  readonly #evaluated = new Set<string>();
  /** Whether the last claim found runs: then another follows it. */
  #claiming = false;
  /** Release the heap of a run's trace, by the ids of the runs that have started. */
  readonly #releases = new Map<string, () => void>();
  readonly #stopping = new AbortController();
  readonly #abort = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #results: ResultWriter;
  readonly #claimLoop: ClaimLoop;
  readonly #idleMaxMs: number;

  constructor(deps: WorkerDeps) {
    this.#idleMaxMs = deps.idleMaxMs ?? idleMaxMsDefault;
    this.#deps = { ...deps, heap: deps.heap ?? new HeapSemaphore(), admission: judgePermits(askingMax) };
    this.#results = new ResultWriter({
      ...deps,
      lease: this.#lease,
      batchMax: 2 * claimMax,
      coming: () => this.#claiming,
      stopped: this.#abort.signal,
      letGo: run => this.#letGo(run),
      fail: (run, error) => this.#fail(run, error),
      wake: () => this.wake(),
    });
    this.#heartbeat = setInterval(() => void this.#extend(), deps.leaseMs / 3);
    this.#claimLoop = new ClaimLoop({
      claim: () => this.#claim(),
      onFault: error => void logFaultOfAgents(this.#deps, error, "runs cannot be claimed"),
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
    this.#setClaiming(false);
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    while (this.#inHand.size > 0 && !this.#abort.signal.aborted) await delay(20);
    clearTimeout(timer);
    await Promise.all(this.#evaluating);
    clearInterval(this.#heartbeat);
    const runIds = [...this.#inHand.keys()];
    if (runIds.length > 0) await giveBackRuns(this.#deps.db, { lease: this.#lease, runIds }).catch(() => {});
  }

  /**
   * How many runs to claim, and the agents that have their share of the places: of what the others leave free beside a claim,
   * half for an agent and three quarters for an account, as of the judge's permits (run/admission.ts), so that those that may not
   * ask are claimed too, and put back with what is known. One whose runs take long never fills all places, and those of others
   * are claimed past its queue.
   */
  async #room(): Promise<{ runsMax: number; fullAgents: string[] }> {
    const free = this.#free();
    const open = [...this.#inHand.values()].filter(({ id }) => !this.#evaluated.has(id));
    const runsMax = Math.min(claimMax, free, evaluatedMax - this.#evaluated.size);
    const full = (owner: "accountId" | "agentId", times: number) =>
      [...Map.groupBy(open, run => run[owner])].flatMap(([id, { length }]) =>
        length > times * (free - claimMax) ? [id] : [],
      );
    const ofAgents = full("agentId", 1);
    const ofAccounts = await listAgentsOf(this.#deps.db, full("accountId", 3));
    return { runsMax, fullAgents: [...ofAgents, ...ofAccounts] };
  }

  /** Places for further runs: runs that are only to be stored hold none. */
  #free(): number {
    return inHandMax - (this.#inHand.size - this.#evaluated.size);
  }

  #setClaiming(claiming: boolean): void {
    this.#claiming = claiming;
    if (!claiming) this.#results.hurry();
  }

  /** Resolves to the ms after which to claim again. */
  async #claim(): Promise<number> {
    const { runsMax, fullAgents } = await this.#room();
    if (runsMax <= 0) {
      this.#setClaiming(false);
      this.#deps.onBacklog?.();
      return idleMaxMsDefault;
    }
    const { db, events, leaseMs, admission } = this.#deps;
    const inHand = [...this.#inHand.keys()];
    const resumedMax = admission.free;
    const skipped = { inHand, fullAgents, starts: this.#starts };
    const places = { runsMax, resumedMax, turns: this.#turns, ...skipped };
    const { runs, ended } = await claimRuns(db, { lease: this.#lease, leaseMs, ...places });
    for (const run of ended) this.#publishError(run);
    this.#setClaiming(runs.length > 0);
    if (runs.length === runsMax) this.#deps.onBacklog?.();
    if (runs.length === 0) return this.#idleMs();
    const runIds = runs.map(({ id }) => id);
    this.#deps.held?.claim(this.#lease, runIds);
    for (const run of runs) {
      this.#inHand.set(run.id, run);
      // Viewers of a run that waited see that it continues.
      if (run.detail) publishRunning(events, run);
    }
    const evaluated = this.#evaluate(runs).catch(error => {
      logFault(this.#deps.log, error, "runs cannot be evaluated");
      return 1_000;
    });
    this.#evaluating.add(evaluated);
    void evaluated.finally(() => this.#evaluating.delete(evaluated));
    // What crashed a worker is opened with nothing that was claimed after it.
    if (runs.some(({ attempts }) => attempts > 1)) return evaluated;
    return Promise.race([evaluated, delay(claimHoldMs, 0, { ref: false })]);
  }

  /**
   * Resolves once the runs without questions have begun; runs that ask the judge end in their own time. To the ms after
   * which to claim again.
   */
  async #evaluate(runs: ClaimedRun[]): Promise<number> {
    const unstarted = new Set(runs);
    const ends: RunEnds = {
      opening: run => this.#deps.held?.begin(run.id),
      started: (run, release) => {
        unstarted.delete(run);
        this.#releases.set(run.id, release);
      },
      evaluated: one => {
        this.#results.store(one);
        this.#evaluated.add(one.run.id);
        // Its results refer to nothing of its trace any more.
        this.#release(one.run);
      },
      partial: run => this.#results.storePartial(run),
      waiting: run => this.#results.storePartial(run),
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
        return 0;
      }
      logFault(this.#deps.log, error, "runs cannot be loaded");
      await this.#giveBack(left);
      return 1_000;
    }
    return 0;
  }

  async #giveBack(runs: ClaimedRun[]): Promise<void> {
    if (runs.length === 0) return;
    for (const run of runs) this.#letGo(run);
    await giveBackRuns(this.#deps.db, { lease: this.#lease, runIds: runs.map(run => run.id) });
  }

  #letGo({ id }: ClaimedRun): void {
    this.#inHand.delete(id);
    this.#deps.held?.end(id);
    this.#evaluated.delete(id);
    this.#release({ id });
  }

  #release({ id }: Pick<ClaimedRun, "id">): void {
    this.#releases.get(id)?.();
    this.#releases.delete(id);
  }

  async #fail(run: ClaimedRun, error: unknown): Promise<void> {
    const { db, log } = this.#deps;
    const isFault = !(error instanceof Refusal);
    if (isFault)
      log.error({ err: error, runId: run.id, traceId: run.traceId }, "a run could not be evaluated");
    try {
      const reason = runErrorReason(error);
      if (await failRun(db, { lease: this.#lease, runId: run.id, error: reason })) this.#publishError(run);
    } catch (failure) {
      logFault(this.#deps.log, failure, "a run cannot be marked as an error");
    }
    this.#letGo(run);
  }

  #publishError({ id: runId, agentId, traceId }: ClaimedRun): void {
    this.#deps.events.publish({ type: "run", agentId, traceId, runId, state: "error", verdict: null });
    this.#deps.onEnd?.("error", null);
  }

  /** Whether it has room for further runs, and its last claim found none. */
  get isIdle(): boolean {
    return !this.#claiming && this.#evaluated.size === 0 && this.#free() > 0;
  }

  async #idleMs(): Promise<number> {
    const { db, admission } = this.#deps;
    const inHand = [...this.#inHand.keys()];
    const { fullAgents } = await this.#room();
    const skipped = { inHand, fullAgents, starts: this.#starts };
    const places = { ...skipped, resumes: admission.free > 0 };
    const dueMs = await nextDueMs(db, places);
    return Math.max(1, Math.min(dueMs ?? this.#idleMaxMs, this.#idleMaxMs));
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
