// Claims manual runs under a lease, conducts a few of them at once, puts away those that wait for the judge, and ends each exactly once.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "./claiming.ts";
import type { Caller, RunBounds } from "./launcher/caller.ts";
import { type ConductDeps, conduct, type Held, patiently } from "./launcher/conduct.ts";
import { Patience } from "./launcher/deadline.ts";
import { Refusal } from "./model/refusal.ts";
import { type Reason, runErrorReason } from "./model/run/reason.ts";
import type { RunState } from "./model/run/run.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import type { EventPublisher } from "./store/events.ts";
import {
  claimManualRuns,
  claimWaitingManualRuns,
  listWaitingAgents,
  type ManualRun,
  releaseAbandoned,
  tendManualRuns,
} from "./store/runs/manual-claims.ts";
import {
  completeManualRun,
  endManualRun,
  giveBackManualRun,
  type JudgedManualRun,
  type ManualWait,
  putAwayManualRun,
} from "./store/runs/manual-runs.ts";
import { dropExpected } from "./store/runs/turns.ts";

export type LauncherDeps = Omit<ConductDeps, "onTurn" | "onTurnsOver" | "call" | "patience"> &
  Caller & {
    /** How long a launch waits for the judge while it does not answer. */
    judgeDeadlineMs: number;
    events: EventPublisher;
    log: Logger;
    leaseMs: number;
    /** Told of every run that ended. */
    onEnd?: (state: RunState, verdict: string | null) => void;
  };

// At once: nearly all of the time such a run waits for its agent.
const callingMax = 20;
// With those that are being judged: an agent whose judge is slow keeps no place from others.
const inHandMax = 100;
const idleMs = 1_000;
// How soon a cancelled run stops.
const tendMs = 1_000;
const sweepMs = 3_600_000;

type InHand = {
  run: ManualRun;
  /** Undefined of one that was put away: it calls its agent no more. */
  bounds: RunBounds | Refusal | undefined;
  abort: AbortController;
  turnsOver: boolean;
};

export class Launcher {
  readonly #deps: LauncherDeps;
  readonly #clock: Clock;
  readonly #patience: Patience;
  readonly #lease = randomUUID();
  readonly #inHand = new Map<string, InHand>();
  readonly #timers: NodeJS.Timeout[];
  readonly #claimLoop: ClaimLoop;
  /** Before this a lease that ran out says nothing: while the database was away nobody could prolong one. */
  #leasesCountAt = 0;
  #tending: Promise<void> | undefined;

