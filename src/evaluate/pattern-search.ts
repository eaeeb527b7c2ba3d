// Compiles and searches patterns within the budget of an evaluation, and leaves costly searches to the sandbox.
import type { RedactedPlace } from "../model/redaction.ts";
import type { RunBudget } from "../model/run/budget.ts";
import { placeWithUnseen, withoutUnseen } from "../model/strip-invisible.ts";
import { compilePattern, type Pattern } from "../model/test-case/pattern.ts";
import { searchedPattern } from "../model/test-case/pattern-invisible.ts";
import { firstApart } from "./redacted.ts";

/** Text length times pattern size that is searched right here, in 50 ms at worst. The sandbox can be killed. */
const inlineWorkMax = 500_000;
/** The same for all occurrences, where characters count again that are read again: up to 85 ms were measured. */
const allWorkMax = 10 * inlineWorkMax;

export type PatternBudget = Pick<RunBudget, "timed">;

export function isSearchedInline({ size }: Pattern, text: string): boolean {
  return size * text.length <= inlineWorkMax;
}

/** `source`: without the invisible characters that it does not name. */
export type SearchPattern = Pattern & { source: string; read(text: string): ReadText };

/** A text as a pattern reads it, and where a place of that is in the whole text. */
export type ReadText = { text: string; placeOf(found: Place): Place };

type Place = { start: number; end: number };

/** The pattern, compiled unless it is cached. Throws BudgetSpent. */
export function affordPattern(written: string, flags: string, budget: PatternBudget): SearchPattern {
  return budget.timed(() => {
    const compiled = compilePattern(written, flags);
    const known = searched.get(compiled);
    if (known) return known;
    const made = searchPattern(written, flags);
    searched.set(compiled, made);
    return made;
  });
}

const searched = new WeakMap<Pattern, SearchPattern>();

function searchPattern(written: string, flags: string): SearchPattern {
  const { source, seesInvisible } = searchedPattern(written);
  const read = (text: string): ReadText => {
    const seen = seesInvisible ? text : withoutUnseenOnce(text);
    return { text: seen, placeOf: place => (seen === text ? place : placeWithUnseen(text, place)) };
  };
  return { ...compilePattern(source, flags), source, read };
}

/** The checks of a trace mostly look at the same text. */
let latest = { text: "", seen: "" };

function withoutUnseenOnce(text: string): string {
  if (latest.text !== text) latest = { text, seen: withoutUnseen(text) };
  return latest.seen;
}

/** Where the pattern first occurs apart from the redacted places, as far as a search within the limit finds it. */
export function findApart(pattern: Pattern, text: string, places: RedactedPlace[]): Place | null {
  const first = pattern.find(text);
  if (!first || firstApart([first], places)) return first;
  const all = pattern.findAll(text, Math.floor(allWorkMax / pattern.size))?.places ?? [];
  return firstApart(all, places) ?? null;
}
