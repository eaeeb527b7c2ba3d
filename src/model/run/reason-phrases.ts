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

export function insteadText(instead: NonNullable<Comparisons["tool_call_count"]["instead"]>): string {
  if (instead === "other_arguments") return "the arguments differ";
  if (instead === "no_calls") return "the trace has no tool calls";
  if ("called" in instead) return `called instead: ${listText(instead.called)}`;
  return `names must match exactly, and ${listText(instead.similar)} does not`;
}

export function textOf(target: string | undefined): string {
  return target === undefined ? "the reply" : `a text of ${quote(target)}`;
}
