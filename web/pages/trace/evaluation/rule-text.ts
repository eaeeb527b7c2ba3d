// The rule of a check in one sentence, for every type, negated or not: "Must not be called: apply_discount".
import type { Assertion, AssertionOf, AssertionType } from "../../../../src/model/test-case/assertion.ts";
import { durationText, numberText } from "../../../format.ts";
import { counted } from "../../../labels.ts";
import { isRecord } from "../../../record.ts";
import { argumentLines } from "./arguments.ts";
import { inline, times } from "./phrases.ts";

/** Words, or a name or value of the test or the trace. */
export type Phrase = string | { code: string };
type RuleOf<T extends AssertionType> = (assertion: AssertionOf<T>, threshold: unknown) => Phrase[];

const phrasesMax = 4;

/** `threshold`: the test's, for checks without one. */
export function ruleOf(assertion: Assertion, threshold: unknown): Phrase[] {
  return withoutStop((rules[assertion.type] as RuleOf<AssertionType>)(assertion, threshold));
}

/** Without the full stop after a shortened value: its ellipsis ends the sentence. */
function withoutStop(phrases: Phrase[]): Phrase[] {
  const last = phrases.at(-1);
  const before = phrases.at(-2);
  if (last === ".") {
    const text = typeof before === "object" ? before.code : before;
    return text?.endsWith("…") ? phrases.slice(0, -1) : phrases;
  }
  return typeof last === "string" && last.endsWith("….")
    ? [...phrases.slice(0, -1), last.slice(0, -1)]
    : phrases;
}

const rules: { [T in AssertionType]: RuleOf<T> } = {
  node_call: ({ expected_name, negate, ...range }) => [
    `${howOften("run", range, negate)}: a step with `,
    { code: expected_name },
    " in its name.",
  ],
  tool_call: ({ expected_name, expected_arguments, arguments_mode, negate, ...range }) => [
    `${howOften("be called", range, negate)}: `,
    { code: expected_name },
    ...(expected_arguments === undefined
      ? []
      : withArguments(expected_arguments, arguments_mode === "exact")),
    ".",
  ],
  token_limit: assertion => {
    const limits = tokenLimits.flatMap(([limit, , amount]) => {
      const max = assertion[limit];
      return max === undefined ? [] : [`${assertion.negate ? "more than" : "at most"} ${amount(max)}`];
    });
    return [`Must use ${limits.join(assertion.negate ? " or " : " and ")}.`];
  },
  http_status: ({ expected_status: expected, negate }) => [
    `HTTP status must ${negate ? "not be" : "be"} ${
      Array.isArray(expected) && expected.length > 1 ? `one of ${expected.join(", ")}` : expected
    }.`,
  ],
  response_time: ({ max_ms, negate }) => [
    `Must take ${negate ? "longer than" : "at most"} ${limitText(max_ms)}.`,
  ],
  response_regex: assertion => [
    ...(assertion.target_node === undefined
      ? [`The reply must ${assertion.negate ? "not match " : "match "}`]
      : [
          { any: "A text", all: "Every text", none: "No text", notAll: "Not every text" }[spansOf(assertion)],
          " of a span with ",
          { code: assertion.target_node },
          ` in its name ${assertion.negate ? "may" : "must"} match `,
        ]),
    { code: assertion.pattern },
    `${flagsText(assertion.flags ?? "")}.`,
  ],
  semantic: (assertion, ofTest) => {
    const threshold = Object.hasOwn(assertion, "threshold") ? assertion.threshold : ofTest;
    const { target_node, negate } = assertion;
    return [
      "The judge must score ",
      ...(target_node === undefined
        ? ["the reply "]
        : [
            `${{ any: "a", all: "every", none: "every", notAll: "at least one" }[spansOf(assertion)]} text of a span with `,
            { code: target_node },
            " in its name ",
          ]),
      `${negate ? "below" : "at least"} ${inline(threshold)}.`,
    ];
  },
  json_match: assertion => [...valueText(assertion), "be ", { code: inline(assertion.expected_value) }, "."],
  json_schema: assertion => [...valueText(assertion), "match the schema."],
};

/** "output of a span with classify in its name must ". */
function valueText(assertion: AssertionOf<"json_match" | "json_schema">): Phrase[] {
  const [which, must] = {
    any: ["a", "must"],
    all: ["every", "must"],
    none: ["no", "may"],
    notAll: ["at least one", "must not"],
  }[spansOf(assertion)] as [string, string];
  return [
    { code: assertion.field },
    ` of ${which} span with `,
    { code: assertion.target_node },
    ` in its name ${must} `,
  ];
}

