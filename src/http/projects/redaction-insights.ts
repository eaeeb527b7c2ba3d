// What privacy rules redacted in an agent's traces over time, by rule.
import { z } from "zod";
import { listRedactionPoints } from "../../store/traces/redactions.ts";
import type { App, Deps } from "../deps.ts";
import { pointsMax, SpanQuery, spanOf, tooManyPoints } from "./insights-span.ts";
import { RedactionInsights } from "./redaction-insights-schemas.ts";

export function registerRedactionInsights(app: App, { db }: Deps): void {
  app.get(
    "/api/agents/:id/insights/redactions",
    {
      schema: {
        tags: ["insights"],
        summary: "Get what privacy rules redacted in an agent's traces over time, by rule",
        params: z.object({ id: z.string() }),
        querystring: SpanQuery,
        response: { 200: RedactionInsights },
      },
    },
    async ({ params: { id: agentId }, query }) => {
      const { from, to, interval } = spanOf(query, new Date());
      const points = await listRedactionPoints(db, agentId, { from, to, interval }, pointsMax + 1);
      if (points.length > pointsMax)
        throw tooManyPoints("Use days instead of hours, or a shorter time range.");
      const series = [...Map.groupBy(points, ({ rule }) => rule)].map(([rule, ofRule]) => ({
        rule,
        points: ofRule.map(({ at, count }) => ({ at: at.toISOString(), count })),
        total: sumOf(ofRule),
      }));
      series.sort((a, b) => b.total - a.total);
      return { from: from.toISOString(), to: to.toISOString(), interval, series, total: sumOf(points) };
    },
  );
}

function sumOf(points: { count: number }[]): number {
  return points.reduce((sum, { count }) => sum + count, 0);
}
