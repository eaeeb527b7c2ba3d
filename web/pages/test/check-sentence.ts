// A check of the editor as one sentence, that of its results; undefined while it is incomplete.
import type { Assertion, AssertionType } from "../../../src/model/test-case/assertion.ts";
import { type Phrase, ruleOf } from "../trace/evaluation/rule-text.ts";
import type { Doc } from "./document.ts";

const required: Record<AssertionType, string[]> = {
  node_call: ["expected_name"],
  tool_call: ["expected_name"],
  token_limit: [],
  http_status: ["expected_status"],
  response_time: ["max_ms"],
  response_regex: ["pattern"],
  semantic: ["criteria"],
  json_match: ["target_node", "field"],
  json_schema: ["target_node", "field"],
};

const texts = ["expected_name", "pattern", "flags", "target_node", "field"];
const limits = ["max_total", "max_input", "max_output", "max_reasoning"];
const numbers = ["min", "max", "max_ms", ...limits];

/** `ofTest`: the strictness of the test. */
export function sentenceOf(assertion: Doc, type: AssertionType, ofTest: unknown): Phrase[] | undefined {
  const isMissing = (name: string) => [assertion[name]].flat().every(one => one === undefined || one === "");
  const isWrong = (name: string, expected: string) =>
    assertion[name] !== undefined && typeof assertion[name] !== expected;
  if (required[type].some(isMissing)) return undefined;
  if (type === "token_limit" && limits.every(isMissing)) return undefined;
  if (texts.some(name => isWrong(name, "string")) || numbers.some(name => isWrong(name, "number"))) {
    return undefined;
  }
  return ruleOf({ negate: false, min: 1, ...assertion } as Assertion, ofTest);
}

/** What the judge is asked; empty for other checks. */
export function criteriaText({ type, criteria }: Doc): string {
  return type === "semantic" ? [criteria].flat().filter(Boolean).join(" ") : "";
}

/** When the check is made, if not always. */
export function conditionText({ turn, depends_on }: Doc): string {
  const others = [depends_on].flat().filter(id => typeof id === "string");
  return [
    ...(turn === undefined ? [] : [turnText(turn)]),
    ...(others.length > 0
      ? [`Only if ${others.join(", ")} ${others.length === 1 ? "passes" : "pass"}.`]
      : []),
  ].join(" ");
}

function turnText(turn: unknown): string {
  if (turn === "each") return "In each turn.";
  return turn === "last" ? "Last turn only." : `Turn ${String(turn)} only.`;
}
