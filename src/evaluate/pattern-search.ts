// Compiles and searches patterns within the budget of an evaluation, and leaves costly searches to the sandbox.
import type { RunBudget } from "../model/run/budget.ts";
import { compilePattern, type Pattern } from "../model/test-case/pattern.ts";

/** Text length times pattern size that is searched right here, in 50 ms at worst. The sandbox can be killed. */
const inlineWorkMax = 500_000;

export type PatternBudget = Pick<RunBudget, "timed">;

export function isSearchedInline({ size }: Pattern, text: string): boolean {
  return size * text.length <= inlineWorkMax;
}

/** The pattern, compiled unless it is cached. Throws BudgetSpent. */
export function affordPattern(source: string, flags: string, budget: PatternBudget): Pattern {
  return budget.timed(() => compilePattern(source, flags));
}
