// Where a quotation stands in a text: by its words alone, as whoever copies changes spaces, marks, capitals and quotes.

type Place = [from: number, to: number];

/**
 * From and to (exclusive), in units of the text; null where it does not occur. What is elided with dots is within:
 * the place reaches from the first of the parts to the last.
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

/** Nobody sees them; they stand between the letters of a word. */
const unseen = /^[\p{Default_Ignorable_Code_Point}\p{Co}]+$/u;

/** In lower case, a space between two; for every unit of them the stretch of the text that it stands for. */
function wordsOf(text: string): { words: string; places: Place[] } {
  let words = "";
  const places: Place[] = [];
  // Characters with their accents, and runs of white space as one.
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
