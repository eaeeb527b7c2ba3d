// The frame of all background jobs: runs a job's steps, rests between them, backs off after faults, shares work between
// processes by a lease, counts, and stops.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { ClaimLoop, logFault } from "../claiming.ts";
import { type Database, isTransient } from "../store/db.ts";
import { holdLease, releaseLease } from "../store/leases.ts";

export type Job = {
  /** In metrics, and of its lease. */
  name: string;
  /** What the log says when a step fails. */
  fault: string;
  /** How long to wait where a step found nothing more to do. */
  everyMs: number;
  /** Whether one process at a time does it, under a lease. */
  alone?: boolean;
  /** Whether messages of errors may quote what users stored: they are not logged. */
  quotes?: boolean;
  /** Whether it works without rests, such as where it only works while nothing else does. */
  restless?: boolean;
  /** Does a part of the work. Resolves to whether there is more, or to the ms until there is, unless `wake` is called before. */
  step(signal: AbortSignal, wake: () => void): Promise<boolean | number>;
  /** Resolves once what its steps began has ended. */
  end?(): Promise<unknown>;
};

export type JobDeps = {
  db: Database;
  log: Logger;
  /** Told of each step. */
  onStep?: (job: string, result: "done" | "fault", seconds: number) => void;
  leaseMs?: number;
};

export type RunningJob = {
  /** Call it when there is work. */
  wake(): void;
  /** Breaks off the step in hand, which is repeated later. */
  stop(): Promise<void>;
};

const leaseMsDefault = 30_000;
const faultPauseMs = 1_000;
const faultPauseMaxMs = 10_000;

export function startJob(job: Job, { db, log, onStep, leaseMs = leaseMsDefault }: JobDeps): RunningJob {
  const stopping = new AbortController();
  const lease = { name: job.name, holder: randomUUID() };
  const wake = () => loop.wake();
  let isHeld = false;
  let faults = 0;

  /** False: another process has it. */
  const hold = async () => {
    isHeld = await holdLease(db, lease, leaseMs);
    return isHeld;
  };
  const release = async () => {
    if (!isHeld) return;
    isHeld = false;
    await releaseLease(db, lease);
  };

  /** Under the lease, which is extended meanwhile; a step whose lease another process has taken is broken off. */
  async function stepAlone(): Promise<boolean | number> {
    if (!(await hold())) return false;
    const lost = new AbortController();
    const extend = () =>
      void hold().then(
        held => held || lost.abort(),
        () => {},
      );
    const heartbeat = setInterval(extend, leaseMs / 3);
    try {
      return await job.step(AbortSignal.any([stopping.signal, lost.signal]), wake);
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** Resolves to the ms until the next step. */
  async function turn(): Promise<number> {
    if (stopping.signal.aborted) return 0;
    const begun = performance.now();
    const seconds = () => (performance.now() - begun) / 1_000;
    try {
      const more = await (job.alone ? stepAlone() : job.step(stopping.signal, wake));
      faults = 0;
      onStep?.(job.name, "done", seconds());
      if (more !== true) await release();
      if (more === false) return job.everyMs;
      if (typeof more === "number") return more;
      // As long a rest as the work took: at most half of a core, and of a connection.
      return job.restless ? 0 : performance.now() - begun;
    } catch (error) {
      if (stopping.signal.aborted) return 0;
      onStep?.(job.name, "fault", seconds());
      logFault(log, job.quotes && !isTransient(error) ? unquoted(error) : error, job.fault);
      return Math.min(faultPauseMs * 2 ** faults++, faultPauseMaxMs);
    }
  }

  const loop = new ClaimLoop({ claim: turn, onFault: error => logFault(log, error, job.fault) });
  return {
    wake,
    async stop() {
      stopping.abort();
      await loop.stop();
      await job.end?.();
      // If the database is unavailable, the lease expires.
      await release().catch(() => {});
    },
  };
}

/** Where an error occurred, without its message, which may quote what users stored. */
export function unquoted(error: unknown): object {
  const { name, code, stack, message } = error as Error & { code?: unknown };
  const frames = `${stack ?? ""}\n${message ?? ""}`.split("\n").filter(line => /^\s+at /.test(line));
  return { type: name, ...(typeof code === "string" && { code }), stack: frames.join("\n") };
}
