// Relative and absolute times and countdowns; the absolute time is shown on hover.
import { useNow } from "./now.ts";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

const units: [Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** `at` is ISO 8601. */
export function RelativeTime({ at }: { at: string }) {
  const now = useNow(30_000);
  return (
    <time dateTime={at} title={absolute.format(new Date(at))}>
      {relativeText(Date.parse(at), now)}
    </time>
  );
}

/** The day without the time. */
export function DayTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={absolute.format(new Date(at))}>
      {day.format(new Date(at))}
    </time>
  );
}

export function relativeText(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  if (unit === "second")
    return Math.abs(seconds) < 45 ? "just now" : relative.format(Math.sign(seconds), "minute");
  return relative.format(Math.trunc(seconds / size), unit);
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** The time of day, for times on the same day. */
export function ClockTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={absolute.format(new Date(at))}>
      {clock.format(new Date(at))}
    </time>
  );
}

/** "next try at 2:05 PM, in 42 s"; once it has passed, "next try now". */
export function NextTry({ at }: { at: string }) {
  const left = Date.parse(at) - useNow(1_000);
  if (left <= 0) return <>next try now</>;
  return (
    <>
      next try at <ClockTime at={at} />, in <span className="figures">{remainingText(left)}</span>
    </>
  );
}

/** A countdown: "42 s", "12 min". */
export function remainingText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds <= 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
