// A drafted assertion in plain words.
import type { Assertion, AssertionOf, AssertionType } from "../../../../src/model/assertion.ts";
import { printExact } from "../../../exact-json.ts";

const textMax = 300;

export function assertionText(assertion: Assertion): string {
  return (sentences[assertion.type] as (assertion: Assertion) => string)(assertion);
}

const sentences: { [T in AssertionType]: (assertion: AssertionOf<T>) => string } = {
  node_call: ({ expected_name }) => `A step with “${expected_name}” in its name runs.`,
  tool_call: ({ expected_name, expected_arguments: expected }) =>
    `The tool “${expected_name}” is called${expected === undefined ? "" : ` with, among its arguments, ${short(expected)}`}.`,
  token_limit: assertion => {
    const limits = [
      [assertion.max_total, "tokens"],
      [assertion.max_input, "input tokens"],
      [assertion.max_output, "output tokens"],
      [assertion.max_reasoning, "reasoning tokens"],
    ] as const;
    const set = limits.flatMap(([max, noun]) =>
      max === undefined ? [] : [`at most ${max.toLocaleString("en")} ${noun}`],
    );
    return `The trace uses ${set.join(" and ")}.`;
  },
  http_status: ({ expected_status }) => `The HTTP status is ${[expected_status].flat().join(" or ")}.`,
  response_time: ({ max_ms }) => `The trace takes at most ${max_ms.toLocaleString("en")} ms.`,
  response_regex: ({ pattern, target_node }) =>
    `${textOf(target_node)} holds what matches ${short(pattern)}.`,
  semantic: ({ criteria, target_node }) => `${textOf(target_node)} meets: ${criteria}`,
  json_match: ({ target_node, field, expected_value }) =>
    `On a span with “${target_node}” in its name, ${field} is ${short(expected_value)}.`,
  json_schema: ({ target_node, field, schema }) =>
    `On a span with “${target_node}” in its name, ${field} fits the schema ${short(schema)}.`,
};

function textOf(target: string | undefined): string {
  return target === undefined ? "The reply" : `The text of a span with “${target}” in its name`;
}

function short(value: unknown): string {
  const text = printExact(value, 0);
  return text.length > textMax ? `${text.slice(0, textMax)}…` : text;
}
