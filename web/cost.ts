// Words for the cost of traces and of calls of models, and for why it is not known.
import type { TraceOutline } from "../src/http/traces/schemas.ts";
import { numberText } from "./format.ts";
import { moneyText } from "./money.ts";

type Cost = Pick<TraceOutline, "costUsd" | "knownCostUsd" | "unpriced">;
type Unpriced = TraceOutline["unpriced"][number];

/** "$0.0041", "at least $0.0041", "unknown cost"; undefined without calls of models. */
export function costText({ costUsd, knownCostUsd, unpriced }: Cost): string | undefined {
  if (costUsd !== null) return moneyText(costUsd);
  if (unpriced.length === 0) return undefined;
  return knownCostUsd === null ? "unknown cost" : `at least ${moneyText(knownCostUsd)}`;
}

/** Why the cost of a call is not known, as a sentence without its end. */
export function whyText({ model, why }: Pick<Unpriced, "model" | "why">): string {
  switch (why) {
    case "no_price":
      return `No price for ${model}. Add one under Project settings, Prices`;
    case "long_prompt":
      return `The known price of ${model} is for shorter prompts. Add your own under Project settings, Prices`;
    case "no_model":
      return "Some tokens name no model";
    case "no_tokens":
      return model === null ? "A call has no token counts" : `A call of ${model} has no token counts`;
  }
}

/** Each reason once. */
export function whyTexts({ unpriced }: Pick<Cost, "unpriced">): string[] {
  return [...new Set(unpriced.map(whyText))];
}

/** "400 cached"; null if nothing was. */
export function cachedText(cached: number | null): string | null {
  return cached ? `${numberText(cached)} cached` : null;
}
