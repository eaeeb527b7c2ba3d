// An agent's tokens and cost over time, by model.
import { PriceList } from "../../model/price/price.ts";
import { costOfUsage, type ModelUsage, priceDayOf } from "../../reading/derived/usage.ts";
import { listPricesOfAgent } from "../../store/judge/prices.ts";
import { listModelPoints, type ModelPoint } from "../../store/runs/model-hours.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { pointsMax, SpanQuery, spanOf, tooManyPoints } from "./insights-span.ts";
import { ModelInsights, type ModelTally } from "./model-insights-schemas.ts";

export function registerModelInsights(app: App, { db }: Deps): void {
  const route = routesOf(app, "insights");
  route("GET /api/agents/:id/insights/models", {
    access: "tokens",
    summary: "Get what an agent's evaluated traces used and cost over time, by model",
    query: SpanQuery,
    answer: ModelInsights,
    handler: async ({ id: agentId, query }) => {
      const span = spanOf(query, new Date());
      const points = await listModelPoints(db, agentId, span, pointsMax + 1);
      if (points.length > pointsMax)
        throw tooManyPoints("Use days instead of hours, or a shorter time range.");
      const prices = new PriceList(await listPricesOfAgent(db, agentId));
      const total = noTally();
      const series: (Pick<ModelUsage, "provider" | "model"> & { points: Point[]; total: ModelTally })[] = [];
      for (const point of points) {
        const { provider, model, at } = point;
        let last = series.at(-1);
        if (!last || last.provider !== provider || last.model !== model) {
          last = { provider, model, points: [], total: noTally() };
          series.push(last);
        }
        // Long prompts are counted apart.
        let shown = last.points.at(-1);
        if (shown?.at.getTime() !== at.getTime()) {
          shown = { at, ...noTally() };
          last.points.push(shown);
        }
        const tally = tallyOf(point, prices);
        for (const sum of [shown, last.total, total]) addTo(sum, tally);
      }
      series.sort((a, b) => b.total.costUsd - a.total.costUsd || tokensOf(b.total) - tokensOf(a.total));
      return { ...span, series, total };
    },
  });
}

type Point = ModelTally & { at: Date };

const noTally = (): ModelTally => ({
  calls: 0,
  unmeasuredCalls: 0,
  tokens: { input: 0, cached: 0, output: 0 },
  costUsd: 0,
  unpricedTokens: 0,
});

const tokensOf = ({ tokens: { input, output } }: ModelTally) => input + output;

function tallyOf({ at, ...usage }: ModelPoint, prices: PriceList): ModelTally {
  const { knownUsd, unpriced } = costOfUsage([usage], prices, priceDayOf(at));
  return {
    calls: usage.calls,
    unmeasuredCalls: usage.unmeasured,
    tokens: { input: usage.inputTokens, cached: usage.cachedTokens, output: usage.outputTokens },
    costUsd: knownUsd ?? 0,
    unpricedTokens: unpriced.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

function addTo(sum: ModelTally, one: ModelTally): void {
  sum.calls += one.calls;
  sum.unmeasuredCalls += one.unmeasuredCalls;
  sum.tokens.input += one.tokens.input;
  sum.tokens.cached += one.tokens.cached;
  sum.tokens.output += one.tokens.output;
  sum.costUsd += one.costUsd;
  sum.unpricedTokens += one.unpricedTokens;
}
