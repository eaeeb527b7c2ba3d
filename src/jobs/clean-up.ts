// Deletes what is kept for a while only: counts of ingestion, alerts that are over, judge's answers, expected traces, dry runs.
import { deleteOldDeliveries } from "../store/alerts/deliveries.ts";
import type { Database } from "../store/db.ts";
import { deleteOldDryRuns } from "../store/erasures/progress.ts";
import { deleteOldIngestion } from "../store/ingestion/minutes.ts";
import { deleteOldJudgeAnswers } from "../store/judge/answers.ts";
import { dropExpected } from "../store/runs/turns.ts";
import type { Job } from "./job.ts";

export function cleanUp(db: Database): Job {
  return {
    name: "clean-up",
    fault: "what is over cannot be deleted",
    everyMs: 60_000,
    alone: true,
    async step() {
      await deleteOldDryRuns(db);
      await deleteOldIngestion(db);
      await deleteOldDeliveries(db);
      await deleteOldJudgeAnswers(db);
      await dropExpected(db);
      return false;
    },
  };
}
