// Tells which placeholders in an excerpt of a trace stand for redacted values: those that nobody typed in the stored texts.

const placeholder = /\[([a-z0-9_-]{1,32})\]|p_[\w-]{22}/g;

/**
 * `stored`: what is stored of the batch, as text. `counts`: how many values each rule redacted in it. Where a placeholder
 * occurs more often, somebody typed it, and which one is not known.
 */
import type { Place, PlacesOfRule } from "../../model/redaction.ts";
export function redactionsInExcerpt(
  excerpt: string,
  stored: string,
  counts: Readonly<Record<string, number>>,
): PlacesOfRule[] {
  const found = Map.groupBy(excerpt.matchAll(placeholder), ({ 1: rule = "pseudonym" }) => rule);
  return [...found].flatMap(([rule, matches]) => {
    if (!Object.hasOwn(counts, rule) || occurrences(stored, rule) !== counts[rule]) return [];
    const places = matches.map(({ 0: text, index }): Place => [index, index + text.length]);
    return [{ rule, places }];
  });
}

function occurrences(stored: string, rule: string): number {
  let count = 0;
  for (const { 1: name = "pseudonym" } of stored.matchAll(placeholder)) if (name === rule) count++;
  return count;
}
