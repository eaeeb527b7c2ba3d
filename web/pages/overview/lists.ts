// The lists that the numbers of the overview count: filters of the trace list and of a test's results.

import type { Overview } from "../../../src/http/projects/overview-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";

type Within = { from: string; to: string };

/** The live traces received in this time that pass the filters. */
export function tracesIn({ from, to }: Within, filters: TraceSearch = {}): TraceSearch {
  return { kind: "live", receivedFrom: from, receivedTo: to, ...filters };
}

/** The counted results of a test in this time. */
export function resultsIn({ from, to }: Within, outcome: Outcome) {
  return { outcome, fullyEvaluated: "true", from, to };
}

/** Numbers leave out the traces that are not fully evaluated, if there are any. */
function onlyCounted({ notFullyEvaluated }: { notFullyEvaluated: number }): TraceSearch {
  return notFullyEvaluated > 0 ? { fullyEvaluated: "true" } : {};
}

/** Every trace list that the overview links to with a number, by what the number counts. */
export function tracesOf({ traffic, results }: Pick<Overview, "traffic" | "results">) {
  const { now, before } = results;
  const [fully, fullyBefore] = [now, before].map(onlyCounted);
  return {
    traffic: tracesIn(traffic.now),
    trafficBefore: tracesIn(traffic.before),
    passed: tracesIn(now, { verdict: "passed", ...fully }),
    failed: tracesIn(now, { verdict: "failed", ...fully }),
    missing: tracesIn(now, { verdict: "missing_instrumentation", ...fully }),
    skipped: tracesIn(now, { verdict: "skipped", ...fully }),
    notFullyEvaluated: tracesIn(now, { fullyEvaluated: "false" }),
    noVerdict: tracesIn(now, { verdict: "none", ...fully }),
    notEvaluated: tracesIn(now, { state: "none" }),
    pending: tracesIn(now, { state: "pending" }),
    running: tracesIn(now, { state: "running" }),
    error: tracesIn(now, { state: "error" }),
    unrouted: tracesIn(now, { routing: "unavailable" }),
    passedBefore: tracesIn(before, { verdict: "passed", ...fullyBefore }),
    failedBefore: tracesIn(before, { verdict: "failed", ...fullyBefore }),
  } satisfies Record<string, TraceSearch>;
}
export type ListName = keyof ReturnType<typeof tracesOf>;

/** The number beside each of these lists. */
export function numbersOf({
  traffic,
  results: { now, before },
  open,
  notEvaluated,
}: Overview): Record<ListName, { count: number; atLeast: boolean }> {
  const exactly = (count: number) => ({ count, atLeast: false });
  return {
    traffic: traffic.now.traces,
    trafficBefore: traffic.before.traces,
    passed: exactly(now.counts.passed),
    failed: exactly(now.counts.failed),
    missing: exactly(now.counts.missing_instrumentation),
    skipped: exactly(now.counts.skipped),
    notFullyEvaluated: exactly(now.notFullyEvaluated),
    noVerdict: exactly(now.noVerdict),
    notEvaluated,
    pending: open.pending,
    running: open.running,
    error: open.error,
    unrouted: exactly(now.routingUnavailable),
    passedBefore: exactly(before.counts.passed),
    failedBefore: exactly(before.counts.failed),
  };
}
