// Stores the results of evaluated runs, many in one statement, and runs that wait for the judge as they are; then publishes
// them.

import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { logFault } from "../claiming.ts";
import { derivationOf } from "../load.ts";
import type { RunState } from "../model/run/run.ts";
import { usageOf } from "../reading/derived/usage.ts";
import type { EvaluatedRun, PartialRun } from "../run.ts";
import { type Database, isTransient } from "../store/db.ts";
import type { EventPublisher } from "../store/events.ts";
import type { ClaimedRun } from "../store/runs/claim.ts";
import { completeRuns } from "../store/runs/complete.ts";
import { type EncodedRun, encodeRun } from "../store/runs/completed-run.ts";
import { savePartial } from "../store/runs/waiting.ts";
import { type Derivation, updateColumns } from "../store/traces/stale.ts";

export type ResultWriterDeps = {
  db: Database;
  events: EventPublisher;
  log: Logger;
  lease: string;
  /** Runs in one statement. */
  batchMax: number;
  /** Whether further runs are about to end. */
  coming(): boolean;
  /** How long results wait for them. */
  gatherMs?: number;
  /** Aborted once results that cannot be stored are no longer retried. */
  stopped: AbortSignal;
  /** Called for every run that this worker is done with. */
  letGo(run: ClaimedRun): void;
  /** Called for a run whose results cannot be stored, whatever is stored beside them. */
  fail(run: ClaimedRun, error: unknown): Promise<void>;
  /** Called after each batch, when there is room for further runs. */
  wake(): void;
  onEnd?: (state: RunState, verdict: string | null) => void;
};

// A statement has a price of its own, which a run of 20 tests shares with others: results wait for those of the next claim,
// and not longer than this.
const gatherMsDefault = 25;

export class ResultWriter {
  readonly #deps: ResultWriterDeps;
  readonly #evaluated: EvaluatedRow[] = [];
  readonly #partial: PartialRun[] = [];
  #storing: Promise<void> | undefined;
  #endGathering = () => {};

  constructor(deps: ResultWriterDeps) {
    this.#deps = deps;
  }

  /** Keeps nothing of the trace. */
  store(run: EvaluatedRun): void {
    this.#enqueue(this.#evaluated, rowOf(run));
  }

  storePartial(run: PartialRun): void {
    this.#enqueue(this.#partial, run);
  }

  /** Call it once `coming` is false: what has ended is stored at once. */
  hurry(): void {
    this.#endGathering();
  }

  /** Runs that end while others are being stored are stored together next. */
  #enqueue<R>(queue: R[], run: R): void {
    queue.push(run);
    if (!this.#mayGather()) this.#endGathering();
    this.#storing ??= this.#storeAll();
  }

  async #storeAll(): Promise<void> {
    // Runs that end in this turn of the event loop are stored together.
    await new Promise(resolve => setImmediate(resolve));
    while (this.#partial.length + this.#evaluated.length > 0) {
      await this.#gather();
      // In this order: the partial verdict of a run never replaces its results.
      await this.#storeSome(
        this.#partial,
        partial => this.#savePartial(partial),
        ({ wait }) => wait !== undefined,
      );
      await this.#storeSome(
        this.#evaluated,
        evaluated => this.#complete(evaluated),
        () => true,
      );
    }
    this.#storing = undefined;
  }

  async #gather(): Promise<void> {
    if (!this.#mayGather()) return;
    const { gatherMs = gatherMsDefault } = this.#deps;
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, gatherMs);
      this.#endGathering = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endGathering = () => {};
  }

  /** Partial verdicts are shown to who waits for the judge, and wait for nothing. */
  #mayGather(): boolean {
    const { batchMax, coming } = this.#deps;
    return this.#partial.length === 0 && this.#evaluated.length < batchMax && coming();
  }

  async #storeSome<R extends { run: ClaimedRun }>(
    queue: R[],
    store: (runs: R[]) => Promise<void>,
    isOver: (run: R) => boolean,
  ): Promise<void> {
    const { batchMax, letGo, wake } = this.#deps;
    const runs = queue.splice(0, batchMax);
    if (runs.length === 0) return;
    for (const one of await this.#storeEach(runs, queue, store, isOver)) if (isOver(one)) letGo(one.run);
    wake();
  }

  /** Stores all, or each separately, so that none fails because of another. Returns the stored and the given up ones. */
  async #storeEach<R extends { run: ClaimedRun }>(
    runs: R[],
    queue: R[],
    store: (runs: R[]) => Promise<void>,
    isOver: (run: R) => boolean,
  ): Promise<R[]> {
    const { log, stopped, fail } = this.#deps;
    try {
      await store(runs);
      return runs;
    } catch (error) {
      if (isTransient(error)) {
        logFault(log, error, "results cannot be stored");
        // Once it has stopped, their leases expire, and another worker evaluates them again.
        if (stopped.aborted) return runs;
        queue.unshift(...runs);
        await delay(500);
        return [];
      }
      if (runs.length > 1) {
        const done: R[] = [];
        for (const one of runs) done.push(...(await this.#storeEach([one], queue, store, isOver)));
        return done;
      }
      const [one] = runs as [R];
      if (isOver(one)) await fail(one.run, error);
      else logFault(log, error, "a partial verdict cannot be stored");
      return runs;
    }
  }

  async #savePartial(partial: PartialRun[]): Promise<void> {
    const { db, events, lease } = this.#deps;
    const latest = [...new Map(partial.map(one => [one.run.id, one])).values()];
    const kept = await savePartial(
      db,
      lease,
      latest.map(({ run, ...known }) => ({ id: run.id, ...known })),
    );
    for (const { run } of latest) if (kept.has(run.id)) publishRunning(events, run);
  }

  async #complete(evaluated: EvaluatedRow[]): Promise<void> {
    const { db, events, lease, onEnd } = this.#deps;
    const kept = await completeRuns(
      db,
      lease,
      evaluated.map(({ completed }) => completed),
    );
    await updateStale(db, evaluated);
    for (const { run, completed } of evaluated) {
      if (!kept.has(run.id)) {
        // It may be gone, because its revision was evaluated before.
        events.publish({ type: "refresh", agentId: run.agentId });
        continue;
      }
      const { id: runId, agentId, traceId } = run;
      const { verdict } = completed.verdict;
      events.publish({ type: "run", agentId, traceId, runId, state: "completed", verdict });
      onEnd?.("completed", verdict);
    }
  }
}

/** `derivation`: of a trace row that lags behind its spans, which were loaded anyway. */
type EvaluatedRow = { run: ClaimedRun; completed: EncodedRun; derivation?: Derivation };

function rowOf({ run, loaded, verdict, outage, plan }: EvaluatedRun): EvaluatedRow {
  const { revision, derived } = loaded;
  const { durationMs, tokens, modelCalls } = derived;
  const counted = { durationMs, tokens, usage: usageOf(modelCalls) };
  const completed = encodeRun({ id: run.id, revision, verdict, outage, plan, ...counted });
  return { run, completed, ...(loaded.stale && { derivation: derivationOf(loaded) }) };
}

async function updateStale(db: Database, evaluated: EvaluatedRow[]): Promise<void> {
  const stale = evaluated.flatMap(({ derivation }) => derivation ?? []);
  if (stale.length > 0) await updateColumns(db, stale);
}

export function publishRunning(events: EventPublisher, { id: runId, agentId, traceId }: ClaimedRun): void {
  events.publish({ type: "run", agentId, traceId, runId, state: "running", verdict: null });
}
