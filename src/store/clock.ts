// The clock of this process and the database's. Ids have the time of the process, by which traces are found and divided, so
// one whose clock is further off than searches allow for must not store.

import { Refusal } from "../model/refusal.ts";
import type { Session } from "./db.ts";
import { clockSlackMs, timeOfId } from "./listing.ts";

/** How far the clock of this process is ahead of the database's, in ms; negative: behind. Within the time that asking takes. */
export async function clockAheadMs(pool: Session): Promise<number> {
  const asked = Date.now();
  const { rows } = await pool.query<{ now: number }>({
    name: "read_clock",
    text: "select extract(epoch from clock_timestamp())::float8 * 1000 as now",
  });
  return (asked + Date.now()) / 2 - rows[0]!.now;
}

export function isClockOff(aheadMs: number): boolean {
  return Math.abs(aheadMs) > clockSlackMs;
}

// As subqueries, which are evaluated once for all rows.
const [behind, ahead] = ["-", "+"].map(
  sign => `(select id_at(now() ${sign} ${clockSlackMs} * interval '1 ms'))`,
);

/** As SQL: whether an id was made in time, by the database's clock. */
export const isTimely = (id: string) => `${id} >= ${behind} and ${id} < ${ahead}`;

/** As SQL: the database's time in ms if an id was not made in time, else null. */
export const lateAt = (id: string) =>
  `case when not (${isTimely(id)}) then extract(epoch from now())::float8 * 1000 end`;

/** For an id that is not timely. `now`: of the database, in ms. */
export function clockIsOff(id: string, now: number): Refusal {
  const minutes = Math.round((timeOfId(id) - now) / 60_000);
  const offset = `${Math.abs(minutes)} minutes ${minutes < 0 ? "behind" : "ahead of"}`;
  return new Refusal("UNAVAILABLE", {
    message: `The clock of the service is ${offset} the database's; this was not saved.`,
    hint: "Set the clocks of both machines, such as by NTP, then send it again.",
  });
}
