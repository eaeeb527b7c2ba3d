// The time range of insights: hours or days, in UTC.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import type { Span } from "../../store/runs/insights.ts";
import { Instant } from "../frame/schemas.ts";

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
export const lengths = { hour: hourMs, day: dayMs };
/** The longest and the default time range, in intervals. */
const spansMax = { hour: 31 * 24, day: 366 };
const spansDefault = { hour: 24, day: 30 };
export const pointsMax = 20_000;

export const SpanQuery = z.object({
  from: Instant.optional().describe(
    "Default: the hour of `to` and the 24 before it, or 30 days before `to`.",
  ),
  to: Instant.optional().describe("Default: now. The interval that contains this time is the last one."),
  interval: z.enum(["hour", "day"]).default("hour").describe("Hours and days in UTC."),
});

export function floorTo(timeMs: number, lengthMs: number): Date {
  return new Date(Math.floor(timeMs / lengthMs) * lengthMs);
}

/** The last 24 hours: the hour in progress and the 24 before it, so that it is never less than that. */
export function lastDay(now: Date): Span {
  return spanOf({ interval: "hour" }, now);
}

/** Extends the time range to whole intervals. Throws VALIDATION_ERROR if it is empty, negative or too long. */
export function spanOf({ from, to, interval }: z.output<typeof SpanQuery>, now: Date): Span {
  const length = lengths[interval];
  // `to` is exclusive: a time on a boundary ends the previous interval.
  const end = floorTo((to ?? now).getTime() + length - 1, length);
  const begin = from ? floorTo(from.getTime(), length) : beginOf(to ?? now, end, interval);
  if (begin >= end) refuse("from", "Must be before `to`.");
  if (end.getTime() - begin.getTime() > spansMax[interval] * length) {
    refuse("from", `Must be at most ${spansMax[interval]} ${interval}s before \`to\`.`);
  }
  // ISO 8601 writes other years with a sign, which the answer cannot have.
  if ([begin, end].some(time => /^[+-]/.test(time.toISOString()))) {
    refuse("to", "The time range must be within the years 0 to 9999.");
  }
  return { from: begin, to: end, interval };
}

/** Days are those of the calendar, today included. */
function beginOf(to: Date, end: Date, interval: Span["interval"]): Date {
  const last = interval === "hour" ? floorTo(to.getTime(), hourMs) : end;
  return new Date(last.getTime() - spansDefault[interval] * lengths[interval]);
}

function refuse(path: string, message: string): never {
  throw new Refusal("VALIDATION_ERROR", { issues: [{ path, message }] });
}

export function tooManyPoints(hint: string): Refusal {
  return new Refusal("VALIDATION_ERROR", { message: `The result has more than ${pointsMax} points.`, hint });
}
