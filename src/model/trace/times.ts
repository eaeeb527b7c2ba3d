// Orders spans and log records by their times.
import type { Span } from "./trace.ts";

/**
 * Compares two times as decimal uint64 text, without converting them to numbers. Empty text is lowest.
 */
export function compareNanos(a: string, b: string): number {
  const x = withoutLeadingZeros(a);
  const y = withoutLeadingZeros(b);
  return x.length - y.length || compareText(x, y);
}

/** Compares two spans by start time; spans without one come last. */
export function compareStarts(a: Span, b: Span): number {
  return compareNanos(a.start_time_unix_nano ?? afterAllTimes, b.start_time_unix_nano ?? afterAllTimes);
}

/** Greater than any uint64. */
const afterAllTimes = "9".repeat(21);

/** By start, end and id. */
export function compareSpans(a: Span, b: Span): number {
  return (
    compareStarts(a, b) ||
    compareNanos(a.end_time_unix_nano ?? afterAllTimes, b.end_time_unix_nano ?? afterAllTimes) ||
    compareText(a.span_id, b.span_id)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function withoutLeadingZeros(nanos: string): string {
  return nanos.charCodeAt(0) === 48 ? nanos.replace(/^0+(?=.)/, "") : nanos;
}
