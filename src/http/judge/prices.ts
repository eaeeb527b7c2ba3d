// What judging costs by the million tokens: the prices that come with the service, and a project's own before them.
import { z } from "zod";
import { judgeProviders } from "../../model/judge/call.ts";
import { modelName } from "../../model/judge/connection.ts";
import { builtInPrices, type OwnPrice } from "../../model/judge/prices.ts";
import { type Issue, Refusal } from "../../model/refusal.ts";
import { listJudgePrices, replaceJudgePrices } from "../../store/judge/prices.ts";
import type { App, Deps } from "../deps.ts";
import { Day } from "../validate.ts";

const pricesMax = 200;

const usd = z.number("Must be a number.").min(0).max(1_000_000).describe("US dollars per million tokens.");

const Price = z.strictObject({
  model: modelName,
  validFrom: Day.describe("Until a later price of the same model."),
  inputUsd: usd,
  outputUsd: usd,
});

const Prices = z
  .object({
    own: z.array(Price).describe("By model, the latest first. They come before those that are built in."),
    builtIn: z.array(Price.extend({ provider: z.enum(judgeProviders) })),
  })
  .meta({ id: "JudgePrices" });

export function registerJudgePrices(app: App, { db }: Deps): void {
  const schema = { tags: ["judge"], params: z.object({ id: z.string() }) };

  app.get(
    "/api/projects/:id/judge/prices",
    { schema: { ...schema, summary: "What the models of judges cost", response: { 200: Prices } } },
    async ({ params }) => ({ own: await listJudgePrices(db, params.id), builtIn: builtInPrices }),
  );

  app.put(
    "/api/projects/:id/judge/prices",
    {
      schema: {
        ...schema,
        summary: "Replace the project's own prices; what was counted before stays as it is",
        body: z.object({ prices: z.array(Price).max(pricesMax) }),
        response: { 200: Prices },
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
      const message = "This model has a price from this day already.";
      issues.push({ path: `prices[${at}].validFrom`, message });
    }
    seen.add(name);
  }
  if (issues.length > 0) throw new Refusal("VALIDATION_ERROR", { issues });
}
