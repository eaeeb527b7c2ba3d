// Generates the ids of new rows: UUIDv7, each above the last, because lists are in the order of their ids.
import { randomUUID } from "node:crypto";

/** As many ids fit in a millisecond: its count has the 12 bits after the version. */
const perMillisecond = 0x1000;

// Further ahead of the clock, ids are those of a clock that was wrong, and no trace with them is stored (clock.ts).
const aheadMaxMs = 600_000;

let lastMs = 0;
let count = 0;

/**
 * A UUIDv7 above every one that this thread generated before, also within a millisecond and after the clock was set back by
 * at most ten minutes. Ids of `crypto.randomUUIDv7` and of other threads are in random order within a millisecond.
 */
export function newId(): string {
  const now = Date.now();
  if (now > lastMs || now < lastMs - aheadMaxMs) {
    lastMs = now;
    count = 0;
  } else if (++count === perMillisecond) {
    lastMs += 1;
    count = 0;
  }
  const time = lastMs.toString(16).padStart(12, "0");
  const random = randomUUID().slice(19); // 62 random bits and the variant
  return `${time.slice(0, 8)}-${time.slice(8)}-${(0x7000 + count).toString(16)}-${random}`;
}
