// json_match: whether an attribute of some span with that name is the expected value.

import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../../reading/span/conversation.ts";
import type { CheckOf } from "../check-context.ts";
import { deepEqual } from "../equality.ts";
import { placeOf } from "../evidence.ts";
import { evidenceMax, excerpt, shortName } from "../excerpt.ts";
import { mayBeAnyJson, redacted } from "../redacted.ts";
import { findHolders } from "../targets.ts";
import type { TraceView } from "../trace-view.ts";

export const jsonMatch: CheckOf<"json_match"> = ({ target_node, field, expected_value }, { view }) => {
  const expected = excerpt(expected_value);
  const holders = findHolders(target_node, field, view, expected);
  if (!Array.isArray(holders)) return holders;
  const match = holders.find(span => isExpected(span, field, expected_value, view, false));
  const changed = match
    ? []
    : holders.filter(
        span =>
          view.redactedAt(span, field).length > 0 && isExpected(span, field, expected_value, view, true),
      );
  if (changed.length > 0) {
    return {
      ...redacted(changed.flatMap(span => view.redactedAt(span, field))),
      expected,
      actual: excerpt(attributeOf(changed[0]!, field)),
      evidence: changed.slice(0, evidenceMax).map(span => placeOf(span, field)),
    };
  }
  const looked = match ? [match] : holders;
  const where = { field: shortName(field), span: shortName((match ?? holders[0]!).name) };
  return {
    kind: "compared",
    holds: match !== undefined,
    reason: match
      ? { code: "value_matches", data: where }
      : { code: "value_differs", data: { ...where, others: holders.length - 1 } },
    expected,
    actual: excerpt(attributeOf(looked[0]!, field)),
    evidence: looked.slice(0, evidenceMax).map(span => placeOf(span, field)),
  };
};

/** `as`: what is assumed of redacted texts. */
function isExpected(span: Span, field: string, expected: unknown, view: TraceView, as: boolean): boolean {
  const value = attributeOf(span, field);
  const unknown = view.unknownIn(span.span_id, as);
  if (typeof value !== "string") return deepEqual(value, expected, view.budget, unknown);
  if (unknown && mayBeAnyJson(value, view.redactedIn(span.span_id, value))) return as;
  if (typeof expected === "string" && deepEqual(value, expected, view.budget, unknown)) return true;
  return deepEqual(view.parsed(span, field, value), expected, view.budget, unknown);
}
