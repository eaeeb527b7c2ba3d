// One page of a list, newest first: ids are time-ordered UUIDs, so the id alone is both order and cursor.

/** At most `rowsMax` rows whose id is below `before`. */
export type Listing = { before: string; rowsMax: number };

/** Above every UUID that is made: the `before` of a first page. */
export const newest = "ffffffff-ffff-ffff-ffff-ffffffffffff";
