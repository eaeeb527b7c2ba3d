// The background jobs of a machine: alerts, erasing, forgetting, retention, ranges of batches, late log records, and what is
// kept for a while only.
import { type AlertDeps, alerts } from "./jobs/alerts.ts";
import { cleanUp } from "./jobs/clean-up.ts";
import type { ErasureWork } from "./jobs/erase/steps.ts";
import { erase } from "./jobs/erase.ts";
import { type ForgetDeps, forget } from "./jobs/forget.ts";
import { type JobDeps, startJob } from "./jobs/job.ts";
import { type RangesDeps, ranges } from "./jobs/ranges.ts";
import { type RecordsDeps, records } from "./jobs/records.ts";
import { type RetainDeps, retain } from "./jobs/retain.ts";

/** What reads and rewrites traces, on a thread. */
export type JobWork = ErasureWork & Pick<ForgetDeps, "forget">;

export type JobsDeps = JobDeps &
  Omit<AlertDeps, keyof JobDeps> &
  Omit<RangesDeps, keyof JobDeps> &
  Omit<RecordsDeps, keyof JobDeps> &
  Omit<RetainDeps, keyof JobDeps> &
  Pick<ForgetDeps, "onForgotten"> & { work: JobWork };

/** What looks for new work at once when it is called. */
export type JobWakes = { alerts(): void; erase(): void; retain(): void };

export function startJobs(deps: JobsDeps): JobWakes & { stop(): Promise<unknown> } {
  const jobs = {
    alerts: startJob(alerts(deps), deps),
    erase: startJob(erase(deps), deps),
    retain: startJob(retain(deps), deps),
    forget: startJob(forget({ ...deps, forget: deps.work.forget }), deps),
    ranges: startJob(ranges(deps), deps),
    records: startJob(records(deps), deps),
    cleanUp: startJob(cleanUp(deps.db), deps),
  };
  return {
    alerts: jobs.alerts.wake,
    erase: jobs.erase.wake,
    retain: jobs.retain.wake,
    stop: () => Promise.all(Object.values(jobs).map(job => job.stop())),
  };
}
