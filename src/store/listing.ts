// One page of a list, newest first: ids are time-ordered UUIDs, so the id alone is both order and cursor.

/** At most `rowsMax` rows whose id is below `before`. */
export type Listing = { before: string; rowsMax: number };

/** Above every UUID that is made: the `before` of a first page. */
export const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Below every UUID that is made. */
export const oldest = "00000000-0000-0000-0000-000000000000";

/**
 * How far the clock of a process that makes ids may be from the database's, in ms. Whoever looks for rows of a time
 * by their ids looks so much further on either side.
 */
export const clockSlackMs = 600_000;

export const hourMs = 3_600_000;

/** The lowest id that is made at this time. */
export function idAt(timeMs: number): string {
  const hex = Math.min(Math.max(Math.floor(timeMs), 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** When the id was made, in ms. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
