// What a check found, in one sentence that repeats nothing of its rule: "It was called once."
import type { ReasonCode } from "../../../../src/model/run/reason.ts";
import type { Check } from "../../../../src/model/run/run.ts";
import type { Assertion, AssertionOf, AssertionType } from "../../../../src/model/test-case/assertion.ts";
import { durationText, numberText } from "../../../format.ts";
import { reasonText } from "../../../reasons.ts";
import { isRecord } from "../../../record.ts";
import { number, times } from "./phrases.ts";
import { tokenLimits } from "./rule-text.ts";

/** Ends in a colon if a passage, errors or a value follow. `value` is shown behind the sentence. */
export type Found = { text: string; value?: unknown };

/** `holds`: whether the rule would be met if it were not negated. Undefined: the reason's own sentence is better. */
type FoundOf<T extends AssertionType> = (
  check: Check,
  assertion: AssertionOf<T>,
  holds: boolean,
) => Found | string | undefined;

export function foundOf(check: Check, assertion: Assertion): Found {
  const { outcome, reasonCode } = check;
  const isCompared =
    (outcome === "passed" || outcome === "failed") &&
    // A score needs no code to be known.
    (assertion.type === "semantic" ? reasonCode !== "no_span" : codes[assertion.type].includes(reasonCode));
  const found = isCompared
    ? (finds[assertion.type] as FoundOf<AssertionType>)(
        check,
        assertion,
        (outcome === "passed") !== assertion.negate,
      )
    : reasonCode === "no_span" && "target_node" in assertion
      ? `No span has “${assertion.target_node}” in its name.`
      : undefined;
  if (found === undefined) return { text: reasonText(check) };
  return typeof found === "string" ? { text: found } : found;
}

/** The reasons of comparisons; others keep their sentence. */
const codes: Record<Exclude<AssertionType, "semantic">, ReasonCode[]> = {
  node_call: ["step_count"],
  tool_call: ["tool_call_count"],
  token_limit: ["token_usage"],
  http_status: ["http_status"],
  response_time: ["duration"],
  response_regex: ["pattern_found", "pattern_not_found"],
  json_match: ["value_matches", "value_differs"],
  json_schema: ["schema_valid", "schema_invalid"],
};

const finds: { [T in AssertionType]: FoundOf<T> } = {
  node_call: ({ reasonData }) => {
    const { count } = reasonData ?? {};
    if (typeof count !== "number") return;
    return count === 0 ? "No such step ran." : `Such a step ran ${times(count)}.`;
  },
  tool_call: ({ reasonData }) => {
    const { count, instead } = reasonData ?? {};
    if (typeof count !== "number") return;
    if (count > 0) return `It was called ${times(count)}.`;
    if (instead === "other_arguments") return "It was called, but with other arguments.";
    if (instead === "unreadable_arguments") return "It was called, but its arguments cannot be read.";
    if (instead === "no_arguments") return "It was called, but the trace has no arguments for it.";
    return instead === "no_calls" ? "The trace has no tool calls." : "It was not called.";
  },
  token_limit: ({ actual }, assertion) => {
    const used: Record<string, unknown> = isRecord(actual) ? actual : {};
    const usages = tokenLimits.flatMap(([limit, kind, amount]) => {
      const max = assertion[limit];
      const value = used[kind];
      if (max === undefined || typeof value !== "number") return [];
      const distance = assertion.negate ? "" : ` (${distanceText(value, max, numberText)})`;
      return [`${amount(value)}${distance}`];
    });
    return usages.length === 0 ? undefined : `The trace used ${usages.join(" and ")}.`;
  },
  http_status: ({ actual }) => (typeof actual === "number" ? `It was ${actual}.` : undefined),
  response_time: ({ actual }, { max_ms, negate }) => {
    if (typeof actual !== "number") return;
    const distance = negate ? "" : `, ${distanceText(actual, max_ms, durationText)}`;
    return `It took ${durationText(actual)}${distance}.`;
  },
  response_regex: ({ actual, match }, { target_node }, holds) => {
    const where = target_node === undefined ? " in the reply" : "";
    const end = match || typeof actual === "string" ? ":" : ".";
    return `${holds ? "Found" : "Not found"}${where}${end}`;
  },
  semantic: ({ score }) =>
    typeof score === "number" ? `The score is ${number.format(score)} of 1.` : undefined,
  json_match: ({ actual, reasonData, forgotten }, _, holds) => {
    const { span, others } = reasonData ?? {};
    if (typeof span !== "string") return;
    if (holds) {
      const more = typeof others === "number" && others > 0 ? ` and ${numberText(others)} more` : "";
      return `Found in “${span}”${more}.`;
    }
    if (forgotten) return `Another value was found in “${span}”.`;
    const count = typeof others === "number" && others > 0 ? others + 1 : 0;
    return {
      text: `${count > 0 ? `Found in none of ${numberText(count)} spans; in` : "In"} “${span}” it is`,
      value: actual ?? undefined,
    };
  },
  json_schema: ({ forgotten, evidence }, _assertion, holds) =>
    holds
      ? (evidence?.length ?? 0) > 1
        ? "All values match."
        : "A value matches."
      : `The value does not match${forgotten ? "." : ":"}`,
};

/** "455 over the limit", "48% of the limit". */
function distanceText(value: number, max: number, show: (amount: number) => string): string {
  if (value > max) return `${show(value - max)} over the limit`;
  return max > 0 ? `${number.format(Math.round((value / max) * 100))}% of the limit` : "at the limit";
}
