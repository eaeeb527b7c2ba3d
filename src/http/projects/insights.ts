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
import { failingView } from "../alerts/view.ts";
import type { App, Deps } from "../deps.ts";
import { type AgreementDeps, correctedRates, keyOfCheck } from "../judge/agreement.ts";
import { listingOf, PageQuery, pageOf } from "../page.ts";
import { Id, pageSchema } from "../schemas.ts";
import { tallyView } from "../tally.ts";
import { AgentDay, Insights, type Series, stripDays, TestInsights } from "./insights-schemas.ts";
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

const InsightsQuery = SpanQuery.extend({
  by: z.enum(["agent", "test", "check"]).default("agent"),
  testId: Id.optional().describe("By test or check: only this test."),
});

export function registerInsights(app: App, deps: Deps & AgreementDeps): void {
  const { db } = deps;
  const tags = ["insights"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/agents/:id/insights",
    {
      schema: {
        tags,
        summary: "Get an agent's results over time, by agent, test or check",
        params,
        querystring: InsightsQuery,
        response: { 200: Insights },
      },
    },
    async ({ params: { id: agentId }, query }) => {
      const span = spanOf(query, new Date());
      const { from, to, interval } = span;
      const about = { from: from.toISOString(), to: to.toISOString(), interval };
      if (query.by === "agent") {
        const hours = await listAgentHours(db, agentId, span);
        const points = sumIntervals(hours, interval).map(agentPointView);
        const { at: _, ...total } = agentPointView(hours.reduce(addHour, noHour()));
        return { ...about, series: [{ testId: null, checkId: null, name: null, points }], total };
      }
      const list = query.by === "test" ? listTestPoints : listCheckPoints;
      const points = await list(db, { agentId, testId: query.testId }, span, pointsMax + 1);
      if (points.length > pointsMax)
        throw tooManyPoints("Use days instead of hours, a shorter time range, or testId for one test.");
      const series = seriesOf(points);
      if (query.by === "test") return { ...about, series };
      const rates = await correctedRates(deps, { agentId, testId: query.testId }, span);
      return { ...about, series: series.map(one => ({ ...one, corrected: correctedOf(one, rates) })) };
    },
  );

  app.get(
    "/api/projects/:id/insights/agents",
    {
      schema: {
        tags,
        summary: "List a project's agents with their last trace and the last 24 hours, newest first",
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(AgentDay) },
      },
    },
    async ({ params: { id }, query }) => {
      const { from } = lastDay(new Date());
      const cards = await listAgentCards(db, id, from, listingOf(query));
      const views = cards.map(({ lastTraceAt, runs, routingUnavailable, id, ...counts }) => ({
        id,
        lastTraceAt: lastTraceAt?.toISOString() ?? null,
        runs,
        routingUnavailable,
        ...tallyView(counts),
      }));
      return pageOf(views, query);
    },
  );

  app.get(
    "/api/agents/:id/tests/insights",
    {
      schema: {
        tags,
        summary: `List an agent's tests with their last outcome and the last ${stripDays} days, newest first`,
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(TestInsights) },
      },
    },
    async ({ params: { id }, query }) => {
      const today = floorTo(Date.now(), dayMs).getTime();
      const first = today - (stripDays - 1) * dayMs;
      const strips = await listTestStrips(db, id, new Date(first), listingOf(query));
      const failing = await findFailing(
        db,
        strips.map(({ id }) => id),
      );
      const views = strips.map(({ lastRunAt, lastManualRunAt, days, ...strip }) => {
        const known = new Map(days.map(day => [new Date(day.at).getTime(), day]));
        return {
          ...strip,
          lastRunAt: lastRunAt?.toISOString() ?? null,
          lastManualRunAt: lastManualRunAt?.toISOString() ?? null,
          failing: failingView(failing.get(strip.id)),
          days: Array.from({ length: stripDays }, (_, day) => first + day * dayMs).map(at => ({
            at: new Date(at).toISOString(),
            ...tallyView(known.get(at) ?? nothing),
          })),
        };
      });
      return pageOf(views, query);
    },
  );
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
    at: at.toISOString(),
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
    last.points.push({ at: at.toISOString(), ...tallyView(counts) });
  }
  return series;
}
