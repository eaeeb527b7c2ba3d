// What privacy rules took out of the texts that checks look at: a redaction makes no verdict.

import type { Redaction } from "../model/redaction.ts";
import type { Reason } from "../model/run/reason.ts";

/** A place of a text where a value was redacted: UTF-16 units, the end is exclusive. */
export type RedactedPlace = { start: number; end: number; rule: string };

/** The rules that redacted something in each span. */
export class Redactions {
  /** All of them, by name. */
  readonly rules: string[];
  readonly #rules = new Map<string, Set<string>>();

  constructor(redactions: readonly Pick<Redaction, "spanId" | "rule">[]) {
    for (const { spanId, rule } of redactions) {
      if (spanId === null) continue;
      const known = this.#rules.get(spanId) ?? new Set();
      this.#rules.set(spanId, known.add(rule));
    }
    this.rules = [...new Set([...this.#rules.values()].flatMap(rules => [...rules]))].sort();
  }

  placesIn(spanId: string, text: string): RedactedPlace[] {
    return placesOf([...(this.#rules.get(spanId) ?? [])], text);
  }

  /** Whether anything was redacted in the span. */
  isIn(spanId: string): boolean {
    return this.#rules.has(spanId);
  }
}

/**
 * The places of a text that these rules redacted, in their order. What the sender wrote just like a placeholder counts too:
 * that skips a check at worst.
 */
export function placesOf(rules: string[], text: string): RedactedPlace[] {
  if (rules.length === 0) return [];
  return Array.from(text.matchAll(patternOf(rules)), ({ 0: found, 1: rule, index }) => ({
    start: index,
    end: index + found.length,
    rule: rule ?? pseudonym,
  }));
}

/** The rule of pseudonyms. */
export const pseudonym = "pseudonym";

/** Names of rules need no escapes. */
function patternOf(rules: string[]): RegExp {
  const named = `\\[(${rules.join("|")})\\]`;
  return new RegExp(rules.includes(pseudonym) ? `${named}|p_[\\w-]{16,}` : named, "g");
}

/** Texts that privacy rules changed: whether such a text is the expected one is not known, and `as` is what is assumed. */
export type Unknown = { isIn: (text: string) => boolean; as: boolean };

/**
 * Whether a text may have been JSON of any type: a number with a redacted place no longer parses, and an ID or an unchecked text
 * was replaced as a whole. JSON of lists, objects and texts stays JSON of these, since rules change only texts in it.
 */
export function mayBeAnyJson(text: string, places: RedactedPlace[]): boolean {
  if (places.length === 0) return false;
  const kept = places.map(({ start }, at) => text.slice(places[at - 1]?.end ?? 0, start));
  return scalarPart.test(kept.join("") + text.slice(places.at(-1)!.end));
}

/** The characters of numbers, true, false and null. */
const scalarPart = /^[-+.\d\seEtrufalsn]*$/;

export function rulesOf(places: RedactedPlace[]): string[] {
  return [...new Set(places.map(({ rule }) => rule))];
}

/**
 * The first passage that is apart from all redacted places, both in their order. One that only stands next to a place is not:
 * patterns look at the neighbors too.
 */
export function firstApart<P extends { start: number; end: number }>(
  passages: P[],
  places: RedactedPlace[],
): P | undefined {
  let next = 0;
  return passages.find(({ start, end }) => {
    while (next < places.length && places[next]!.end < start) next++;
    return next === places.length || places[next]!.start > end;
  });
}

/** Why a check is skipped whose outcome the redaction could have made. */
export function redacted(places: RedactedPlace[]): { kind: "skipped"; skipped: "redacted"; reason: Reason } {
  return {
    kind: "skipped",
    skipped: "redacted",
    reason: { code: "redacted", data: { rules: rulesOf(places) } },
  };
}
