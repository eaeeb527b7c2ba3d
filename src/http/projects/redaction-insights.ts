// What privacy rules redacted in an agent's traces over time, by rule.
import { listRedactionPoints } from "../../store/traces/redactions.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { pointsMax, SpanQuery, spanOf, tooManyPoints } from "./insights-span.ts";
import { RedactionInsights } from "./redaction-insights-schemas.ts";

export function registerRedactionInsights(app: App, { db }: Deps): void {
  const route = routesOf(app, "insights");
  route("GET /api/agents/:id/insights/redactions", {
    access: "tokens",
    summary: "Get what privacy rules redacted in an agent's traces over time, by rule",
    query: SpanQuery,
    answer: RedactionInsights,
    handler: async ({ id: agentId, query }) => {
      const span = spanOf(query, new Date());
      const points = await listRedactionPoints(db, agentId, span, pointsMax + 1);
      if (points.length > pointsMax)
        throw tooManyPoints("Use days instead of hours, or a shorter time range.");
      const series = [...Map.groupBy(points, ({ rule }) => rule)].map(([rule, ofRule]) => ({
        rule,
        points: ofRule,
        total: sumOf(ofRule),
      }));
      series.sort((a, b) => b.total - a.total);
      return { ...span, series, total: sumOf(points) };
    },
  });
}

function sumOf(points: { count: number }[]): number {
  return points.reduce((sum, { count }) => sum + count, 0);
}
