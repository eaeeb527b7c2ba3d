// Times on screens, with the date and time on hover.
import { clockText, dateText, momentText } from "../format.ts";
import { useNow } from "./now.ts";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const dayMs = 86_400_000;

const units: [Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

type TimeProps = {
  /** ISO 8601. */
  at: string;
};

function Time({ at, text }: TimeProps & { text: string }) {
  return (
    <time dateTime={at} title={momentText(at)}>
      {text}
    </time>
  );
}

/** "5 minutes ago"; from a day on "Nov 21, 2026, 11:34 PM". */
export function RelativeTime({ at }: TimeProps) {
  const now = useNow(30_000);
  const isNear = Math.abs(Date.parse(at) - now) < dayMs;
  return <Time at={at} text={isNear ? relativeText(Date.parse(at), now) : momentText(at)} />;
}

/** "Nov 21, 2026, 11:34 PM". */
export function MomentTime({ at }: TimeProps) {
  return <Time at={at} text={momentText(at)} />;
}

/** "Nov 21, 2026". */
export function DayTime({ at }: TimeProps) {
  return <Time at={at} text={dateText(at)} />;
}

/** "11:34 PM", for times within hours. */
export function ClockTime({ at }: TimeProps) {
  return <Time at={at} text={clockText(at)} />;
}

export function relativeText(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  if (unit === "second")
    return Math.abs(seconds) < 45 ? "just now" : relative.format(Math.sign(seconds), "minute");
  return relative.format(Math.trunc(seconds / size), unit);
}

/** "retry at 11:34 PM, in 42 s", or "retrying now". */
export function NextTry({ at }: TimeProps) {
  const left = Date.parse(at) - useNow(1_000);
  if (left <= 0) return <>retrying now</>;
  return (
    <>
      retry at <ClockTime at={at} />, in <span className="figures">{remainingText(left)}</span>
    </>
  );
}

/** A countdown: "42 s", "12 min". */
export function remainingText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds <= 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
