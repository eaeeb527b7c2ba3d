// response_time: whether the trace took no longer than allowed.
import type { CheckOf } from "../finding.ts";

export const responseTime: CheckOf<"response_time"> = ({ max_ms }, { view }) => {
  const { durationMs } = view.derived;
  const seen = { expected: { max_ms }, actual: durationMs, evidence: view.rootWithout(null) };
  if (durationMs === null) {
    const reason = "The trace has no duration: its spans lack a usable start and end time.";
    return { kind: "absent", outcome: "missing_instrumentation", reason, ...seen };
  }
  const fact = `The trace took ${Math.round(durationMs * 1000) / 1000} ms of at most ${max_ms} ms`;
  return { kind: "compared", holds: durationMs <= max_ms, fact, ...seen };
};
