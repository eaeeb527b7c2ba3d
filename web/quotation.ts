// Finds a quotation in a text by its words, because models change whitespace, punctuation, case and quotes.

type Place = [from: number, to: number];

/**
 * Start and end (exclusive) in UTF-16 code units; null if not found. If the quotation is elided with dots, the range
 * reaches from its first part to its last.
 */
export function findQuotation(text: string, quotation: string): Place | null {
  const exact = quotation.trim() === "" ? -1 : text.indexOf(quotation);
  if (exact >= 0) return [exact, exact + quotation.length];
  const parts = quotation.split(/\.{3}|…/).flatMap(part => wordsOf(part).words.trim() || []);
  if (parts.length === 0) return null;
  const { words, places } = wordsOf(text);
  let [first, end] = [-1, 0];
  for (const part of parts) {
    const at = words.indexOf(part, end);
    if (at < 0) return null;
    if (first < 0) first = at;
    end = at + part.length;
  }
  return [places[first]![0], places[end - 1]![1]];
}

/** Invisible characters, which may be inside a word. */
const unseen = /^[\p{Default_Ignorable_Code_Point}\p{Co}]+$/u;

/** The words in lower case, separated by one space, and for each of their code units its range in the text. */
function wordsOf(text: string): { words: string; places: Place[] } {
  let words = "";
  const places: Place[] = [];
  // Matches whitespace runs, and characters with their combining marks.
  for (const { 0: part, index } of text.matchAll(/\s+|\P{M}\p{M}*|\p{M}+/gu)) {
    if (unseen.test(part)) continue;
    const plain = part
      .normalize("NFKC")
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ");
    if (plain === " " && (words === "" || words.endsWith(" "))) continue;
    words += plain;
    for (let unit = 0; unit < plain.length; unit++) places.push([index, index + part.length]);
  }
  return { words, places };
}
