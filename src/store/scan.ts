// A list that looks for rare rows among many answers in bounded time: it says how far it looked and is asked again.
import type { Listing } from "./listing.ts";

/** What one look found; every row whose id is `reach` or above has been looked at. Null: all have been. */
export type Look<Row> = { rows: Row[]; reach: string | null };

export type Patience = {
  /** After so long no further look begins, in ms. */
  ms: number;
  /** How many rows the first look takes in. */
  stretch: number;
};

// A third of what a page may take; a look is as long as the one before it says that the rest allows.
const patience: Patience = { ms: 16, stretch: 500 };
const stretchMax = 20_000;

/**
 * Looks at stretch after stretch until `rowsMax` rows are found, all have been looked at, or the time is up. `look`
 * takes in at most `stretch` rows below `before`, and finds at most `rowsMax` of them.
 */
export async function scan<Row>(
  { before, rowsMax }: Listing,
  look: (listing: Listing, stretch: number) => Promise<Look<Row>>,
  { ms, stretch }: Patience = patience,
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
