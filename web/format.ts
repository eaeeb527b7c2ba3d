// Formats numbers, percentages, durations and dates: one format each for the whole dashboard.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const nanos = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });
const moment = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });
const date = new Intl.DateTimeFormat("en-US", { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat("en-US", { timeStyle: "short" });
const exactMoment = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "medium" });
const exactClock = new Intl.DateTimeFormat("en-US", { timeStyle: "medium" });
const utc = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...options });
const utcDay = utc({ day: "numeric", month: "short" });

// For charts, whose hours and days are those of UTC.
export const utcDate = utc({ dateStyle: "medium" });
export const utcMoment = utc({ dateStyle: "medium", timeStyle: "short" });
export const utcHour = utc({ hour: "numeric" });

/** "12,345". */
export function numberText(value: number): string {
  return whole.format(value);
}

/** "12.3K", where space is short. */
export function shortText(value: number): string {
  return short.format(value);
}

/** A rate from 0 to 1 as "66.7%". Only 1 is "100%" and only 0 is "0%"; null is a dash. */
export function rateText(rate: number | null): string {
  if (rate === null) return "–";
  if (rate > 0 && rate < 0.001) return "< 0.1%";
  const nearest = Math.round(rate * 1000) / 10;
  return `${rate < 1 ? Math.min(99.9, nearest) : nearest}%`;
}

/** The interval of a rate in whole percents, as in "70–97%"; null is a dash. */
export function intervalText({ low, high }: { low: number | null; high: number | null }): string {
  if (low === null || high === null) return "–";
  return `${Math.round(low * 100)}–${Math.round(high * 100)}%`;
}

/** Milliseconds as "830 µs", "12.3 ms", "4.56 s", "3 min 20 s" or "2 h 5 min". */
export function durationText(ms: number): string {
  if (ms === 0) return "0 ms";
  if (ms < 0.9995) return `${three.format(ms * 1000)} µs`;
  if (ms < 999.5) return `${three.format(ms)} ms`;
  if (ms < 59_950) return `${three.format(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${whole.format(Math.floor(minutes / 60))} h ${minutes % 60} min`;
  return `${minutes} min ${seconds % 60} s`;
}

/** Two durations, exactly if their rounded texts would be the same although they differ. */
export function durationTexts(a: number, b: number): [string, string] {
  const [one, other] = [durationText(a), durationText(b)];
  return a === b || one !== other ? [one, other] : [`${nanos.format(a)} ms`, `${nanos.format(b)} ms`];
}

/** "Nov 3", in UTC; `at` is ISO 8601 or milliseconds. */
export function dayText(at: string | number): string {
  return utcDay.format(new Date(at));
}

/** "Nov 21, 2026, 11:34 PM", in the viewer's time zone, as the next four; `at` is ISO 8601 or milliseconds. */
export function momentText(at: string | number): string {
  return moment.format(new Date(at));
}

/** "Nov 21, 2026". */
export function dateText(at: string | number): string {
  return date.format(new Date(at));
}

/** "11:34 PM". */
export function clockText(at: string | number): string {
  return clock.format(new Date(at));
}

/** "Nov 21, 2026, 11:34:56 PM", where seconds matter. */
export function exactMomentText(at: string | number): string {
  return exactMoment.format(new Date(at));
}

/** The same, with a fraction of the second: "Nov 21, 2026, 11:34:56.123456789 PM". */
export function fractionText(at: number, fraction: string): string {
  const parts = exactMoment.formatToParts(at);
  return parts.map(({ type, value }) => (type === "second" ? `${value}.${fraction}` : value)).join("");
}

/** "11:34:56 PM". */
export function exactClockText(at: string | number): string {
  return exactClock.format(new Date(at));
}

/** "3 of 4 tests passed": of those that passed or failed, as in pass rates; undefined if there are none. */
export function passedText(
  { passed, failed }: { passed: number; failed: number },
  noun: "test" | "check",
): string | undefined {
  const evaluated = passed + failed;
  if (evaluated === 0) return undefined;
  return `${numberText(passed)} of ${numberText(evaluated)} ${noun}${evaluated === 1 ? "" : "s"} passed`;
}
