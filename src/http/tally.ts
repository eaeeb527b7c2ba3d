// Maps counted results to API responses: outcomes of the fully evaluated ones, the others, and the pass rate.
import type { Counts, Tally } from "../model/run/outcome.ts";
import { scoreOf } from "../model/run/run.ts";

/** Checks are all counted by outcome. */
export function tallyView({
  not_fully_evaluated: notFullyEvaluated = 0,
  ...others
}: Counts & Partial<Tally>) {
  const { passed, failed, skipped, missing_instrumentation } = others;
  const counts = { passed, failed, skipped, missing_instrumentation };
  return { counts, notFullyEvaluated, passRate: scoreOf(counts) };
}
