// The built-in prices of models; a project's own take precedence.

import type { PriceProvider } from "./names.ts";
import type { Price } from "./rates.ts";

type Row = [model: string, validFrom: string, input: number, cached: number | null, output: number];

/**
 * List prices for standard requests, without discounts for batches and surcharges for regions, from the providers' pages
 * in October 2026: developers.openai.com/api/docs/pricing, platform.claude.com/docs/about-claude/pricing,
 * ai.google.dev/gemini-api/docs/pricing. A model that changed its price has a row for each; a first
 * row may begin before its model did.
 */
const openai: Row[] = [
  ["gpt-6-sol", "2026-09-22", 2, 0.2, 10],
  ["gpt-6-luna", "2026-09-22", 0.1, 0.01, 0.5],
  ["gpt-5.6-terra", "2026-07-09", 2.5, 0.25, 15],
  ["gpt-5.6-terra", "2026-07-30", 2, 0.2, 12],
  ["gpt-5.6-luna", "2026-07-09", 1, 0.1, 6],
  ["gpt-5.6-luna", "2026-07-30", 0.2, 0.02, 1.2],
  ["gpt-5.5", "2026-04-30", 5, 0.5, 30],
  ["gpt-5.4", "2026-03-05", 2.5, 0.25, 15],
  ["gpt-5.4-mini", "2026-03-17", 0.75, 0.075, 4.5],
  ["gpt-5.4-nano", "2026-03-17", 0.2, 0.02, 1.25],
  ["gpt-5.2", "2025-12-11", 1.75, 0.175, 14],
  ["gpt-5.1", "2025-11-13", 1.25, 0.125, 10],
  ["gpt-5", "2025-08-07", 1.25, 0.125, 10],
  ["gpt-5-mini", "2025-08-07", 0.25, 0.025, 2],
  ["gpt-5-nano", "2025-08-07", 0.05, 0.005, 0.4],
  ["gpt-4.1", "2025-04-14", 2, 0.5, 8],
  ["gpt-4.1-mini", "2025-04-14", 0.4, 0.1, 1.6],
  ["gpt-4.1-nano", "2025-04-14", 0.1, 0.025, 0.4],
  ["o4-mini", "2025-04-16", 1.1, 0.275, 4.4],
  ["o3", "2025-06-10", 2, 0.5, 8],
  ["o3-mini", "2025-01-31", 1.1, 0.55, 4.4],
  ["o1", "2024-12-17", 15, 7.5, 60],
  ["gpt-4o", "2024-10-02", 2.5, 1.25, 10],
  ["gpt-4o-2024-05-13", "2024-05-13", 5, null, 15],
  ["gpt-4o-mini", "2024-10-02", 0.15, 0.075, 0.6],
  ["gpt-4-turbo", "2024-04-09", 10, null, 30],
  ["gpt-3.5-turbo", "2024-02-16", 0.5, null, 1.5],
];

const anthropic: Row[] = [
  ["claude-opus-5-5", "2026-09-22", 4, 0.2, 20],
  ["claude-opus-5", "2026-07-24", 5, 0.5, 25],
  ["claude-opus-4-8", "2026-03-01", 5, 0.5, 25],
  ["claude-opus-4-7", "2026-03-01", 5, 0.5, 25],
  ["claude-opus-4-6", "2026-02-05", 5, 0.5, 25],
  ["claude-opus-4-5", "2025-11-24", 5, 0.5, 25],
  ["claude-opus-4-1", "2025-08-05", 15, 1.5, 75],
  ["claude-opus-4-0", "2025-05-22", 15, 1.5, 75],
  ["claude-opus-4", "2025-05-22", 15, 1.5, 75],
  ["claude-sonnet-5-5", "2026-09-29", 2, 0.2, 10],
  ["claude-sonnet-5-5", "2026-10-07", 2, 0.1, 10],
  ["claude-sonnet-5", "2026-06-30", 2, 0.2, 10],
  ["claude-sonnet-4-6", "2026-02-17", 3, 0.3, 15],
  ["claude-sonnet-4-5", "2025-09-29", 3, 0.3, 15],
  ["claude-sonnet-4-0", "2025-05-22", 3, 0.3, 15],
  ["claude-sonnet-4", "2025-05-22", 3, 0.3, 15],
  ["claude-3-7-sonnet", "2025-02-24", 3, 0.3, 15],
  ["claude-3-5-sonnet", "2024-06-20", 3, 0.3, 15],
  ["claude-haiku-5-5", "2026-10-07", 0.1, 0.01, 0.5],
  ["claude-haiku-4-5", "2025-10-15", 1, 0.1, 5],
  ["claude-3-5-haiku", "2024-12-05", 0.8, 0.08, 4],
];

const google: Row[] = [
  // A price announced to end.
  ["gemini-3.8-flash", "2026-10-07", 0.75, 0.075, 3.75],
  ["gemini-3.8-flash", "2027-01-01", 1.5, 0.15, 7.5],
  ["gemini-3.5-flash", "2026-10-07", 1.5, 0.15, 9],
  ["gemini-3.5-flash-lite", "2026-10-07", 0.3, 0.03, 2.5],
  ["gemini-3.1-pro-preview", "2026-10-07", 2, 0.2, 12],
  ["gemini-2.5-pro", "2025-06-17", 1.25, 0.125, 10],
  ["gemini-2.5-flash", "2025-06-17", 0.3, 0.03, 2.5],
  ["gemini-2.5-flash-lite", "2025-07-22", 0.1, 0.01, 0.4],
  ["gemini-2.0-flash", "2025-02-05", 0.1, 0.025, 0.4],
];

/** Where longer prompts cost more, by the start of the name. */
const promptsMax: [name: RegExp, tokens: number][] = [
  [/^gpt-(?:5\.[456]|6)/, 272_000],
  [/^gemini-.*-pro/, 200_000],
  [/^claude-sonnet-4(?:-0|-5)?$/, 200_000],
  [/^claude-haiku-5-5$/, 100_000],
];

/** Writing to the cache for five minutes costs 1.25 times the input wherever it costs more at all. */
const chargesForWriting = /^(?:claude-|gpt-5\.6|gpt-6)/;

function pricesOf(provider: PriceProvider, rows: Row[]): Price[] {
  return rows.map(([model, validFrom, inputUsd, cachedUsd, outputUsd]) => ({
    provider,
    model,
    validFrom,
    inputUsd,
    outputUsd,
    cachedUsd,
    cacheWriteUsd: chargesForWriting.test(model) ? Number((inputUsd * 1.25).toPrecision(6)) : null,
    promptMax: promptsMax.find(([name]) => name.test(model))?.[1] ?? null,
  }));
}

export const builtInPrices: Price[] = [
  ...pricesOf("openai", openai),
  ...pricesOf("anthropic", anthropic),
  ...pricesOf("google", google),
];
