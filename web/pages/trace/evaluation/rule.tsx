// The rule of a check in one plain sentence, for every type, negated or not.
import { Fragment, type ReactNode } from "react";
import type { Assertion, AssertionOf, AssertionType } from "../../../../src/model/test-case/assertion.ts";
import { argumentLines } from "./arguments.ts";
import { inline, number, timesText } from "./words.ts";

type RuleOf<T extends AssertionType> = (assertion: AssertionOf<T>, threshold: unknown) => ReactNode;

const phrasesMax = 4;

/** `threshold`: the test's, for checks without one. */
export function Rule({ assertion, threshold }: { assertion: Assertion; threshold: unknown }) {
  return (rules[assertion.type] as RuleOf<AssertionType>)(assertion, threshold);
}

const rules: { [T in AssertionType]: RuleOf<T> } = {
  node_call: ({ expected_name, negate, ...range }) => (
    <>
      A step with <code>{expected_name}</code> in its name {often("runs", timesText(range, negate))}.
    </>
  ),
  tool_call: ({ expected_name, expected_arguments, arguments_mode, negate, ...range }) => (
    <>
      The tool <code>{expected_name}</code> is {often("called", timesText(range, negate))}
      {expected_arguments !== undefined && (
        <>
          {arguments_mode === "exact" ? " with exactly these arguments: " : " with arguments in which "}
          <ArgumentPhrases expected={expected_arguments} />
        </>
      )}
      .
    </>
  ),
  token_limit: assertion => {
    const limits = [
      [assertion.max_total, "tokens in total"],
      [assertion.max_input, "input tokens"],
      [assertion.max_output, "output tokens"],
      [assertion.max_reasoning, "reasoning tokens"],
    ] as const;
    const set = limits.flatMap(([max, what]) =>
      max === undefined
        ? []
        : [`${assertion.negate ? "more than" : "at most"} ${number.format(max)} ${what}`],
    );
    return `The trace uses ${set.join(assertion.negate ? " or " : " and ")}.`;
  },
  http_status: ({ expected_status: expected, negate }) => {
    const wanted = Array.isArray(expected) ? `one of ${expected.join(", ")}` : expected;
    return `The HTTP status is ${negate ? "not " : ""}${wanted}.`;
  },
  response_time: ({ max_ms, negate }) =>
    `The trace takes ${negate ? "longer than" : "at most"} ${number.format(max_ms)} ms.`,
  response_regex: ({ pattern, flags = "", target_node, negate }) => (
    <>
      <code>{pattern}</code> {negate ? "is not found" : "is found"} in <Text of={target_node} />
      {flagsText(flags)}.
    </>
  ),
  semantic: (assertion, ofTest) => {
    const threshold = Object.hasOwn(assertion, "threshold") ? assertion.threshold : ofTest;
    return (
      <>
        The judge scores <Text of={assertion.target_node} /> {assertion.negate ? "below" : "at least"}{" "}
        {inline(threshold)} by the criteria.
      </>
    );
  },
  json_match: ({ target_node, field, expected_value, negate }) => (
    <>
      <code>{field}</code> of {negate ? "no" : "a"} span with <code>{target_node}</code> in its name is{" "}
      <code>{inline(expected_value)}</code>.
    </>
  ),
  json_schema: ({ target_node, field, negate }) => (
    <>
      <code>{field}</code> of {negate ? "no" : "a"} span with <code>{target_node}</code> in its name matches
      the schema.
    </>
  ),
};

/** "called twice", "never called". */
function often(verb: string, times: string): string {
  return times === "never" ? `never ${verb}` : `${verb} ${times}`;
}

function Text({ of }: { of: string | undefined }) {
  if (of === undefined) return "the reply";
  return (
    <>
      the text of a span with <code>{of}</code> in its name
    </>
  );
}

const flagWords: Record<string, string> = {
  i: "ignoring case",
  m: "line by line",
  s: "across lines",
};

function flagsText(flags: string): string {
  const words = [...flags].flatMap(flag => flagWords[flag] ?? []);
  return words.length > 0 ? `, ${words.join(", ")}` : "";
}

function ArgumentPhrases({ expected }: { expected: unknown }) {
  const lines = argumentLines(expected);
  if (lines.length === 0) return <code>{inline(expected)}</code>;
  const rest = lines.length - phrasesMax;
  return (
    <>
      {lines.slice(0, phrasesMax).map(({ path, expected }, index) => (
        <Fragment key={path}>
          {index > 0 && (rest <= 0 && index === lines.length - 1 ? " and " : ", ")}
          <code>{path || "they"}</code> {expectationText(expected)}
        </Fragment>
      ))}
      {rest > 0 && ` and ${rest} more`}
    </>
  );
}

const operatorWords: Record<string, string> = {
  $regex: "matches",
  $in: "is one of",
  $gt: "is greater than",
  $gte: "is at least",
  $lt: "is less than",
  $lte: "is at most",
};

/** What is expected of one argument: "is at least 1 and is at most 5". */
export function expectationText(expected: unknown): string {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected))
    return `is ${inline(expected)}`;
  const entries = Object.entries(expected);
  if (!entries.length || !entries.every(([name]) => name.startsWith("$"))) return `is ${inline(expected)}`;
  return entries
    .map(([name, operand]) => {
      if (name === "$exists") return operand ? "is present" : "is absent";
      return `${operatorWords[name] ?? name} ${name === "$regex" ? operand : inline(operand)}`;
    })
    .join(" and ");
}
