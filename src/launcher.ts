// Claims manual runs under a lease, executes some concurrently, parks those that wait for the judge, and ends each once.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { ClaimLoop, logFault, logFaultOfAgents } from "./claiming.ts";
import type { Caller, RunBounds } from "./launcher/caller.ts";
import { LaunchDeadlines } from "./launcher/deadlines.ts";
import { executeManualRun, type ManualRunDeps } from "./launcher/manual-run.ts";
import { retryTransient } from "./launcher/retry.ts";
import { Refusal } from "./model/refusal.ts";
import { type Reason, runErrorReason } from "./model/run/reason.ts";
import type { RunState } from "./model/run/run.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import type { EventPublisher } from "./store/events.ts";
import { attemptsMax, extendLeases } from "./store/runs/claims.ts";
import {
  claimAbandonedManualRuns,
  claimManualRuns,
  claimWaitingManualRuns,
  listWaitingAgents,
  type ManualRun,
} from "./store/runs/manual-claims.ts";
import {
  completeManualRun,
  endManualRun,
  giveBackManualRun,
  type JudgedManualRun,
  type LeasedRun,
  type ManualWait,
  parkManualRun,
} from "./store/runs/manual-runs.ts";

export type LauncherDeps = Omit<ManualRunDeps, "onTurn" | "onTurnsDone" | "call" | "deadlines"> &
  Caller & {
    /** How long a launch waits for an unavailable judge. */
    judgeDeadlineMs: number;
    events: EventPublisher;
    log: Logger;
    leaseMs: number;
    /** Called for every run that ended. */
    onEnd?: (state: RunState, verdict: string | null) => void;
  };

// Concurrent runs that call agents, which are nearly always waiting for the reply.
const callingMax = 20;
// Of one account: its agents that hang leave places to others.
const callingOfAccountMax = 10;
// Including runs that are being evaluated, so that a slow judge does not block the runs of other agents.
const inHandMax = 100;
const idleMs = 1_000;
// A cancelled run stops within this time.
const extendMs = 1_000;

type InHand = {
  run: ManualRun;
  /** Undefined for a run that waited for the judge: it no longer calls its agent. */
  bounds: RunBounds | Refusal | undefined;
  abort: AbortController;
  turnsDone: boolean;
};

export class Launcher {
  readonly #deps: LauncherDeps;
  readonly #clock: Clock;
  readonly #deadlines: LaunchDeadlines;
  readonly #lease = randomUUID();
  readonly #inHand = new Map<string, InHand>();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #claimLoop: ClaimLoop;
  /** Expired leases are ignored before this time: while the database was unavailable, no worker could extend one. */
  #leasesCountAt = 0;
  #extending: Promise<void> | undefined;

