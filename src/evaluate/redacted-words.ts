// Finds what stands for redacted values in words that are nobody's copy: what the judge says about a trace.

import type { Place, PlacesOfRule } from "../model/redaction.ts";
import { unmark } from "../reading/marks.ts";
import { placesOf } from "./redacted.ts";

/** Of all texts of a trace. Of a longer one, it is not known what stands for a value. */
const charsMax = 8_000_000;

/**
 * A judge that writes `[email]` may mean a redacted value, or what somebody typed. A text counts as standing for a value
 * if it is written nowhere in the trace except where a rule redacted.
 */
export class RedactedWords {
  readonly #typed = new Set<string>();
  readonly #redacted = new Set<string>();
  #charsLeft = charsMax;

  readonly #rules: string[];

  /** `said`: spans or texts, with marks around redacted places. `rules`: those that redacted something in them. */
  constructor(said: readonly unknown[], rules: string[]) {
    this.#rules = rules;
    this.#read(said);
  }

  /**
   * `withheld`: the rules that changed only what the judge was shown. `others`: what the judge knew beside the trace, such as
   * criteria, where the same text is meant as it is.
   */
  in(words: string, withheld: readonly string[], others: string): PlacesOfRule[] {
    if (this.#charsLeft < 0) return [];
    const found = placesOf([...new Set([...this.#rules, ...withheld])], words).filter(
      ({ start, end, rule }) => {
        const text = words.slice(start, end);
        const isValue = this.#redacted.has(text) || withheld.includes(rule);
        return isValue && !this.#typed.has(text) && !others.includes(text);
      },
    );
    return [...Map.groupBy(found, ({ rule }) => rule)].map(([rule, places]) => ({
      rule,
      places: places.map(({ start, end }): Place => [start, end]),
    }));
  }

  #read(value: unknown): void {
    if (typeof value === "string") this.#readText(value);
    else if (typeof value === "object" && value !== null) {
      for (const item of Object.values(value)) if (this.#charsLeft >= 0) this.#read(item);
    }
  }

  #readText(marked: string): void {
    this.#charsLeft -= marked.length;
    const { text, redactions } = unmark(marked);
    const starts = new Set(redactions.flatMap(({ places }) => places.map(([start]) => start)));
    for (const found of text.matchAll(standsForAny)) {
      (starts.has(found.index) ? this.#redacted : this.#typed).add(found[0]);
    }
  }
}

/** Of whatever rule: those for the judge alone are not known here. */
const standsForAny = /\[[a-z0-9_-]{1,32}\]|p_[\w-]{16,}/g;
