// node_call: how many steps of the trace have a name.

import { couldChange, isInRange, rangeOf } from "../call-range.ts";
import type { CheckOf } from "../check-context.ts";
import { namesOf, placesOfSpans } from "../evidence.ts";
import { shortName, someNames } from "../excerpt.ts";
import type { TraceView } from "../trace-view.ts";

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
  const turn = blindTurn(view, expected_name);
  if (turn === 0 || (turn !== undefined && couldChange(matched.length, assertion))) {
    const reason = { code: "no_steps", data: { name, ...(turn > 0 ? { turn } : {}) } } as const;
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

/** The first turn that shows no steps but its root, unless that matches; 0 for the whole trace. */
function blindTurn(view: TraceView, wanted: string): number | undefined {
  const isBlind = (one: TraceView) =>
    one.nodes.every(span => one.isRoot(span)) && one.nodesNamed(wanted).length === 0;
  if (!view.turns || isBlind(view)) return isBlind(view) ? 0 : undefined;
  const at = view.turns.findIndex(isBlind);
  return at === -1 ? undefined : at + 1;
}
