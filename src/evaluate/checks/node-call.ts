// node_call: how many steps of the trace have a name.

import { isInRange, rangeOf } from "../call-range.ts";
import type { CheckOf } from "../check-context.ts";
import { namesOf, placesOfSpans } from "../evidence.ts";
import { shortName, someNames } from "../excerpt.ts";

export const nodeCall: CheckOf<"node_call"> = (assertion, { view }) => {
  const { expected_name } = assertion;
  const name = shortName(expected_name);
  const matched = view.nodesNamed(expected_name);
  const searched = matched.length > 0 ? [] : view.nodes;
  // For the distinct names.
  view.budget.spend(matched.length + searched.length);
  const names = namesOf(searched);
  const seen = {
    expected: { expected_name, ...rangeOf(assertion) },
    actual: {
      count: matched.length,
      ...(matched.length > 0 ? { names: namesOf(matched) } : { searched: names }),
    },
    evidence: placesOfSpans(matched.length > 0 ? matched : searched),
  };
  if (matched.length === 0 && searched.every(span => view.isRoot(span))) {
    const reason = { code: "no_steps", data: { name } } as const;
    return { kind: "absent", outcome: "missing_instrumentation", reason, ...seen };
  }
  const data = {
    name,
    count: matched.length,
    ...rangeOf(assertion),
    ...(matched.length > 0 ? {} : { steps: someNames(names) }),
  };
  const holds = isInRange(matched.length, assertion);
  return { kind: "compared", holds, reason: { code: "step_count", data }, ...seen };
};
