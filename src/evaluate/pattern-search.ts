// Compiles and searches patterns within the budget of an evaluation, and leaves costly searches to the sandbox.
import type { RunBudget } from "../model/run/budget.ts";
import { compilePattern, type Pattern } from "../model/test-case/pattern.ts";
import { firstApart, type RedactedPlace } from "./redacted.ts";

/** Text length times pattern size that is searched right here, in 50 ms at worst. The sandbox can be killed. */
const inlineWorkMax = 500_000;
/** The same for all occurrences, where characters count again that are read again: up to 85 ms were measured. */
const allWorkMax = 10 * inlineWorkMax;

export type PatternBudget = Pick<RunBudget, "timed">;

export function isSearchedInline({ size }: Pattern, text: string): boolean {
  return size * text.length <= inlineWorkMax;
}

/** The pattern, compiled unless it is cached. Throws BudgetSpent. */
export function affordPattern(source: string, flags: string, budget: PatternBudget): Pattern {
  return budget.timed(() => compilePattern(source, flags));
}

/** Where the pattern first occurs apart from the redacted places, as far as a search within the limit finds it. */
export function findApart(
  pattern: Pattern,
  text: string,
  places: RedactedPlace[],
): { start: number; end: number } | null {
  const first = pattern.find(text);
  if (!first || firstApart([first], places)) return first;
  const all = pattern.findAll(text, Math.floor(allWorkMax / pattern.size))?.places ?? [];
  return firstApart(all, places) ?? null;
}
