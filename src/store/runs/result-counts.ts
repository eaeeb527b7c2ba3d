// Counts of runs by result, as SQL and as a summary.
import type { LaunchCounts, RunSummary } from "../../model/run/launch.ts";
import { passRateOf } from "../../model/run/pass-rate.ts";

/** Counts of runs `r` by result, as SQL. `decided` and `succeeded` make the pass rate. */
export const countColumns = `count(*)::int as runs,
    count(*) filter (where r.verdict = 'passed')::int as passed,
    count(*) filter (where r.verdict = 'failed')::int as failed,
    count(*) filter (where r.verdict = 'skipped')::int as skipped,
    count(*) filter (where r.verdict = 'missing_instrumentation')::int as missing_instrumentation,
    count(*) filter (where r.state = 'error')::int as error,
    count(*) filter (where r.state = 'cancelled')::int as cancelled,
    count(*) filter (where r.state in ('pending', 'running') and r.verdict is null)::int as open,
    count(*) filter (where r.verdict is not null and not r.fully_evaluated)::int as not_fully_evaluated,
    count(*) filter (where r.verdict = 'passed' and r.fully_evaluated)::int as succeeded,
    count(*) filter (where r.verdict in ('passed', 'failed') and r.fully_evaluated)::int as decided`;

export type CountRow = LaunchCounts & {
  runs: number;
  not_fully_evaluated: number;
  succeeded: number;
  decided: number;
};

export function toSummary(row: CountRow): RunSummary {
  const { runs, passed, failed, skipped, missing_instrumentation, error, cancelled, open } = row;
  return {
    runs,
    counts: { passed, failed, skipped, missing_instrumentation, error, cancelled, open },
    notFullyEvaluated: row.not_fully_evaluated,
    passRate: passRateOf(row.succeeded, row.decided),
  };
}
