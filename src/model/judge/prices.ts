// Prices of judge models by date; unknown prices are never guessed.
import type { JudgeProvider } from "./call.ts";

/** Usage of the judge. `costUsd` excludes `unpricedTokens`, the tokens of models without a known price. */
export type JudgeUse = {
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  unpricedTokens: number;
  /** Tokens of calls whose server reported no usage; they are part of the others. */
  estimatedTokens: number;
};

/** US dollars per million tokens, valid from `validFrom` (YYYY-MM-DD) until a later entry for the same model. */
export type Price = {
  provider: JudgeProvider;
  model: string;
  validFrom: string;
  inputUsd: number;
  outputUsd: number;
};

/** A project's own price, which applies to every provider of the model. */
export type OwnPrice = Omit<Price, "provider">;

/**
 * The price of `model` on `day` (YYYY-MM-DD): the project's own, else the built-in one. A dated snapshot costs the same
 * as its model. Undefined if unknown.
 */
export function priceOf(
  own: OwnPrice[],
  { provider, model }: Pick<Price, "provider" | "model">,
  day: string,
): OwnPrice | undefined {
  return (
    latest(own, model, day) ??
    latest(
      builtInPrices.filter(price => price.provider === provider),
      model,
      day,
    )
  );
}

/** The cost in US dollars. */
export function costOf(
  { inputUsd, outputUsd }: Pick<Price, "inputUsd" | "outputUsd">,
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
): number {
  return (inputTokens * inputUsd + outputTokens * outputUsd) / 1_000_000;
}

function latest(prices: OwnPrice[], model: string, day: string): OwnPrice | undefined {
  const valid = prices.filter(price => price.validFrom <= day);
  const exact = valid.filter(price => price.model === model);
  const found = exact.length > 0 ? exact : valid.filter(price => isSnapshotOf(price.model, model));
  return found.reduce<OwnPrice | undefined>(
    (a, b) => (a === undefined || b.validFrom > a.validFrom ? b : a),
    undefined,
  );
}

/** Snapshots end in a date or -latest: gpt-5.4-mini-2026-03-17, claude-haiku-4-5-20251001. */
function isSnapshotOf(family: string, model: string): boolean {
  return (
    model.startsWith(`${family}-`) && /^(\d{4}-?\d{2}-?\d{2}|latest)$/.test(model.slice(family.length + 1))
  );
}

/**
 * Built-in prices; a project's own take precedence. List prices for short prompts such as ours, without discounts for
 * caching and batches, from the providers' pages in October 2026:
 * developers.openai.com/api/docs/pricing, platform.claude.com/docs/about-claude/pricing,
 * ai.google.dev/gemini-api/docs/pricing.
 */
export const builtInPrices: Price[] = [
  openai("gpt-6-sol", "2026-09-22", 2, 10),
  openai("gpt-6-luna", "2026-09-22", 0.1, 0.5),
  openai("gpt-5.6-terra", "2026-07-30", 2, 12),
  openai("gpt-5.6-luna", "2026-07-30", 0.2, 1.2),
  openai("gpt-5.5", "2026-04-30", 5, 30),
  openai("gpt-5.4", "2026-03-05", 2.5, 15),
  openai("gpt-5.4-mini", "2026-03-17", 0.75, 4.5),
  openai("gpt-5.4-nano", "2026-03-17", 0.2, 1.25),
  anthropic("claude-opus-5-5", "2026-09-22", 4, 20),
  anthropic("claude-opus-5", "2026-07-24", 5, 25),
  anthropic("claude-sonnet-5-5", "2026-09-29", 2, 10),
  anthropic("claude-sonnet-5", "2026-06-30", 2, 10),
  anthropic("claude-sonnet-4-5", "2025-09-29", 3, 15),
  anthropic("claude-haiku-5-5", "2026-10-07", 0.1, 0.5),
  anthropic("claude-haiku-4-5", "2025-10-15", 1, 5),
  // A price announced to end.
  google("gemini-3.8-flash", "2026-10-07", 0.75, 3.75),
  google("gemini-3.8-flash", "2027-01-01", 1.5, 7.5),
  google("gemini-3.5-flash", "2026-10-07", 1.5, 9),
  google("gemini-3.5-flash-lite", "2026-10-07", 0.3, 2.5),
  google("gemini-3.1-pro-preview", "2026-10-07", 2, 12),
];

function openai(model: string, validFrom: string, inputUsd: number, outputUsd: number): Price {
  return { provider: "openai", model, validFrom, inputUsd, outputUsd };
}

function anthropic(model: string, validFrom: string, inputUsd: number, outputUsd: number): Price {
  return { provider: "anthropic", model, validFrom, inputUsd, outputUsd };
}

function google(model: string, validFrom: string, inputUsd: number, outputUsd: number): Price {
  return { provider: "google", model, validFrom, inputUsd, outputUsd };
}
