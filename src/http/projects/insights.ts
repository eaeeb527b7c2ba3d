// Insights: pass rates, durations and tokens over time, and recent figures for the lists of agents and tests.

import { z } from "zod";
import { addTo, type Histogram, percentile } from "../../model/run/histogram.ts";
import type { Counts, Tally } from "../../model/run/outcome.ts";
import { findFailing } from "../../store/alerts/test-states.ts";
import {
  type AgentPoint,
  listAgentCards,
  listAgentHours,
  listCheckPoints,
  listTestPoints,
  listTestStrips,
  type Span,
} from "../../store/runs/insights.ts";
import type { App, Deps } from "../frame/deps.ts";
import { listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Id, pageSchema } from "../frame/schemas.ts";
import { type AgreementDeps, correctedRates, keyOfCheck } from "../judge/agreement.ts";
import { tallyView } from "../tally.ts";
import { AgentDay, Insights, stripDays, TestInsights } from "./insights-schemas.ts";
import {
  dayMs,
  floorTo,
  lastDay,
  lengths,
  pointsMax,
  SpanQuery,
  spanOf,
  tooManyPoints,
} from "./insights-span.ts";

type Series = z.input<typeof Insights>["series"][number];

const InsightsQuery = SpanQuery.extend({
  by: z.enum(["agent", "test", "check"]).default("agent"),
  testId: Id.optional().describe("By test or check: only this test."),
});

export function registerInsights(app: App, deps: Deps & AgreementDeps): void {
  const route = routesOf(app, "insights");
  const { db } = deps;

  route("GET /api/agents/:id/insights", {
    access: "tokens",
    summary: "Get an agent's results over time, by agent, test or check",
    query: InsightsQuery,
    answer: Insights,
    handler: async ({ id: agentId, query }) => {
      const span = spanOf(query, new Date());
      if (query.by === "agent") {
        const hours = await listAgentHours(db, agentId, span);
        const points = sumIntervals(hours, span.interval).map(agentPointView);
        const { at: _, ...total } = agentPointView(hours.reduce(addHour, noHour()));
        return { ...span, series: [{ testId: null, checkId: null, name: null, points }], total };
      }
      const list = query.by === "test" ? listTestPoints : listCheckPoints;
      const points = await list(db, { agentId, testId: query.testId }, span, pointsMax + 1);
      if (points.length > pointsMax)
        throw tooManyPoints("Use days instead of hours, a shorter time range, or testId for one test.");
      const series = seriesOf(points);
      if (query.by === "test") return { ...span, series };
      const rates = await correctedRates(deps, { agentId, testId: query.testId }, span);
      return { ...span, series: series.map(one => ({ ...one, corrected: correctedOf(one, rates) })) };
    },
  });

  route("GET /api/projects/:id/insights/agents", {
    access: "tokens",
    summary: "List a project's agents with their last trace and the last 24 hours, newest first",
    query: PageQuery,
    answer: pageSchema(AgentDay),
    handler: async ({ id, query }) => {
      const { from } = lastDay(new Date());
      const cards = await listAgentCards(db, id, from, listingOf(query));
      const views = cards.map(({ lastTraceAt, runs, routingUnavailable, id, ...counts }) => ({
        id,
        lastTraceAt,
        runs,
        routingUnavailable,
        ...tallyView(counts),
      }));
      return pageOf(views, query);
    },
  });

  route("GET /api/agents/:id/tests/insights", {
    access: "tokens",
    summary: `List an agent's tests with their last outcome and the last ${stripDays} days, newest first`,
    query: PageQuery,
    answer: pageSchema(TestInsights),
    handler: async ({ id, query }) => {
      const today = floorTo(Date.now(), dayMs).getTime();
      const first = today - (stripDays - 1) * dayMs;
      const strips = await listTestStrips(db, id, new Date(first), listingOf(query));
      const failing = await findFailing(
        db,
        strips.map(({ id }) => id),
      );
      const views = strips.map(({ days, ...strip }) => {
        const known = new Map(days.map(day => [new Date(day.at).getTime(), day]));
        return {
          ...strip,
          failing: failing.get(strip.id) ?? null,
          days: Array.from({ length: stripDays }, (_, day) => first + day * dayMs).map(at => ({
            at: new Date(at),
            ...tallyView(known.get(at) ?? nothing),
          })),
        };
      });
      return pageOf(views, query);
    },
  });
}

const nothing: Tally = {
  ...{ passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 },
  not_fully_evaluated: 0,
};

/** Sums hours into intervals. */
function sumIntervals(hours: AgentPoint[], interval: Span["interval"]): AgentPoint[] {
  const points = new Map<number, AgentPoint>();
  for (const hour of hours) {
    const at = floorTo(hour.at.getTime(), lengths[interval]);
    const point = points.get(at.getTime()) ?? { ...noHour(), at };
    points.set(at.getTime(), addHour(point, hour));
  }
  return [...points.values()];
}

/** Null where some of the results are of another version of the test. */
function correctedOf(series: Series, rates: Awaited<ReturnType<typeof correctedRates>>): Series["corrected"] {
  const rate = rates.get(keyOfCheck(series));
  if (!rate) return null;
  const sum = (outcome: "passed" | "failed") =>
    series.points.reduce((total, { counts }) => total + counts[outcome], 0);
  return sum("passed") === rate.passed && sum("failed") === rate.failed ? rate.corrected : null;
}

function noHour(): AgentPoint {
  const none = { runs: 0, routingUnavailable: 0, inputTokens: 0, outputTokens: 0 };
  return { at: new Date(0), ...none, ...nothing, durations: [] };
}

/** Changes and returns `point`. */
function addHour(point: AgentPoint, { at: _, durations, ...numbers }: AgentPoint): AgentPoint {
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) point[name] += numbers[name];
  addTo(point.durations, durations);
  return point;
}

function agentPointView({
  at,
  runs,
  routingUnavailable,
  inputTokens,
  outputTokens,
  durations,
  ...counts
}: AgentPoint) {
  return {
    at,
    ...tallyView(counts),
    runs,
    routingUnavailable,
    durationMs: durationView(durations),
    tokens: { input: inputTokens, output: outputTokens },
  };
}

function durationView(durations: Histogram) {
  return { p50: percentile(durations, 0.5), p95: percentile(durations, 0.95) };
}

type CountedPoint = Counts & Partial<Tally> & { testId: string; checkId?: string; name: string; at: Date };

/** Groups consecutive points of the same test and check into series. */
function seriesOf(points: CountedPoint[]): Series[] {
  const series: Series[] = [];
  for (const { testId, checkId = null, name, at, ...counts } of points) {
    let last = series.at(-1);
    if (last?.testId !== testId || last.checkId !== checkId) {
      last = { testId, checkId, name, points: [] };
      series.push(last);
    }
    last.points.push({ at, ...tallyView(counts) });
  }
  return series;
}
