// The response schemas of what a trace and its calls of models used and cost.
import { z } from "zod";

export const tokens = z.object({
  input: z.number().nullable(),
  output: z.number().nullable(),
  reasoning: z.number().nullable(),
  cached: z.number().nullable().describe("The part of the input that was read from the provider’s cache."),
  total: z.number().nullable(),
});

const Why = z
  .enum(["no_price", "long_prompt", "no_model", "no_tokens"])
  .describe("Why the cost is not known. long_prompt: the price applies to shorter prompts only.");

export const spanCall = {
  provider: z.string().nullable(),
  model: z.string().nullable(),
  costUsd: z.number().nullable().describe("Null if its price is not known."),
  why: Why.nullable(),
};

export const cost = {
  costUsd: z
    .number()
    .nullable()
    .describe("What its calls of models cost at the prices of its day; null unless all have a known price."),
  knownCostUsd: z
    .number()
    .nullable()
    .describe("What those with a known price cost: a lower bound where `costUsd` is null."),
  unpriced: z
    .array(
      z.object({
        provider: z.string().nullable(),
        model: z.string().nullable(),
        why: Why,
        tokens: z.number(),
      }),
    )
    .describe("Models of calls whose cost is not known."),
};
