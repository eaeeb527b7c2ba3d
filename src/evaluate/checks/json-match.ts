// json_match: whether an attribute of some span with that name is the expected value.

import { type AssertionOf, matchOf } from "../../model/test-case/assertion.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../../reading/span/conversation.ts";
import { decidingOf } from "../all-or-any.ts";
import type { CheckOf } from "../check-context.ts";
import { deepEqual } from "../equality.ts";
import { placeOf } from "../evidence.ts";
import { evidenceMax, excerpt, shortName } from "../excerpt.ts";
import { mayBeAnyJson, redacted } from "../redacted.ts";
import { findHolders, notJson } from "../targets.ts";
import type { TraceView } from "../trace-view.ts";

export const jsonMatch: CheckOf<"json_match"> = (assertion, { view }) => {
  const { target_node, field, expected_value } = assertion;
  const expected = excerpt(expected_value);
  const holders = findHolders(target_node, field, view, expected);
  if (!Array.isArray(holders)) return holders;
  const match = matchOf(assertion);
  const comparisons: { span: Span; state: State }[] = [];
  for (const span of holders) {
    comparisons.push({ span, state: compare(span, assertion, view) });
    if (comparisons.at(-1)!.state === decidingOf(match)) break;
  }
  const inState = (wanted: State) => comparisons.flatMap(({ span, state }) => (state === wanted ? span : []));
  const decisive = inState(decidingOf(match));
  const [changed, unread] = decisive.length > 0 ? [[], []] : [inState("redacted"), inState("unread")];
  if (changed.length > 0) {
    return {
      ...redacted(changed.flatMap(span => view.redactedAt(span, field))),
      expected,
      actual: excerpt(attributeOf(changed[0]!, field)),
      evidence: changed.slice(0, evidenceMax).map(span => placeOf(span, field)),
    };
  }
  if (unread.length > 0) return notJson(target_node, field, unread, expected);
  const looked = decisive.length > 0 ? decisive : holders;
  const holds = decisive.length > 0 === (match === "any");
  const where = { field: shortName(field), span: shortName(looked[0]!.name) };
  const others = looked.length - 1;
  return {
    kind: "compared",
    holds,
    reason: holds
      ? { code: "value_matches", data: { ...where, ...(others > 0 ? { others } : {}) } }
      : { code: "value_differs", data: { ...where, others } },
    expected,
    actual: excerpt(attributeOf(looked[0]!, field)),
    evidence: looked.slice(0, evidenceMax).map(span => placeOf(span, field)),
  };
};

type State = "holds" | "fails" | "redacted" | "unread";

function compare(
  span: Span,
  { field, expected_value, negate }: AssertionOf<"json_match">,
  view: TraceView,
): State {
  if (isExpected(span, field, expected_value, view, false)) return "holds";
  const isRedacted = view.redactedAt(span, field).length > 0;
  if (isRedacted && isExpected(span, field, expected_value, view, true)) return "redacted";
  return negate && !isReadable(span, field, expected_value, view) ? "unread" : "fails";
}

/** Only with a text can a text be compared that is no JSON. */
function isReadable(span: Span, field: string, expected: unknown, view: TraceView): boolean {
  const value = attributeOf(span, field);
  return (
    typeof value !== "string" || typeof expected === "string" || view.parsed(span, field, value) !== undefined
  );
}

/** `as`: what is assumed of redacted texts. */
function isExpected(span: Span, field: string, expected: unknown, view: TraceView, as: boolean): boolean {
  const value = attributeOf(span, field);
  const unknown = view.unknown(as);
  if (typeof value !== "string") return deepEqual(value, expected, view.budget, unknown);
  if (unknown && mayBeAnyJson(value, view.redactedIn(value))) return as;
  if (typeof expected === "string" && deepEqual(value, expected, view.budget, unknown)) return true;
  return deepEqual(view.parsed(span, field, value), expected, view.budget, unknown);
}
