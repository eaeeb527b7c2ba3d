// Where a quotation stands in a text, forgiving in what one does not see or mind: spaces, capitals, forms of quotes.

/** From and to (exclusive), in units of the text; null where it does not occur. */
export function findQuotation(text: string, quotation: string): [from: number, to: number] | null {
  const exact = quotation.trim() === "" ? -1 : text.indexOf(quotation);
  if (exact >= 0) return [exact, exact + quotation.length];
  const wanted = foldText(quotation).folded.trim();
  if (wanted === "") return null;
  const { folded, places } = foldText(text);
  const at = folded.indexOf(wanted);
  if (at < 0) return null;
  return [places[at]!.from, places[at + wanted.length - 1]!.to];
}

type Place = { from: number; to: number };

/** Format characters, which nobody sees; they stand between others. */
const unseen = /^\p{Cf}+$/u;
const quotes: Record<string, string> = { "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'" };

/** For every unit of what is left, the stretch of the text that it stands for. */
function foldText(text: string): { folded: string; places: Place[] } {
  let folded = "";
  const places: Place[] = [];
  // Characters with their accents, and runs of white space as one.
  for (const { 0: part, index } of text.matchAll(/\s+|\P{M}\p{M}*|\p{M}+/gu)) {
    if (unseen.test(part)) continue;
    const plain = /^\s/.test(part) ? " " : (quotes[part] ?? part.normalize("NFC").toLowerCase());
    if (plain === " " && folded.endsWith(" ")) continue;
    folded += plain;
    for (let unit = 0; unit < plain.length; unit++) places.push({ from: index, to: index + part.length });
  }
  return { folded, places };
}
