// The response schemas of tokens and cost by model over time.
import { z } from "zod";
import { Time } from "../frame/schemas.ts";

const tally = {
  calls: z.number().int(),
  unmeasuredCalls: z.number().int().describe("Calls that say nothing of their tokens."),
  tokens: z.object({
    input: z.number(),
    cached: z.number().describe("The part of the input that was read from the provider’s cache."),
    output: z.number(),
  }),
  costUsd: z.number().describe("Leaves out `unpricedTokens`."),
  unpricedTokens: z.number().describe("Input and output of calls without a known price."),
};
const ModelTally = z.object(tally);
export type ModelTally = z.output<typeof ModelTally>;

export const ModelInsights = z
  .object({
    from: Time,
    to: Time.describe("Exclusive."),
    interval: z.enum(["hour", "day"]),
    series: z
      .array(
        z.object({
          provider: z.string().nullable().describe("As traces send it."),
          model: z.string().nullable().describe("Null: tokens of which no span names the model."),
          points: z.array(
            z.object({
              at: Time.describe("Start of the interval. Those without calls are left out."),
              ...tally,
            }),
          ),
          total: ModelTally,
        }),
      )
      .describe("The most expensive first."),
    total: ModelTally,
  })
  .meta({ id: "ModelInsights" });
export type ModelInsights = z.output<typeof ModelInsights>;
