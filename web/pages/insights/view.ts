// The insights' view as read from the URL: grouping, time range, interval and form.

import type { Insights } from "../../../src/http/projects/insights-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { instantOf } from "../../instant.ts";
import type { By, InsightsAsk, Interval } from "../../queries/insights-span.ts";
import { noTimeText, unknownValueText } from "../../unknown-value.ts";

type Name = "by" | "range" | "from" | "to" | "interval" | "testId" | "form";
/** The query string; its names are those of the route. */
export type Search = { [N in Name]?: string | undefined };

export const ranges = { "24h": "24 hours", "7d": "7 days", "30d": "30 days", custom: "Custom" } as const;
export type Range = keyof typeof ranges;
export const bys: Record<By, string> = {
  agent: "Agent",
  model: "Models",
  test: "Test cases",
  check: "Checks",
  redaction: "Redactions",
};

/** Whether a grouping has charts over time of its own, and no tests. */
export function isWholeAgent(by: By): boolean {
  return by === "agent" || by === "model" || by === "redaction";
}
export const intervals: Record<Interval, string> = { hour: "Hours", day: "Days" };
export const forms = { chart: "Charts", table: "Table" } as const;
export type Form = keyof typeof forms;

export type View = {
  by: By;
  range: Range;
  interval: Interval;
  testId: string | undefined;
  form: Form;
  /** Of a custom range, ISO 8601. */
  from: string | undefined;
  to: string | undefined;
};

const hours = { "24h": 24, "7d": 168, "30d": 720 };
const hourMs = 3_600_000;
/** The API's limits for one request. */
const hoursMax = 31 * 24;
const daysMax = 366;

const choices = {
  by: ["Group by", bys],
  range: ["Time range", ranges],
  interval: ["Interval", intervals],
  form: ["View", forms],
} as const;

/** What is wrong with the URL: values that the page does not know, or does not use. */
export function faultsOf(search: Search): string[] {
  const unknown = (["by", "range", "interval", "form"] as const).flatMap(name => {
    const [label, known] = choices[name];
    const value = search[name];
    return !value || Object.hasOwn(known, value) ? [] : [unknownValueText(label, value)];
  });
  const isCustom = viewOf(search).range === "custom";
  const times = (["from", "to"] as const).flatMap(name => {
    const [label, value] = [name === "from" ? "From" : "To", search[name]];
    if (!value) return [];
    if (!instantOf(value)) return [noTimeText(label, value)];
    return isCustom ? [] : [`${label}: used only with the time range “Custom”.`];
  });
  return [...unknown, ...times];
}

/** Unknown values count as absent. Without a range, times are those of a custom one. */
export function viewOf(search: Search): View {
  const by = oneOf(bys, search.by) ?? "agent";
  const [from, to] = [instantOf(search.from), instantOf(search.to)];
  const range = oneOf(ranges, search.range) ?? (from || to ? "custom" : "24h");
  const asked = oneOf(intervals, search.interval);
  const testId = isWholeAgent(by) ? undefined : search.testId;
  const view = { by, range, testId, form: oneOf(forms, search.form) ?? "chart", from, to };
  if (range === "24h") return { ...view, interval: "hour" };
  if (range === "custom") {
    const length = hoursOf(from, to);
    const interval = length > hoursMax ? "day" : (asked ?? (length > 240 ? "day" : "hour"));
    return { ...view, interval };
  }
  const fine = range === "7d" && (isWholeAgent(by) || (by === "test" && testId !== undefined));
  return { ...view, interval: asked ?? (fine ? "hour" : "day") };
}

/** Whether the range can be shown by hour and by day. */
export function hasChoice({ range, from, to }: View): boolean {
  return range === "custom" ? hoursOf(from, to) <= hoursMax : range !== "24h";
}

export function askOf({ by, range, interval, testId, from, to }: View): InsightsAsk {
  return { by, interval, testId, span: range === "custom" ? { from, to } : { hours: hours[range] } };
}

/** Why a custom range cannot be shown. */
export function rangeFault(from: string | undefined, to: string | undefined): string | undefined {
  const length = hoursOf(from, to);
  if (length <= 0) return "Must be before the end.";
  if (length > daysMax * 24) return `Choose at most ${daysMax} days.`;
  return undefined;
}

function hoursOf(from: string | undefined, to: string | undefined): number {
  if (from === undefined) return 24;
  return ((to === undefined ? Date.now() : Date.parse(to)) - Date.parse(from)) / hourMs;
}

function oneOf<T extends string>(known: Record<T, unknown>, text: string | undefined): T | undefined {
  return text !== undefined && Object.hasOwn(known, text) ? (text as T) : undefined;
}

/** What a number counts: evaluations of the agent by verdict or routing, or a test's results by outcome. */
export type Counted = {
  testId?: string | undefined;
  outcome?: Outcome;
  /** Of the evaluation, or of the result of the test. */
  fullyEvaluated?: boolean;
  routing?: "unavailable";
  model?: string;
  redacted?: string;
};

/** Of a number that leaves out the ones not fully evaluated, if there are any. */
export function countedOnly({ notFullyEvaluated }: { notFullyEvaluated: number }): Counted {
  return notFullyEvaluated > 0 ? { fullyEvaluated: true } : {};
}

/** The URL of the traces or test results that a number counts; `at` (ms) narrows to one interval. */
export type CountedUrl = (counted: Counted, at?: number) => string;

export function countedUrl(
  { projectId, agentId }: { projectId: string; agentId: string },
  insights: Pick<Insights, "from" | "to" | "interval">,
): CountedUrl {
  const agent = `/projects/${projectId}/agents/${agentId}`;
  return ({ testId, outcome, fullyEvaluated, routing, model, redacted }, at) => {
    const from = at === undefined ? insights.from : new Date(at).toISOString();
    const to = at === undefined ? insights.to : new Date(at + lengthOf(insights.interval)).toISOString();
    const fully = fullyEvaluated === undefined ? {} : { fullyEvaluated: String(fullyEvaluated) };
    if (testId !== undefined) {
      const search = new URLSearchParams({ from, to, ...(outcome && { outcome }), ...fully });
      return `${agent}/tests/${testId}/results?${search}`;
    }
    const filters = {
      ...(outcome && { verdict: outcome }),
      ...fully,
      ...(routing && { routing }),
      ...(model && { model }),
      ...(redacted && { redacted }),
    };
    // Traces of manual runs are in no rollup but that of redactions.
    const kind = redacted ? {} : { kind: "live" };
    return `${agent}/traces?${new URLSearchParams({ ...kind, receivedFrom: from, receivedTo: to, ...filters })}`;
  };
}

export function lengthOf(interval: Interval): number {
  return interval === "hour" ? hourMs : 24 * hourMs;
}
