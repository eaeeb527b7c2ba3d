// Nanoseconds as people read them.

const moment = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});

/** From the first to the second in milliseconds; null where one is absent. Negative where the clocks disagree. */
export function millisecondsBetween(start: string | null, end: string | null): number | null {
  if (!isNanos(start) || !isNanos(end)) return null;
  return Number(BigInt(end) - BigInt(start)) / 1e6;
}

/** The moment in this place's words, and to the nanosecond. */
export function momentText(nanos: string): { text: string; exact: string } {
  if (!isNanos(nanos)) return { text: nanos, exact: nanos };
  const at = new Date(Number(BigInt(nanos) / 1_000_000n));
  const fraction = (BigInt(nanos) % 1_000_000_000n).toString().padStart(9, "0");
  return { text: moment.format(at), exact: at.toISOString().replace(/\.\d+Z$/, `.${fraction}Z`) };
}

function isNanos(nanos: string | null): nanos is string {
  return nanos !== null && /^\d{1,20}$/.test(nanos);
}
