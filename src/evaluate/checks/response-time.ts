// response_time: whether the trace took no longer than allowed.

import type { CheckOf } from "../check-context.ts";
export const responseTime: CheckOf<"response_time"> = ({ max_ms }, { view }) => {
  const { durationMs } = view.derived;
  const seen = { expected: { max_ms }, actual: durationMs, evidence: view.placesOfTime() };
  if (durationMs === null) {
    return { kind: "absent", outcome: "missing_instrumentation", reason: { code: "no_duration" }, ...seen };
  }
  const received = view.received?.time ? { received: true as const } : {};
  const holds = durationMs <= max_ms;
  const data = { ms: shownMs(durationMs, max_ms), maxMs: max_ms, ...received };
  return { kind: "compared", holds, reason: { code: "duration", data }, ...seen };
};

/** To the microsecond, unless that contradicts the comparison. */
function shownMs(ms: number, maxMs: number): number {
  const rounded = Math.round(ms * 1000) / 1000;
  return rounded <= maxMs === ms <= maxMs ? rounded : ms;
}
