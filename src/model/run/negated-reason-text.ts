// The sentences of negated checks, each with what was expected: a negated check passes if the comparison does not hold.
import type { Comparisons, Range } from "./reason.ts";
import {
  callsText,
  criteriaText,
  quote,
  saying,
  spansText,
  stepsText,
  textOf,
  wordlessText,
} from "./reason-phrases.ts";

export const negatedSentences: { [C in keyof Comparisons]: (data: Comparisons[C]) => string } = {
  tool_call_count: data => callsText(data, "matching", rangeText(data)),
  step_count: data => stepsText(data, rangeText(data)),
  token_usage: ({ usages }) =>
    `The trace used ${usages
      .map(({ kind, used, max }) => `${used} ${kind} tokens (expected: more than ${max})`)
      .join(", ")}.`,
  http_status: ({ status, expected }) =>
    `The HTTP status is ${status} (expected: ${Array.isArray(expected) ? `none of ${expected.join(", ")}` : `any but ${expected}`}).`,
  duration: ({ ms, maxMs, received }) =>
    `The ${received ? "reply" : "trace"} took ${ms} ms (expected: more than ${maxMs} ms).`,
  pattern_found: ({ pattern, target, every }) =>
    `${quote(pattern)} was found in ${textOf(target, every)}, where it must not be.`,
  pattern_not_found: ({ pattern, target }) => `${quote(pattern)} was not found in ${textOf(target)}.`,
  value_matches: ({ field, span, others = 0 }) =>
    `${quote(field)} of ${quote(span)} is the value that it must not be${others > 0 ? `, as it is in ${spansText(others)}` : ""}.`,
  value_differs: ({ field, span, others }) =>
    `${quote(field)} of ${quote(span)} is not the value that it must not be${
      others > 0 ? `, nor is it in ${spansText(others)}` : ""
    }.`,
  schema_valid: ({ field, target }) =>
    `${quote(field)} of the span named like ${quote(target)} matches the schema that it must not match.`,
  schema_invalid: ({ field, target, fault }) =>
    `${quote(field)} of the span named like ${quote(target)} does not match the schema${saying(fault)}`,
  reply_without_words: ({ target }) => wordlessText(target),
  judge_score: ({ score, threshold, votes, criteria, comment }) =>
    `The judge's score is ${score} (expected: below ${threshold}${
      votes ? `; ${votes.passed} of ${votes.of} votes reach it` : ""
    })${saying(criteria ? criteriaText(criteria) : (comment ?? ""))}`,
};

/** "none", "fewer than 2", "any number but 2", "more than 3". */
function rangeText({ min, max }: Range): string {
  if (max === undefined) return min === 1 ? "none" : `fewer than ${min}`;
  if (max === min) return max === 0 ? "at least 1" : `any number but ${max}`;
  if (min === 0) return `more than ${max}`;
  return `fewer than ${min} or more than ${max}`;
}
