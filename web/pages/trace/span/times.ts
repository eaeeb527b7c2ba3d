// Formats nanosecond timestamps and differences.
import { exactMomentText, fractionText } from "../../../format.ts";

/** From the first to the second in milliseconds; null if either is absent. Negative if the clocks disagree. */
export function millisecondsBetween(start: string | null, end: string | null): number | null {
  if (!isNanos(start) || !isNanos(end)) return null;
  return Number(BigInt(end) - BigInt(start)) / 1e6;
}

/** "Nov 21, 2026, 11:34:05 PM" in the viewer's time zone; `exact` and `iso` (UTC) have nine decimals of the second. */
export function nanosText(nanos: string): { text: string; exact: string; iso: string } {
  if (!isNanos(nanos)) return { text: nanos, exact: nanos, iso: nanos };
  const at = new Date(Number(BigInt(nanos) / 1_000_000n));
  const fraction = (BigInt(nanos) % 1_000_000_000n).toString().padStart(9, "0");
  const exact = fractionText(at.getTime(), fraction);
  return {
    text: exactMomentText(at.getTime()),
    exact,
    iso: at.toISOString().replace(/\.\d+Z$/, `.${fraction}Z`),
  };
}

function isNanos(nanos: string | null): nanos is string {
  return nanos !== null && /^\d{1,20}$/.test(nanos);
}
