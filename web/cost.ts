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

/** Characters. */
const nameMax = 60;

/** Why the cost of a call is not known, as a sentence without its end. */
export function whyText({ model: name, why }: Pick<Unpriced, "model" | "why">): string {
  const model = name !== null && name.length > nameMax ? `${name.slice(0, nameMax - 1)}…` : name;
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

const reasonsMax = 3;

/** Each reason once, at most three and how many more there are. */
export function whyTexts({ unpriced }: Pick<Cost, "unpriced">): string[] {
  const all = [...new Set(unpriced.map(whyText))];
  if (all.length <= reasonsMax) return all;
  return [...all.slice(0, reasonsMax), `${numberText(all.length - reasonsMax)} more models without a cost`];
}
