// Numbers and times as the insights write them; all times are UTC.
import type { Interval } from "../../queries/insights.ts";

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const utc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hourCycle: "h23", ...options });
const dayMonth = utc({ day: "numeric", month: "short" });
const dayYear = utc({ day: "numeric", month: "short", year: "numeric" });
const hourMinute = utc({ hour: "2-digit", minute: "2-digit" });

export const numberText = (number: number): string => whole.format(number);

/** For axes: "12K". */
export const shortText = (number: number): string => short.format(number);

/** Rounded down, so that only all is 100 %; null is a dash. */
export function rateText(rate: number | null): string {
  if (rate === null) return "–";
  if (rate > 0 && rate < 0.001) return "< 0.1 %";
  return `${Math.floor(rate * 1000 + 1e-9) / 10} %`;
}

export function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1_000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  return `${Math.round(ms / 6_000) / 10} min`;
}

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
  return interval === "hour" && at % 86_400_000 !== 0 ? hourMinute.format(at) : dayMonth.format(at);
}
