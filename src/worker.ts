// Claims due runs under a lease, has them judged, keeps what came of it; puts away what waits, gives back what it cannot finish.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { Claiming, logFault } from "./claiming.ts";
import { TraceRoom } from "./load/trace-room.ts";
import { refreshStale } from "./load.ts";
import { Refusal } from "./model/refusal.ts";
import { runErrorReason } from "./model/run/reason.ts";
import type { RunState } from "./model/run/run.ts";
import { columnsOf } from "./model/trace/columns.ts";
import { systemClock } from "./remote/clock.ts";
import { type Asking, boundAsking } from "./run/admission.ts";
import { type JudgedRun, judgeRuns, type PartlyJudgedRun, type RunDeps, type RunEnds } from "./run.ts";
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
import { keepPartly } from "./store/runs/waiting.ts";
import { updateColumns } from "./store/traces/read.ts";

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
const inHandMax = 128;
// Of those in hand, so many may be asking the judge: a whole claim of others always finds room beside them.
const askingMax = inHandMax - claimMax;
const idleMaxMs = 500;
// A row that lags behind its spans is brought up to date once nothing came for this long.
const staleQuietMs = 10_000;
const staleMax = 20;

export class RunWorker {
  readonly #deps: WorkerDeps & { room: TraceRoom };
  readonly #lease = randomUUID();
  readonly #inHand = new Map<string, ClaimedRun>();
  /** What gives back the heap of a run's trace, by the ids of those that have begun. */
  readonly #releases = new Map<string, () => void>();
  readonly #stopping = new AbortController();
  readonly #abort = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #asking: Asking;
  readonly #judged: JudgedRun[] = [];
  readonly #partly: PartlyJudgedRun[] = [];
  #keeping: Promise<void> | undefined;
  readonly #claiming: Claiming;

