// Runs backtests in the background: part by part on the editor's thread, storing each part, until done or cancelled.
import { setTimeout as delay } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type { Editor } from "../../editor.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Database } from "../../store/db.ts";
import { listUntried, storeTried } from "../../store/runs/backtest-results.ts";
import { type Backtest, endBacktest, extendBacktest } from "../../store/runs/backtests.ts";
import { Semaphore } from "../../threads/semaphore.ts";

type LoopDeps = { db: Database; log: FastifyBaseLogger; editor: Pick<Editor, "backtest"> };

/** What a backtest tries. */
export type BacktestJob = Pick<Backtest, "id" | "agentId" | "testId" | "test" | "judged">;

const partTraces = 20;
/** Parts of all backtests of the process at a time; further ones wait, so that dry runs find room. */
const partsMax = 2;
const beatMs = 1_000;

export class BacktestLoop {
  readonly #deps: LoopDeps;
  readonly #parts = new Semaphore(partsMax);
  readonly #running = new Map<string, { controller: AbortController; done: Promise<void> }>();
  #isStopping = false;

  constructor(deps: LoopDeps) {
    this.#deps = deps;
  }

  start(job: BacktestJob): void {
    const controller = new AbortController();
    const done = this.#run(job, controller)
      .catch(error => this.#deps.log.error({ err: error, backtestId: job.id }, "a backtest cannot be ended"))
      .finally(() => this.#running.delete(job.id));
    this.#running.set(job.id, { controller, done });
  }

  /** Aborts its judge calls, if it runs in this process; in another one, its next heartbeat does. */
  abort(id: string): void {
    this.#running.get(id)?.controller.abort();
  }

  /** Marks the backtests of this process as interrupted. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort();
    await Promise.all(running.map(({ done }) => done));
  }

  async #run(job: BacktestJob, controller: AbortController): Promise<void> {
    const { db, log } = this.#deps;
    const { signal } = controller;
    const heartbeat = this.#beat(job.id, controller);
    try {
      while (!signal.aborted && (await this.#runPart(job, signal)));
      // Does nothing to a backtest that was cancelled.
      await endBacktest(db, job.id, this.#isStopping ? "interrupted" : "completed");
    } catch (error) {
      if (!(error instanceof Refusal)) log.error({ err: error, backtestId: job.id }, "a backtest failed");
      const message = error instanceof Refusal ? error.message : "Internal error; see the service log.";
      if (this.#isStopping) await endBacktest(db, job.id, "interrupted");
      else await endBacktest(db, job.id, "error", message);
    } finally {
      controller.abort();
      await heartbeat;
    }
  }

  /** False once there is nothing left to try, or nobody waits for it. */
  async #runPart({ id, agentId, testId, test, judged }: BacktestJob, signal: AbortSignal): Promise<boolean> {
    const { db, editor } = this.#deps;
    const release = await this.#parts.acquire({ signal });
    if (!release) return false;
    try {
      const traceIds = await listUntried(db, id, partTraces);
      if (traceIds.length === 0) return false;
      const { items, usage } = await editor.backtest({ agentId, document: test, traceIds, judged }, signal);
      if (signal.aborted) return false;
      if (items.length === 0) throw new Error("No trace of the part was tried.");
      return await storeTried(db, { id, testId }, items, usage);
    } finally {
      release();
    }
  }

  /** Extends the lease, and aborts a backtest that was cancelled or deleted. */
  async #beat(id: string, controller: AbortController): Promise<void> {
    const { signal } = controller;
    while (!signal.aborted) {
      await delay(beatMs, undefined, { signal }).catch(() => {});
      // While the database is unavailable, the lease decides.
      const isRunning = signal.aborted || (await extendBacktest(this.#deps.db, id).catch(() => true));
      if (!isRunning) controller.abort();
    }
  }
}
