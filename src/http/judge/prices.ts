// Prices per million tokens: built-in ones, and a project's own, which take precedence.

import { z } from "zod";
import { builtInPrices } from "../../model/price/built-in.ts";
import type { OwnPrice } from "../../model/price/rates.ts";
import { type Issue, Refusal } from "../../model/refusal.ts";
import { listJudgePrices, replaceJudgePrices } from "../../store/judge/prices.ts";
import type { App, Deps } from "../deps.ts";
import { JudgePrices, OwnPrice as Price } from "./schemas.ts";

const pricesMax = 200;

export function registerJudgePrices(app: App, { db }: Deps): void {
  const schema = { tags: ["judge"], params: z.object({ id: z.string() }) };

  app.get(
    "/api/projects/:id/judge/prices",
    { schema: { ...schema, summary: "Get the prices of judge models", response: { 200: JudgePrices } } },
    async ({ params }) => ({ own: await listJudgePrices(db, params.id), builtIn: builtInPrices }),
  );

  app.put(
    "/api/projects/:id/judge/prices",
    {
      schema: {
        ...schema,
        summary: "Replace the project's own prices; past costs stay unchanged",
        body: z.object({ prices: z.array(Price).max(pricesMax) }),
        response: { 200: JudgePrices },
      },
    },
    async ({ params, body }) => {
      requireDistinct(body.prices);
      await replaceJudgePrices(db, params.id, body.prices);
      return { own: await listJudgePrices(db, params.id), builtIn: builtInPrices };
    },
  );
}

function requireDistinct(prices: OwnPrice[]): void {
  const seen = new Set<string>();
  const issues: Issue[] = [];
  for (const [at, { model, validFrom }] of prices.entries()) {
    const name = `${validFrom} ${model}`;
    if (seen.has(name)) {
      const message = "This model already has a price from this day.";
      issues.push({ path: `prices[${at}].validFrom`, message });
    }
    seen.add(name);
  }
  if (issues.length > 0) throw new Refusal("VALIDATION_ERROR", { issues });
}