/** In how many of the spans that it names the check must hold, also where it does not say; negated: may. */
function spansOf({
  type,
  match,
  negate,
}: AssertionOf<"response_regex" | "semantic" | "json_match" | "json_schema">):
  | "any"
  | "all"
  | "none"
  | "notAll" {
  if (negate) return match === "all" ? "notAll" : "none";
  return match ?? (type === "response_regex" || type === "json_match" ? "any" : "all");
}

/** The field of the limit, that of the usage, and the amount in words. */
export const tokenLimits = [
  ["max_total", "total", count => `${counted(count, "token")} in total`],
  ["max_input", "input", count => counted(count, "input token")],
  ["max_output", "output", count => counted(count, "output token")],
  ["max_reasoning", "reasoning", count => counted(count, "reasoning token")],
] as const satisfies [limit: string, kind: string, amount: (count: number) => string][];

type Range = { min: number; max?: number };

/** "Must be called", "Must not be called", "Must run at least twice". */
function howOften(verb: string, { min, max }: Range, negate: boolean): string {
  const must = `Must ${verb}`;
  const mustNot = `Must not ${verb}`;
  if (max === undefined) {
    if (min === 0) {
      return negate
        ? `Can never pass: must not ${verb} any number of times`
        : `May ${verb} any number of times`;
    }
    if (min === 1) return negate ? mustNot : must;
    return `${must} ${negate ? "fewer than" : "at least"} ${times(min)}`;
  }
  if (max === 0) return negate ? must : mustNot;
  if (min === 0) return `${must} ${negate ? "more than" : "at most"} ${times(max)}`;
  return `${negate ? mustNot : must} ${rangeText(min, max)}`;
}

function rangeText(min: number, max: number): string {
  if (min === max) return `exactly ${times(min)}`;
  return min === 1 && max === 2 ? "once or twice" : `${numberText(min)} to ${times(max)}`;
}

/** A duration without rounding: a rounded limit could contradict the verdict. */
function limitText(ms: number): string {
  const isShort = ms < 60_000 && String(ms / (ms < 1_000 ? 1 : 1_000)).replace(".", "").length <= 3;
  return isShort || (ms < 3_600_000 && ms % 1_000 === 0) ? durationText(ms) : `${exact.format(ms)} ms`;
}

const exact = new Intl.NumberFormat("en", { maximumFractionDigits: 20 });

const flagWords: Record<string, string> = {
  i: "ignoring case",
  m: "line by line",
  s: "across lines",
};

function flagsText(flags: string): string {
  const words = [...flags].flatMap(flag => flagWords[flag] ?? []);
  return words.length > 0 ? `, ${words.join(", ")}` : "";
}

function withArguments(expected: unknown, isExact: boolean): Phrase[] {
  if (isRecord(expected) && Object.keys(expected).length === 0)
    return [isExact ? " with no arguments" : " with any arguments"];
  return [isExact ? " with exactly " : " with ", ...argumentPhrases(expected)];
}

function argumentPhrases(expected: unknown): Phrase[] {
  const lines = argumentLines(expected);
  if (lines.length === 0) return [{ code: inline(expected) }];
  const rest = lines.length - phrasesMax;
  const phrases = lines
    .slice(0, phrasesMax)
    .flatMap(({ path, expected }, index): Phrase[] => [
      ...(index > 0 ? [rest <= 0 && index === lines.length - 1 ? " and " : ", "] : []),
      ...(path === "" ? ["arguments"] : [{ code: path }]),
      ` ${expectationText(expected)}`,
    ]);
  return rest > 0 ? [...phrases, ` and ${rest} more`] : phrases;
}

const operatorWords: Record<string, string> = {
  $regex: "matching",
  $in: "one of",
  $gt: ">",
  $gte: "≥",
  $lt: "<",
  $lte: "≤",
};

/** What is expected of one argument: "≥ 1 and ≤ 5". */
export function expectationText(expected: unknown): string {
  if (!isOperators(expected)) return `= ${inline(expected)}`;
  return Object.entries(expected)
    .map(([name, operand]) => {
      if (name === "$exists") return operand ? "present" : "absent";
      return `${operatorWords[name] ?? name} ${name === "$regex" ? operand : inline(operand)}`;
    })
    .join(" and ");
}

/** Whether the expectation is a set of operators such as `{ $gte: 3 }`, not a value. */
export function isOperators(expected: unknown): expected is Record<string, unknown> {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) return false;
  const names = Object.keys(expected);
  return names.length > 0 && names.every(name => name.startsWith("$"));
}