  constructor(deps: LauncherDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#deadlines = new LaunchDeadlines(deps.judgeDeadlineMs, this.#clock);
    const extend = () => {
      this.#extending ??= this.#extendLeases().finally(() => {
        this.#extending = undefined;
      });
    };
    this.#heartbeat = setInterval(extend, Math.min(extendMs, deps.leaseMs / 3));
    this.#claimLoop = new ClaimLoop({
      claim: () => this.#claim(),
      onFault: error => {
        this.#leasesCountAt = this.#clock.now() + deps.leaseMs;
        void logFaultOfAgents(deps, error, "manual runs cannot be claimed");
      },
    });
  }

  /** Call it when a run may be pending. */
  wake(): void {
    this.#claimLoop.wake();
  }

  /**
   * Claims no further run and lets the current ones finish within `graceMs`. Then gives back runs that have sent nothing
   * or whose turns are done, and ends the rest.
   */
  async stop(graceMs: number): Promise<void> {
    await this.#claimLoop.stop();
    const timer = setTimeout(() => {
      for (const { abort } of this.#inHand.values()) abort.abort();
    }, graceMs);
    while (this.#inHand.size > 0) await delay(20);
    clearTimeout(timer);
    clearInterval(this.#heartbeat);
    await this.#extending;
  }

  /**
   * Takes up runs whose workers died. One whose turns are done goes on with its evaluation. One that has sent something ends with
   * an error, because sending it again could repeat the agent's actions; any other is pending again. Those of cancelled launches
   * end, and so do those that crashed too many workers.
   */
  async #takeUpAbandoned(): Promise<void> {
    if (this.#clock.now() < this.#leasesCountAt) return;
    const { db, leaseMs } = this.#deps;
    const claim = { lease: this.#lease, leaseMs, inHand: [...this.#inHand.keys()] };
    for (const run of await claimAbandonedManualRuns(db, claim)) {
      const turnsDone = run.judgeLeftMs !== null;
      const code = turnsDone ? "worker_died" : "worker_died_before_sending";
      if (run.attempts > attemptsMax && (turnsDone || !run.sent))
        await this.#end(run, { code, data: { attempts: attemptsMax } });
      else if (turnsDone && !run.cancelled) this.#begin(run, undefined);
      else await this.#giveUp(run);
    }
  }

  /** Resolves to the ms after which to claim again. */
  async #claim(): Promise<number> {
    const { db, leaseMs } = this.#deps;
    await this.#takeUpAbandoned();
    const waitedMax = inHandMax - this.#inHand.size;
    const waited = await claimWaitingManualRuns(db, { lease: this.#lease, leaseMs, runsMax: waitedMax });
    for (const run of waited) this.#begin(run, undefined);
    const calling = [...this.#inHand.values()].filter(({ turnsDone }) => !turnsDone).length;
    const runsMax = Math.min(callingMax - calling, inHandMax - this.#inHand.size);
    const agentIds = runsMax > 0 ? await listWaitingAgents(db) : [];
    if (agentIds.length === 0) return waited.length > 0 ? 0 : idleMs;
    const bounds = new Map<string, RunBounds | Refusal>();
    for (const id of agentIds) bounds.set(id, await this.#boundsOf(id));
    // If an agent cannot be called, its runs are claimed too, so that they end with that error.
    const concurrency = new Map(
      [...bounds].map(([id, found]) => [id, found instanceof Refusal ? 1 : found.concurrency]),
    );
    const runs = await claimManualRuns(db, {
      ...{ lease: this.#lease, leaseMs, runsMax, concurrency },
      accountMax: callingOfAccountMax,
    });
    for (const run of runs) this.#begin(run, bounds.get(run.agentId)!);
    return runs.length + waited.length > 0 ? 0 : idleMs;
  }

  #begin(run: ManualRun, bounds: InHand["bounds"]): void {
    this.#publish(run);
    const inHand = { run, bounds, abort: new AbortController(), turnsDone: bounds === undefined };
    this.#inHand.set(run.id, inHand);
    void this.#execute(inHand);
  }

  async #boundsOf(agentId: string): Promise<RunBounds | Refusal> {
    try {
      return await this.#deps.boundsOf(agentId);
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  async #execute(inHand: InHand): Promise<void> {
    const { run, bounds } = inHand;
    const { signal } = inHand.abort;
    try {
      if (bounds instanceof Refusal) throw bounds;
      const leased = { lease: this.#lease, run, waitMs: bounds?.waitMs ?? 0 };
      const onTurnsDone = () => {
        inHand.turnsDone = true;
        this.wake();
      };
      const onTurn = () => this.#publish(run);
      const deps = { ...this.#deps, deadlines: this.#deadlines, onTurn, onTurnsDone };
      const executed = await executeManualRun(deps, leased, signal);
      if (!executed) await this.#giveUp(run);
      else if ("wait" in executed) await this.#park(leased, executed.wait, signal);
      else await this.#complete(leased, executed.judged, signal);
    } catch (error) {
      await this.#fail(run, error);
    } finally {
      // A parked run may already have been claimed again.
      if (this.#inHand.get(run.id) === inHand) this.#inHand.delete(run.id);
      this.wake();
    }
  }

  async #complete(leased: LeasedRun, judged: JudgedManualRun, signal: AbortSignal): Promise<void> {
    const { db, events } = this.#deps;
    if (!(await retryTransient(signal, () => completeManualRun(db, leased, judged)))) return;
    const { id: runId, agentId } = leased.run;
    const {
      traceId,
      verdict: { verdict },
    } = judged;
    events.publish({ type: "run", agentId, traceId, runId, state: "completed", verdict });
    this.#publishEnd(leased.run, "completed", verdict);
  }

  async #park(leased: LeasedRun, wait: ManualWait, signal: AbortSignal): Promise<void> {
    const parked = await retryTransient(signal, () => parkManualRun(this.#deps.db, leased, wait));
    if (parked) this.#publish(leased.run);
    else await this.#giveUp(leased.run);
  }

  /** Gives back a stopped run, or ends it if it has sent something. */
  async #giveUp(run: ManualRun): Promise<void> {
    if (await giveBackManualRun(this.#deps.db, { lease: this.#lease, run })) this.#publish(run);
    else await this.#end(run, { code: "worker_stopped" });
  }

  /** Errors of a run that no longer exists, such as a deleted agent's, are not logged. */
  async #fail(run: ManualRun, error: unknown): Promise<void> {
    const isFault = !(error instanceof Refusal);
    const ended = await this.#end(run, runErrorReason(error)).catch(failure => failure as Error);
    const { log } = this.#deps;
    if (isFault && ended) logFault(log, error, "a manual run could not be finished", { runId: run.id });
    if (ended instanceof Error) logFault(log, ended, "a manual run cannot be ended", { runId: run.id });
  }

  /** False if this worker no longer has the lease. */
  async #end(run: ManualRun, error: Reason): Promise<boolean> {
    const ended = await endManualRun(this.#deps.db, { lease: this.#lease, run }, error);
    if (ended) this.#publishEnd(run, ended.state);
    return ended !== undefined;
  }

  /** Extends the leases, and stops runs that were cancelled or that another worker took over. */
  async #extendLeases(): Promise<void> {
    const runIds = [...this.#inHand.keys()];
    if (runIds.length === 0) return;
    const { db, log, leaseMs } = this.#deps;
    try {
      for (const id of await extendLeases(db, { lease: this.#lease, leaseMs, runIds })) {
        this.#inHand.get(id)?.abort.abort();
      }
    } catch (error) {
      logFault(log, error, "leases of manual runs cannot be extended");
    }
  }

  #publish({ id: runId, agentId, launchId }: Pick<ManualRun, "id" | "agentId" | "launchId">): void {
    this.#deps.events.publish({ type: "launch", agentId, launchId, runId });
  }

  #publishEnd(
    run: Pick<ManualRun, "id" | "agentId" | "launchId">,
    state: RunState,
    verdict: string | null = null,
  ): void {
    this.#publish(run);
    this.#deps.onEnd?.(state, verdict);
  }
}
