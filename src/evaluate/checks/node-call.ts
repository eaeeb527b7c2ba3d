// node_call: how many steps of the trace bear a name.
import { isInRange, rangeText } from "../call-range.ts";
import { quote, quoteSome } from "../excerpt.ts";
import type { CheckOf } from "../finding.ts";
import { namesOf, placesOfSpans } from "../trace-view.ts";

export const nodeCall: CheckOf<"node_call"> = (assertion, { view }) => {
  const { expected_name, min, max } = assertion;
  const wanted = expected_name.toLowerCase();
  const matched = view.nodes.filter(({ name }) => name.includes(wanted)).map(({ span }) => span);
  const searched = matched.length > 0 ? [] : view.nodes.map(({ span }) => span);
  const names = namesOf(searched);
  const seen = {
    expected: { expected_name, min, ...(max === undefined ? {} : { max }) },
    actual: {
      count: matched.length,
      ...(matched.length > 0 ? { names: namesOf(matched) } : { searched: names }),
    },
    evidence: placesOfSpans(matched.length > 0 ? matched : searched),
  };
  if (matched.length === 0 && searched.every(span => span.span_id === view.derived.rootSpanId)) {
    const reason = `The trace has no steps beside its root, so nothing shows whether ${quote(expected_name)} ran.`;
    return { kind: "absent", outcome: "missing_instrumentation", reason, ...seen };
  }
  const many = matched.length === 1 ? "1 step has" : `${matched.length || "No"} steps have`;
  const others = matched.length > 0 ? "" : `; the steps are ${quoteSome(names)}`;
  const fact = `${many} ${quote(expected_name)} in the name (expected: ${rangeText(assertion)})${others}`;
  return { kind: "compared", holds: isInRange(matched.length, assertion), fact, ...seen };
};
