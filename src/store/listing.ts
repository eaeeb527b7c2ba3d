// Pagination, newest first: ids are time-ordered UUIDs, so the id is both order and cursor.

/** At most `rowsMax` rows whose id is below `before`. */
export type Listing = { before: string; rowsMax: number };

/** Above every UUIDv7: the `before` of a first page. */
export const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Below every UUIDv7. */
export const oldest = "00000000-0000-0000-0000-000000000000";

/**
 * The clock of a process that creates ids may differ from the database's by this much. A search for rows of a time
 * range by their ids must include this much on either side.
 */
export const clockSlackMs = 600_000;

export const hourMs = 3_600_000;

/** The lowest id of this time. */
export function idAt(timeMs: number): string {
  const hex = Math.min(Math.max(Math.floor(timeMs), 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The lowest and highest of these ids, by which a statement finds the ranges of a divided table: it finds none by an array. */
export function spanOf(ids: readonly string[]): [lowest: string, highest: string] {
  let [lowest, highest] = [newest, oldest];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  return [lowest, highest];
}

/** When the id was created, in ms. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Minutes since 1970 when the id was created, as `minute_of` in SQL. */
export function minuteOfId(id: string): number {
  return Math.floor(timeOfId(id) / 60_000);
}
