// Whether results are fully evaluated. Whatever compares or adds up results takes only fully evaluated ones, failed and passed alike,
// so that an outage of the judge, sampling or a budget tilts nothing.
import type { Applicability, Check, Result } from "./run.ts";

/** Such checks had nothing to say. Any other skipped check could have changed the result. */
const settled: ReadonlySet<string> = new Set(["dependency", "condition", "does_not_apply"]);

/** Whether each check of a result was judged. One with missing instrumentation was. */
export function areFullyEvaluated(checks: Pick<Check, "outcome" | "skipped">[]): boolean {
  return checks.every(
    ({ outcome, skipped }) => outcome !== "skipped" || (skipped !== undefined && settled.has(skipped)),
  );
}

/** Whether a run says all that its tests say of the trace: a test whose scenario could not be matched has no result. */
export function isRunFullyEvaluated(
  results: Pick<Result, "fullyEvaluated">[],
  tests: Pick<Applicability, "why">[],
): boolean {
  return (
    results.every(({ fullyEvaluated }) => fullyEvaluated) &&
    tests.every(({ why }) => why !== "routing_unavailable")
  );
}
