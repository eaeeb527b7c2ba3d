// What Insights ask the API for, and over which time.

export type Interval = "hour" | "day";
export type By = "agent" | "model" | "test" | "check" | "redaction";

export type InsightsAsk = {
  by: By;
  interval: Interval;
  testId: string | undefined;
  /** The last hours, or from one ISO 8601 time to another; if absent, the API's defaults. */
  span: { hours: number } | { from: string | undefined; to: string | undefined };
};

const hourMs = 3_600_000;
const lengths = { hour: hourMs, day: 24 * hourMs };

/** The time range as parameters of the API. */
export function insightsSpan({
  interval,
  span,
}: Pick<InsightsAsk, "interval" | "span">): Record<string, string | undefined> {
  if (!("hours" in span)) return { interval, ...span };
  return { interval, from: beginOf(span.hours, interval) };
}

/** By the hour: the hour in progress and so many before it. By the day: whole days (UTC), today included. */
function beginOf(hours: number, interval: Interval): string {
  const length = lengths[interval];
  const round = interval === "hour" ? Math.floor : Math.ceil;
  return new Date(round(Date.now() / length) * length - hours * hourMs).toISOString();
}
