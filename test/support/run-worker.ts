// A worker with its own connections to a test's database, and a judge made by the test.
import pino from "pino";
import type { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import type { RunEvent } from "../../src/model/event.ts";
import type { Judge, JudgeOf } from "../../src/model/judge/judge.ts";
import type { Clock } from "../../src/remote/clock.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import type { Database } from "../../src/store/db.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { RunWorker } from "../../src/worker.ts";
import { openFresh } from "./postgres.ts";

export type WorkerOptions = {
  judge: Judge | JudgeOf;
  leaseMs?: number;
  judgeDeadlineMs?: number;
  heap?: HeapSemaphore;
  clock?: Clock;
  sandbox?: Pick<Sandbox, "answer">;
  idleMaxMs?: number;
  onBacklog?: () => void;
};

export type TestWorker = {
  db: Database;
  /** The verdicts of the runs that ended here, or their states. */
  ended: string[];
  /** The run events it published. */
  told: RunEvent[];
  /** Gives back its runs, unless they end within `graceMs`. Safe to call again. */
  stop(graceMs?: number): Promise<void>;
};

export function startRunWorker(
  url: string,
  { judge, leaseMs = 30_000, judgeDeadlineMs = 900_000, heap, clock, sandbox: given, ...idle }: WorkerOptions,
): TestWorker {
  const db = openFresh(url, 4);
  const sandbox = new Sandbox({ budgetMs: 5_000 });
  const ended: string[] = [];
  const told: RunEvent[] = [];
  const events = new EventPublisher(db);
  const publish = events.publish.bind(events);
  events.publish = event => {
    if (event.type === "run") told.push(event);
    publish(event);
  };
  const worker = new RunWorker({
    db,
    events,
    sandbox: given ?? sandbox,
    judgeOf: typeof judge === "function" ? judge : () => judge,
    leaseMs,
    judgeDeadlineMs,
    ...idle,
    ...(clock && { clock }),
    ...(heap && { heap }),
    log: pino({ level: "silent" }),
    onEnd: (state, verdict) => void ended.push(verdict ?? state),
  });
  let stopping: Promise<void> | undefined;
  const stop = async (graceMs: number) => {
    await worker.stop(graceMs);
    await events.close();
    await sandbox.close();
    await db.close();
  };
  return {
    db,
    ended,
    told,
    stop(graceMs = 0) {
      stopping ??= stop(graceMs);
      return stopping;
    },
  };
}
