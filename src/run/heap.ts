// What a run takes of a thread's heap beside its trace: many checks on a small trace take more than the trace.

import type { TestCase } from "../model/test-case/document.ts";
import type { ClaimedRun } from "../store/runs/claim.ts";

// What a check and its result take until the run's results are encoded, and how much more the partial results of a run that
// waited are once they are decompressed.
const checkBytes = 2_048;
const detailFactor = 32;

/** The heap that a run takes beside its trace. */
export function runBytes({ detail }: Pick<ClaimedRun, "detail">, tests: TestCase[]): number {
  const checks = tests.reduce((sum, { assertions }) => sum + assertions.length, 0);
  return Math.max(checks * checkBytes, (detail?.length ?? 0) * detailFactor);
}
