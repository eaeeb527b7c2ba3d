// json_match: whether an attribute of some span with that name is the expected value.
import { attributeOf } from "../../model/conversation/conversation.ts";
import type { Span } from "../../model/trace/trace.ts";
import { deepEqual } from "../equality.ts";
import { evidenceMax, excerpt, shortName } from "../excerpt.ts";
import type { CheckOf } from "../finding.ts";
import { redacted } from "../redacted.ts";
import { findHolders } from "../targets.ts";
import { placeOf, type TraceView } from "../trace-view.ts";

export const jsonMatch: CheckOf<"json_match"> = ({ target_node, field, expected_value }, { view }) => {
  const expected = excerpt(expected_value);
  const holders = findHolders(target_node, field, view, expected);
  if (!Array.isArray(holders)) return holders;
  const places = new Map(holders.map(span => [span, view.redactedAt(span, field)] as const));
  const match = holders.find(
    span => places.get(span)!.length === 0 && isExpected(span, field, expected_value, view),
  );
  const changed = holders.filter(span => places.get(span)!.length > 0);
  if (!match && changed.length > 0) {
    return {
      ...redacted(changed.flatMap(span => places.get(span)!)),
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

function isExpected(span: Span, field: string, expected: unknown, view: TraceView): boolean {
  const value = attributeOf(span, field);
  if (deepEqual(value, expected, view.budget)) return true;
  return typeof value === "string" && deepEqual(view.parsed(span, field, value), expected, view.budget);
}
