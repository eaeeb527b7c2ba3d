// Dates and times of the insights, in UTC: the server counts by hour and day of UTC.
import { utcDate as date, dayText, utcHour as hour, utcMoment as moment } from "../../format.ts";
import type { Interval } from "../../queries/insights-span.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** "Nov 20, 2026, 2 PM – 3 PM" or "Nov 20, 2026". */
export function intervalText(at: number, interval: Interval): string {
  const day = date.format(at);
  return interval === "day" ? day : `${day}, ${hour.format(at)} – ${hour.format(at + hourMs)}`;
}

/** "Nov 20, 2026, 2:00 PM – Nov 21, 2026, 2:00 PM", or "Nov 20 – 21, 2026", the last day included. */
export function rangeText(from: number, to: number, interval: Interval): string {
  return interval === "day" ? date.formatRange(from, to - 1) : moment.formatRange(from, to);
}

/** A tick of the time axis: "2 PM", or "Nov 20" where a day begins. */
export function tickText(at: number, interval: Interval): string {
  return interval === "hour" && at % dayMs !== 0 ? hour.format(at) : dayText(at);
}
