// How the dashboard writes numbers, shares, durations and days: each one way, wherever it stands.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** "12,345". */
export function numberText(value: number): string {
  return whole.format(value);
}

/** "12.3K", where there is no room. */
export function shortText(value: number): string {
  return short.format(value);
}

/** Of a share from 0 to 1: "66.7 %". Only all is 100 %, and only nothing 0 %; null is a dash. */
export function rateText(rate: number | null): string {
  if (rate === null) return "–";
  if (rate > 0 && rate < 0.001) return "< 0.1 %";
  const nearest = Math.round(rate * 1000) / 10;
  return `${rate < 1 ? Math.min(99.9, nearest) : nearest} %`;
}

/** Of milliseconds: "830 µs", "12.3 ms", "4.56 s", "3 min 20 s", "2 h 5 min". */
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

/** "3 Nov", of UTC; `at` is ISO 8601 or milliseconds. */
export function dayText(at: string | number): string {
  return day.format(new Date(at));
}
