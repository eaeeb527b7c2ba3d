// What privacy rules took out of the texts that checks look at: a redaction makes no verdict.

import type { RedactedPlace } from "../model/redaction.ts";
import type { Reason } from "../model/run/reason.ts";

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

export function rulesIn(places: RedactedPlace[]): string[] {
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
    reason: { code: "redacted", data: { rules: rulesIn(places) } },
  };
}
