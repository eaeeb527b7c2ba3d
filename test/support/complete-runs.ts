// Stores the results of runs from whole verdicts.
import type { Database } from "../../src/store/db.ts";
import { completeRuns as completeEncoded } from "../../src/store/runs/complete.ts";
import { type CompletedRun, encodeRun } from "../../src/store/runs/completed-run.ts";

export function completeRuns(db: Database, lease: string, runs: CompletedRun[]): Promise<Set<string>> {
  return completeEncoded(db, lease, runs.map(encodeRun));
}