  constructor(deps: LauncherDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#patience = new Patience(deps.judgeDeadlineMs, this.#clock);
    const tend = () => {
      this.#tending ??= this.#tend().finally(() => {
        this.#tending = undefined;
      });
    };
    const sweep = () => void dropExpected(deps.db).catch(() => {});
    this.#timers = [setInterval(tend, Math.min(tendMs, deps.leaseMs / 3)), setInterval(sweep, sweepMs)];
    this.#claimLoop = new ClaimLoop({
      claim: () => this.#claim(),
      onFault: error => {
        this.#leasesCountAt = this.#clock.now() + deps.leaseMs;
        logFault(deps.log, error, "manual runs cannot be claimed");
      },
    });
  }

  /** Something may wait to be run. */
  wake(): void {
    this.#claimLoop.wake();
  }

  /**
   * Takes no further run, lets those in hand finish within `graceMs`, gives back what has sent nothing or whose turns
   * are over, and ends the rest.
   */
  async stop(graceMs: number): Promise<void> {
    await this.#claimLoop.stop();
    const timer = setTimeout(() => {
      for (const { abort } of this.#inHand.values()) abort.abort();
    }, graceMs);
    while (this.#inHand.size > 0) await delay(20);
    clearTimeout(timer);
    for (const interval of this.#timers) clearInterval(interval);
    await this.#tending;
  }

  async #release(): Promise<void> {
    if (this.#clock.now() < this.#leasesCountAt) return;
    for (const ended of await releaseAbandoned(this.#deps.db, [...this.#inHand.keys()])) {
      this.#tellEnd(ended, ended.state);
    }
  }

  /** Resolves to the ms after which to look again. */
  async #claim(): Promise<number> {
    const { db, leaseMs } = this.#deps;
    await this.#release();
    const waitedMax = inHandMax - this.#inHand.size;
    const waited = await claimWaitingManualRuns(db, { lease: this.#lease, leaseMs, runsMax: waitedMax });
    for (const run of waited) this.#take(run, undefined);
    const calling = [...this.#inHand.values()].filter(({ turnsOver }) => !turnsOver).length;
    const runsMax = Math.min(callingMax - calling, inHandMax - this.#inHand.size);
    const agentIds = runsMax > 0 ? await listWaitingAgents(db) : [];
    if (agentIds.length === 0) return waited.length > 0 ? 0 : idleMs;
    const bounds = new Map<string, RunBounds | Refusal>();
    for (const id of agentIds) bounds.set(id, await this.#boundsOf(id));
    // One that cannot be called is claimed too, to be told so.
    const concurrency = new Map(
      [...bounds].map(([id, found]) => [id, found instanceof Refusal ? 1 : found.concurrency]),
    );
    const runs = await claimManualRuns(db, { lease: this.#lease, leaseMs, runsMax, concurrency });
    for (const run of runs) this.#take(run, bounds.get(run.agentId)!);
    return runs.length + waited.length > 0 ? 0 : idleMs;
  }

  #take(run: ManualRun, bounds: InHand["bounds"]): void {
    this.#tell(run);
    const held = { run, bounds, abort: new AbortController(), turnsOver: bounds === undefined };
    this.#inHand.set(run.id, held);
    void this.#conduct(held);
  }

  async #boundsOf(agentId: string): Promise<RunBounds | Refusal> {
    try {
      return await this.#deps.boundsOf(agentId);
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  async #conduct(inHand: InHand): Promise<void> {
    const { run, bounds } = inHand;
    const { signal } = inHand.abort;
    try {
      if (bounds instanceof Refusal) throw bounds;
      const held = { lease: this.#lease, run, waitMs: bounds?.waitMs ?? 0 };
      const onTurnsOver = () => {
        inHand.turnsOver = true;
        this.wake();
      };
      const deps = { ...this.#deps, patience: this.#patience, onTurn: () => this.#tell(run), onTurnsOver };
      const conducted = await conduct(deps, held, signal);
      if (!conducted) await this.#giveUp(run);
      else if ("wait" in conducted) await this.#putAway(held, conducted.wait, signal);
      else await this.#complete(held, conducted.judged, signal);
    } catch (error) {
      await this.#fail(run, error);
    } finally {
      // One that was put away may have been taken up again already.
      if (this.#inHand.get(run.id) === inHand) this.#inHand.delete(run.id);
      this.wake();
    }
  }

  async #complete(held: Held, judged: JudgedManualRun, signal: AbortSignal): Promise<void> {
    const { db, events } = this.#deps;
    if (!(await patiently(signal, () => completeManualRun(db, held, judged)))) return;
    const { id: runId, agentId } = held.run;
    const {
      traceId,
      verdict: { verdict },
    } = judged;
    events.publish({ type: "run", agentId, traceId, runId, state: "completed", verdict });
    this.#tellEnd(held.run, "completed", verdict);
  }

  async #putAway(held: Held, wait: ManualWait, signal: AbortSignal): Promise<void> {
    if (await patiently(signal, () => putAwayManualRun(this.#deps.db, held, wait))) this.#tell(held.run);
    else await this.#giveUp(held.run);
  }

  /** Of a run that is to stop. */
  async #giveUp(run: ManualRun): Promise<void> {
    if (await giveBackManualRun(this.#deps.db, { lease: this.#lease, run })) this.#tell(run);
    else await this.#end(run, { code: "worker_stopped" });
  }

  /** What keeps a run from being finished that is not there any more, such as a deleted agent's, is no fault. */
  async #fail(run: ManualRun, error: unknown): Promise<void> {
    const isFault = !(error instanceof Refusal);
    const ended = await this.#end(run, runErrorReason(error)).catch(failure => failure as Error);
    const { log } = this.#deps;
    if (isFault && ended) logFault(log, error, "a manual run could not be finished", { runId: run.id });
    if (ended instanceof Error) logFault(log, ended, "a manual run cannot be ended", { runId: run.id });
  }

  /** Whether it was this worker's still. */
  async #end(run: ManualRun, error: Reason): Promise<boolean> {
    const ended = await endManualRun(this.#deps.db, { lease: this.#lease, run }, error);
    if (ended) this.#tellEnd(run, ended.state);
    return ended !== undefined;
  }

  /** Prolongs the leases, and has those stop that were cancelled or are no longer this worker's. */
  async #tend(): Promise<void> {
    const runIds = [...this.#inHand.keys()];
    if (runIds.length === 0) return;
    const { db, log, leaseMs } = this.#deps;
    try {
      for (const id of await tendManualRuns(db, { lease: this.#lease, leaseMs, runIds })) {
        this.#inHand.get(id)?.abort.abort();
      }
    } catch (error) {
      logFault(log, error, "leases of manual runs cannot be extended");
    }
  }

  #tell({ id: runId, agentId, launchId }: Pick<ManualRun, "id" | "agentId" | "launchId">): void {
    this.#deps.events.publish({ type: "launch", agentId, launchId, runId });
  }

  #tellEnd(
    run: Pick<ManualRun, "id" | "agentId" | "launchId">,
    state: RunState,
    verdict: string | null = null,
  ): void {
    this.#tell(run);
    this.#deps.onEnd?.(state, verdict);
  }
}
