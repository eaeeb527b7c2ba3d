// Searches for rare rows in bounded time: returns what it found and how far it searched, for the next request.
import type { Listing } from "./listing.ts";

/** What one look found. Every row whose id is `reach` or above has been searched; null: all rows. */
export type Look<Row> = { rows: Row[]; reach: string | null };

export type SearchBudget = {
  /** No further look begins after this, in ms. */
  ms: number;
  /** How many rows the first look searches. */
  stretch: number;
};

// A third of a page's time. The size of each look follows from the speed of the one before and the time left.
const defaultBudget: SearchBudget = { ms: 16, stretch: 500 };
const stretchMax = 20_000;

/**
 * Searches stretch after stretch until `rowsMax` rows are found, all are searched, or the time is up. `look` searches
 * at most `stretch` rows below `before`, and returns at most `rowsMax` of them.
 */
export async function scan<Row>(
  { before, rowsMax }: Listing,
  look: (listing: Listing, stretch: number) => Promise<Look<Row>>,
  { ms, stretch }: SearchBudget = defaultBudget,
): Promise<Look<Row>> {
  const rows: Row[] = [];
  const begun = performance.now();
  for (let from = before, length = stretch; ; ) {
    const lookBegun = performance.now();
    const found = await look({ before: from, rowsMax: rowsMax - rows.length }, length);
    rows.push(...found.rows);
    if (found.reach === null || rows.length === rowsMax) return { rows, reach: found.reach };
    const now = performance.now();
    const left = ms - (now - begun);
    if (left <= 0) return { rows, reach: found.reach };
    from = found.reach;
    const affordable = (length * left) / (now - lookBegun);
    length = Math.max(stretch, Math.min(Math.floor(affordable), stretchMax, length * 8));
  }
}
