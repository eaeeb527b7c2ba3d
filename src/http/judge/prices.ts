// Prices per million tokens: built-in ones, and a project's own, which take precedence.

import { z } from "zod";
import { builtInPrices } from "../../model/price/built-in.ts";
import type { OwnPrice } from "../../model/price/rates.ts";
import { type Issue, Refusal } from "../../model/refusal.ts";
import { listJudgePrices, replaceJudgePrices } from "../../store/judge/prices.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { JudgePrices, OwnPrice as Price } from "./schemas.ts";

const pricesMax = 200;

export function registerJudgePrices(app: App, { db }: Deps): void {
  const route = routesOf(app, "judge");

  route("GET /api/projects/:id/judge/prices", {
    access: "tokens",
    summary: "Get the prices of judge models",
    answer: JudgePrices,
    handler: async ({ id }) => ({ own: await listJudgePrices(db, id), builtIn: builtInPrices }),
  });

  route("PUT /api/projects/:id/judge/prices", {
    access: "session",
    summary: "Replace the project's own prices; past costs stay unchanged",
    body: z.object({ prices: z.array(Price).max(pricesMax) }),
    answer: JudgePrices,
    handler: async ({ id, body }) => {
      requireDistinct(body.prices);
      await replaceJudgePrices(db, id, body.prices);
      return { own: await listJudgePrices(db, id), builtIn: builtInPrices };
    },
  });
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
