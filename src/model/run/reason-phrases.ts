// Phrases that the sentences of reasons share: quoted names, lists, and what happened instead.
import type { Comparisons, SomeNames } from "./reason.ts";

export function quote(name: string): string {
  return `"${name}"`;
}

export function listText({ names, more }: SomeNames): string {
  return names.map(quote).join(", ") + (more ? ` and ${more} more` : "");
}

/** "3 of 5 criteria are fully met, 1 does not apply." */
export function criteriaText({
  met,
  of,
  inapplicable,
  undecided,
}: NonNullable<Comparisons["judge_score"]["criteria"]>): string {
  const parts = [`${met} of ${of} criteria are fully met`];
  if (inapplicable) parts.push(`${inapplicable} ${inapplicable === 1 ? "does" : "do"} not apply`);
  if (undecided) parts.push(`${undecided} ${undecided === 1 ? "is" : "are"} undecided`);
  return `${parts.join(", ")}.`;
}

function insteadText(instead: NonNullable<Comparisons["tool_call_count"]["instead"]>): string {
  if (instead === "other_arguments") return "the arguments differ";
  if (instead === "unreadable_arguments") return "the arguments cannot be read";
  if (instead === "no_arguments") return "the trace has no arguments for these calls";
  if (instead === "no_calls") return "the trace has no tool calls";
  if ("called" in instead) return `called instead: ${listText(instead.called)}`;
  return `names must match exactly, and ${listText(instead.similar)} does not`;
}

export function textOf(target: string | undefined, every?: true): string {
  return target === undefined ? "the reply" : `${every ? "every" : "a"} text of ${quote(target)}`;
}

/** "1 more span", "2 more spans". */
export function spansText(others: number): string {
  return `${others} more ${others === 1 ? "span" : "spans"}`;
}

/** "a call", "2 calls". */
export function countText(count: number, noun = "call"): string {
  return count === 1 ? `a ${noun}` : `${count} ${noun}s`;
}

export function traceText(turn: number | undefined): string {
  return turn === undefined ? "The trace" : `Turn ${turn}`;
}

export function wordlessText(target: string | undefined): string {
  return `${target === undefined ? "The reply" : `A text of ${quote(target)}`} contains no words.`;
}

/** "2 calls of “search” with matching arguments (expected: none); …". `expected`: the range in words. */
export function callsText(
  { name, count, withArguments, instead }: Comparisons["tool_call_count"],
  matching: string,
  expected: string,
): string {
  return `${count === 1 ? "1 call" : `${count || "No"} calls`} of ${quote(name)}${
    withArguments ? ` with ${matching} arguments` : ""
  } (expected: ${expected})${instead ? `; ${insteadText(instead)}` : ""}.`;
}

/** "No steps have “plan” in the name (expected: at least 1); the steps are …". */
export function stepsText({ name, count, steps }: Comparisons["step_count"], expected: string): string {
  return `${count === 1 ? "1 step has" : `${count || "No"} steps have`} ${quote(name)} in the name (expected: ${expected})${
    steps ? `; the steps are ${listText(steps)}` : ""
  }.`;
}

const usageKinds: Record<string, string> = {
  "gen_ai.usage.input_tokens": "input",
  "gen_ai.usage.output_tokens": "output",
  "gen_ai.usage.reasoning.output_tokens": "reasoning",
};

/** "token usage", or where the trace may have other usage, "count of reasoning tokens". */
export function usageText(missing: string[]): string {
  const kinds = missing.flatMap(attribute => usageKinds[attribute] ?? []);
  if (kinds.length === 0 || (kinds.includes("input") && kinds.includes("output"))) return "token usage";
  return `count of ${kinds.join(" and ")} tokens`;
}

/** What ends a sentence: a text that says more, or, where it was dropped with the content of the trace, a full stop. */
export function saying(text: string): string {
  return text === "" ? "." : `: ${text}`;
}