  constructor(deps: WorkerDeps) {
    this.#asking = boundAsking(deps.judgeOf, askingMax, deps.clock ?? systemClock);
    this.#deps = { ...deps, judgeOf: this.#asking.judgeOf, room: deps.room ?? new TraceRoom() };
    this.#heartbeat = setInterval(() => void this.#extend(), deps.leaseMs / 3);
    this.#claiming = new Claiming({
      claim: () => this.#claim(),
      onFault: error => logFault(this.#deps.log, error, "runs cannot be claimed"),
    });
  }

  /** Something may be due now. */
  wake(): void {
    this.#claiming.wake();
  }

  /** Takes no further run, finishes within `graceMs` what is in hand, and gives back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await this.#claiming.stop();
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    while (this.#inHand.size > 0 && !this.#abort.signal.aborted) await delay(20);
    clearTimeout(timer);
    clearInterval(this.#heartbeat);
    const runIds = [...this.#inHand.keys()];
    if (runIds.length > 0) await giveBackRuns(this.#deps.db, { lease: this.#lease, runIds }).catch(() => {});
  }

  /** Resolves to the ms after which to look again. */
  async #claim(): Promise<number> {
    const runsMax = Math.min(claimMax, inHandMax - this.#inHand.size);
    if (runsMax === 0) return idleMaxMs;
    const { db, leaseMs } = this.#deps;
    const inHand = [...this.#inHand.keys()];
    const resumedMax = this.#asking.free();
    const { runs, ended } = await claimRuns(db, { lease: this.#lease, leaseMs, runsMax, resumedMax, inHand });
    for (const run of ended) this.#tellError(run);
    if (runs.length === 0) return this.#idleMs();
    for (const run of runs) {
      this.#inHand.set(run.id, run);
      // Whoever looks at one that waited sees that it goes on.
      if (run.detail) this.#tellRunning(run);
    }
    await this.#judge(runs);
    return 0;
  }

  /** Resolves once the runs without questions are judged; those that wait for the judge end in their own time. */
  async #judge(runs: ClaimedRun[]): Promise<void> {
    const unbegun = new Set(runs);
    const ends: RunEnds = {
      begun: (run, release) => {
        unbegun.delete(run);
        this.#releases.set(run.id, release);
      },
      judged: run => this.#keep(this.#judged, run),
      partly: run => this.#keep(this.#partly, run),
      waits: run => this.#keep(this.#partly, run),
      faulty: (run, error) => {
        unbegun.delete(run);
        void this.#fail(run, error);
      },
      gone: run => {
        unbegun.delete(run);
        this.#letGo(run);
      },
    };
    try {
      await judgeRuns(this.#deps, runs, this.#abort.signal, ends, this.#stopping.signal);
      if (this.#stopping.signal.aborted) await this.#giveBack([...unbegun]);
    } catch (error) {
      const left = [...unbegun];
      if (!isTransient(error)) {
        // One that cannot be loaded must not hold up those that were claimed with it.
        if (runs.length === 1) for (const run of left) await this.#fail(run, error);
        else for (const run of left) await this.#judge([run]);
        return;
      }
      logFault(this.#deps.log, error, "runs cannot be loaded");
      await this.#giveBack(left);
      await this.#claiming.pause(1_000);
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

  /** Runs that are judged while others are being kept are kept together next. */
  #keep<R>(queue: R[], run: R): void {
    queue.push(run);
    this.#keeping ??= this.#keepAll();
  }

  async #keepAll(): Promise<void> {
    // What is judged in this turn of the event loop is kept together.
    await new Promise(resolve => setImmediate(resolve));
    while (this.#partly.length + this.#judged.length > 0) {
      // In this order: what is known of a run in part never comes after its results.
      await this.#keepSome(
        this.#partly,
        partly => this.#storePartly(partly),
        ({ wait }) => wait !== undefined,
      );
      await this.#keepSome(
        this.#judged,
        judged => this.#store(judged),
        () => true,
      );
    }
    this.#keeping = undefined;
  }

  async #keepSome<R extends { run: ClaimedRun }>(
    queue: R[],
    store: (runs: R[]) => Promise<void>,
    isOver: (run: R) => boolean,
  ): Promise<void> {
    const runs = queue.splice(0, 2 * claimMax);
    if (runs.length === 0) return;
    try {
      await store(runs);
    } catch (error) {
      logFault(this.#deps.log, error, "results cannot be kept");
      if (isTransient(error) && !this.#abort.signal.aborted) {
        queue.unshift(...runs);
        await delay(500);
        return;
      }
      // The leases run out, and whoever is there then judges these again.
    }
    for (const one of runs) if (isOver(one)) this.#letGo(one.run);
    this.wake();
  }

  async #storePartly(partly: PartlyJudgedRun[]): Promise<void> {
    // The latest that is known of each.
    const latest = [...new Map(partly.map(one => [one.run.id, one])).values()];
    const kept = await keepPartly(
      this.#deps.db,
      this.#lease,
      latest.map(({ run, ...known }) => ({ id: run.id, ...known })),
    );
    for (const { run } of latest) if (kept.has(run.id)) this.#tellRunning(run);
  }

  async #store(judged: JudgedRun[]): Promise<void> {
    const { db, events } = this.#deps;
    const kept = await completeRuns(
      db,
      this.#lease,
      judged.map(({ run, loaded, verdict, outage, plan }) => ({
        id: run.id,
        revision: loaded.revision,
        verdict,
        outage,
        plan,
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
    const isFault = !(error instanceof Refusal);
    if (isFault) log.error({ err: error, runId: run.id, traceId: run.traceId }, "a run could not be judged");
    try {
      await failRun(db, { lease: this.#lease, runId: run.id, error: runErrorReason(error) });
      this.#tellError(run);
    } catch (failure) {
      logFault(this.#deps.log, failure, "a run cannot be marked as an error");
    }
    this.#letGo(run);
  }

  #tellRunning({ id: runId, agentId, traceId }: ClaimedRun): void {
    this.#deps.events.publish({ type: "run", agentId, traceId, runId, state: "running", verdict: null });
  }

  #tellError({ id: runId, agentId, traceId }: ClaimedRun): void {
    this.#deps.events.publish({ type: "run", agentId, traceId, runId, state: "error", verdict: null });
    this.#deps.onEnd?.("error", null);
  }

  /** Uses the quiet to bring rows up to date. */
  async #idleMs(): Promise<number> {
    const { db, room } = this.#deps;
    const { signal } = this.#stopping;
    const refreshed = await refreshStale(db, { quietMs: staleQuietMs, limit: staleMax, room, signal });
    if (refreshed === staleMax) return 0;
    const inHand = [...this.#inHand.keys()];
    const dueMs = await nextDueMs(db, { inHand, resumes: this.#asking.free() > 0 });
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
