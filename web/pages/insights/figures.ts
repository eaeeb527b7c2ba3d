// Times as the insights write them; all are UTC.
import { dayText } from "../../format.ts";
import type { Interval } from "../../queries/insights.ts";

const utc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hourCycle: "h23", ...options });
const dayYear = utc({ day: "numeric", month: "short", year: "numeric" });
const hourMinute = utc({ hour: "2-digit", minute: "2-digit" });

/** "20 Nov 2026, 14:00–15:00" or "20 Nov 2026". */
export function intervalText(at: number, interval: Interval): string {
  const day = dayYear.format(at);
  return interval === "day" ? day : `${day}, ${hourMinute.format(at)}–${hourMinute.format(at + 3_600_000)}`;
}

/** "20 Nov 2026, 14:00 to 21 Nov 2026, 14:00", or the first day to the last. */
export function spanText(from: number, to: number, interval: Interval): string {
  const [first, last] = [dayYear.format(from), dayYear.format(interval === "day" ? to - 1 : to)];
  if (interval === "hour") return `${first}, ${hourMinute.format(from)} to ${last}, ${hourMinute.format(to)}`;
  return first === last ? first : `${first} to ${last}`;
}

/** Under an axis: the hour, and the day where one begins. */
export function tickText(at: number, interval: Interval): string {
  return interval === "hour" && at % 86_400_000 !== 0 ? hourMinute.format(at) : dayText(at);
}
