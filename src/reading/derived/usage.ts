// What a trace's calls of models used, by model, and what that costs on a day.

import { costOf, PriceList } from "../../model/price/price.ts";
import type { OwnPrice } from "../../model/price/rates.ts";
import type { PricedCall, Unpriced } from "../../model/trace/shown.ts";
import { storableName } from "../../model/trace/storable.ts";
import type { ModelCall } from "../../model/trace/trace.ts";

/** Calls of one model. */
export type ModelUsage = {
  /** As sent; null: not known. */
  provider: string | null;
  model: string | null;
  /** The prompts of these calls have more tokens than this, and at most as many as the next of `promptBounds`. */
  promptAbove: number;
  calls: number;
  /** Calls that say nothing of their tokens. */
  unmeasured: number;
  /** Includes cached tokens and those written to the cache. */
  inputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
};

/** Sizes of prompts above which some models cost more. */
export const promptBounds = [0, 100_000, 200_000, 272_000] as const;

/** Beyond these, models count as one that is not known. */
const modelsMax = 50;

export function usageOf(calls: ModelCall[]): ModelUsage[] {
  const found: ModelUsage[] = [];
  let others: ModelUsage | undefined;
  for (const call of calls) {
    const known = found.find(one => isSame(one, call));
    if (known) addTo(known, call);
    else if (found.length < modelsMax) found.push(addTo(first(call), call));
    else {
      others ??= first({ provider: null, model: null, promptAbove: 0 });
      addTo(others, call);
    }
  }
  for (const one of found) {
    one.provider &&= storableName(one.provider);
    one.model &&= storableName(one.model);
  }
  return others ? [...found, others] : found;
}

type Called = Pick<ModelUsage, "provider" | "model" | "promptAbove">;

function isSame(one: Called, other: Called): boolean {
  return (
    one.model === other.model && one.provider === other.provider && one.promptAbove === other.promptAbove
  );
}

function first({ provider, model, promptAbove }: Called): ModelUsage {
  return {
    provider,
    model,
    promptAbove,
    calls: 0,
    unmeasured: 0,
    inputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
  };
}

function addTo(usage: ModelUsage, call: ModelCall): ModelUsage {
  usage.calls += call.calls;
  if (!call.tokens) usage.unmeasured += call.calls;
  else {
    usage.inputTokens = sum(usage.inputTokens, call.tokens.input);
    usage.cachedTokens = sum(usage.cachedTokens, call.tokens.cached);
    usage.cacheWriteTokens = sum(usage.cacheWriteTokens, call.tokens.cacheWrite);
    usage.outputTokens = sum(usage.outputTokens, call.tokens.output);
  }
  return usage;
}

const sum = (a: number, b: number) => Math.min(a + b, Number.MAX_SAFE_INTEGER);

/**
 * `usd` is null unless all calls have a known price: a part would pass for the whole. `knownUsd` is that part, and null if
 * there is none.
 */
export type Cost = { usd: number | null; knownUsd: number | null; unpriced: Unpriced[] };

/** `day`: YYYY-MM-DD, that of the trace. */
export function costOfUsage(usage: ModelUsage[], prices: PriceList, day: string): Cost {
  let known: number | null = null;
  const unpriced: Unpriced[] = [];
  for (const one of usage) {
    const { provider, model, promptAbove, calls, unmeasured } = one;
    const tokens = one.inputTokens + one.outputTokens;
    if (unmeasured > 0) unpriced.push({ provider, model, why: "no_tokens", tokens: 0 });
    if (calls === unmeasured && tokens === 0) continue;
    const price = model === null ? undefined : prices.of({ provider, model, promptAbove }, day);
    if (price) known = (known ?? 0) + costOf(price, one);
    else if (tokens > 0) {
      const isLong = model !== null && promptAbove > 0 && prices.of({ provider, model }, day) !== undefined;
      const why = model === null ? "no_model" : isLong ? "long_prompt" : "no_price";
      unpriced.push({ provider, model, why, tokens });
    } else known ??= 0;
  }
  return { usd: unpriced.length === 0 ? known : null, knownUsd: known, unpriced };
}

/** The prices of a project's own, and the day of the trace. */
export type PricesOfDay = { own: OwnPrice[]; day: string };

export function costOfTrace(calls: ModelCall[], { own, day }: PricesOfDay): Cost & { calls: PricedCall[] } {
  const prices = new PriceList(own);
  const priced = calls.map((call): PricedCall => {
    const { spanId, provider, model, tokens } = call;
    const { usd, unpriced } = costOfUsage(usageOf([call]), prices, day);
    return { spanId, provider, model, tokens, costUsd: usd, why: unpriced[0]?.why ?? null };
  });
  return { ...costOfUsage(usageOf(calls), prices, day), calls: priced };
}

/** The day whose prices a trace has: UTC, by its arrival, because clocks of senders may be wrong. */
export function priceDayOf(receivedAt: Date): string {
  return receivedAt.toISOString().slice(0, 10);
}

/** Field names of the API. */
export function costView({ usd, knownUsd, unpriced }: Cost) {
  return { costUsd: usd, knownCostUsd: knownUsd, unpriced };
}

// A list of lists: half the size of objects, and this column is on every trace.
type Stored = [string | null, string | null, number, number, number, number, number, number, number];

export function encodeUsage(usage: ModelUsage[]): string {
  const rows = usage.map(
    (one): Stored => [
      ...([one.provider, one.model, one.promptAbove, one.calls, one.unmeasured] as const),
      ...([one.inputTokens, one.cachedTokens, one.cacheWriteTokens, one.outputTokens] as const),
    ],
  );
  return rows.length === 0 ? "" : JSON.stringify(rows);
}

export function decodeUsage(stored: string): ModelUsage[] {
  if (stored === "") return [];
  return (JSON.parse(stored) as Stored[]).map(
    ([
      provider,
      model,
      promptAbove,
      calls,
      unmeasured,
      inputTokens,
      cachedTokens,
      cacheWriteTokens,
      outputTokens,
    ]) => ({
      ...{ provider, model, promptAbove, calls, unmeasured },
      ...{ inputTokens, cachedTokens, cacheWriteTokens, outputTokens },
    }),
  );
}
