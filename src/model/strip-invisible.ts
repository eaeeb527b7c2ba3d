// Removes invisible characters from a text, so that hidden text influences neither the judge nor a pattern.

/**
 * Well-formed Unicode without zero-width, bidirectional, tag, variation, private-use and control characters; keeps line
 * breaks and tabs.
 */
export function stripInvisible(text: string): string {
  return text.toWellFormed().replace(unseen, "");
}

/** Whether the text has a visible letter or digit. */
export function hasWord(text: string): boolean {
  return /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]/u.test(text);
}

/** The text as patterns read it: without these characters, but with white space and private-use characters, which fonts may show. */
export function withoutUnseen(text: string): string {
  // Ten times as fast as the search itself, which nearly no text needs.
  return uncommon.test(text) ? text.replace(unseenRuns, "") : text;
}

/** All characters but those of Latin scripts, typographic punctuation and currencies. */
const uncommon = /[^\t-\r -~\xA0-\xAC\xAE-\u034E\u2010-\u2027\u2030-\u205E\u20A0-\u20BF]/;

/** The place in a text of what is between two positions of it without the unseen characters. */
export function placeWithUnseen(text: string, { start, end }: Place): Place {
  const [first, last] = [start, Math.max(start, end - 1)].map(position => {
    let at = position;
    for (const { 0: run, index } of text.matchAll(unseenRuns)) {
      if (index > at) break;
      at += run.length;
    }
    return at;
  }) as [number, number];
  return { start: first, end: end > start ? last + 1 : first };
}

type Place = { start: number; end: number };

/** Part of a class. */
export const unseenCharacters =
  "\\p{Default_Ignorable_Code_Point}\\uFFF9-\\uFFFB\\0-\\x08\\x0E-\\x1F\\x7F-\\x84\\x86-\\x9F";

const unseenRuns = new RegExp(`[${unseenCharacters}]+`, "gu");

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Co}\uFFF9-\uFFFB]|(?![\t\n\r])\p{Cc}/gu;
