// The frame of background jobs: one process at a time, steps that are broken off, faults that are counted and tried again.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { type Job, startJob } from "../../src/jobs/job.ts";
import { openLog } from "../../src/log.ts";
import { openTwice } from "../store/traces/make-write.ts";

const { db, other, close } = await openTwice();
after(close);
const log = openLog("silent");

const jobOf = (step: Job["step"]): Job => ({
  ...{ name: `job-${randomUUID()}`, fault: "it cannot be done", everyMs: 10, alone: true, step },
});

const aborted = (signal: AbortSignal) =>
  new Promise<boolean>(resolve => signal.addEventListener("abort", () => resolve(false)));

test("a step is broken off once another process has taken the lease", async () => {
  const [begun, lost, taken] = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const job = jobOf(async signal => {
    begun!.resolve();
    await aborted(signal);
    lost!.resolve();
    return false;
  });
  const hanging = startJob(job, { db, log, leaseMs: 60 });
  await begun!.promise;
  await db.pool.query(
    "update leases set holder = $2, held_until = now() + interval '1 hour' where name = $1",
    [job.name, randomUUID()],
  );
  await lost!.promise;
  await db.pool.query("update leases set held_until = now() where name = $1", [job.name]);
  const step = async () => {
    taken!.resolve();
    return false;
  };
  const next = startJob({ ...job, step }, { db: other, log });
  await taken!.promise;
  await Promise.all([hanging.stop(), next.stop()]);
});

test("a step that fails is counted, and done again", async () => {
  const done = Promise.withResolvers<void>();
  const results: string[] = [];
  const job = jobOf(async () => {
    if (results.length === 0) throw new Error("Not yet");
    done.resolve();
    return false;
  });
  const running = startJob(job, { db, log, onStep: (_, result) => results.push(result) });
  running.wake();
  await done.promise;
  await running.stop();
  assert.deepEqual(results.slice(0, 2), ["fault", "done"]);
});

test("a job that stops breaks off its step, and leaves the lease to others", async () => {
  const [begun, taken] = [1, 2].map(() => Promise.withResolvers<void>());
  const job = jobOf(signal => {
    begun!.resolve();
    return aborted(signal);
  });
  const stopped = startJob(job, { db, log });
  await begun!.promise;
  await stopped.stop();
  const step = async () => {
    taken!.resolve();
    return false;
  };
  const next = startJob({ ...job, step }, { db: other, log });
  await taken!.promise;
  await next.stop();
});
