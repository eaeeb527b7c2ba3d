// The price of a model on a day: a project's own, else the built-in one. Unknown prices are never guessed.

import { builtInPrices } from "./built-in.ts";
import { bareModel, makersOf, providersIn } from "./names.ts";
import type { OwnPrice, Rates } from "./rates.ts";

/** What was called. `promptAbove`: the prompt has more tokens than this. */
export type Called = { provider: string | null; model: string; promptAbove?: number };

/**
 * The price on `day` (YYYY-MM-DD); undefined if unknown. Traces name a model in many ways: with a date, the path of a
 * gateway or the prefix of a cloud. A name that is a project's own counts as it is sent.
 */
export function priceOf(own: OwnPrice[], called: Called, day: string): Rates | undefined {
  const { provider, model, promptAbove = 0 } = called;
  const bare = bareModel(model);
  const ownPrice = latest(own, model, day) ?? latest(own, bare, day);
  if (ownPrice) return ownPrice;
  const makers = makersOf(provider, providersIn(model));
  const found = latest(
    builtInPrices.filter(price => makers.includes(price.provider)),
    bare,
    day,
  );
  return found && (found.promptMax === null || promptAbove < found.promptMax) ? found : undefined;
}

/** Tokens of which `cachedTokens` and `cacheWriteTokens` are part of the input. */
export type Counted = {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
};

/** The cost in US dollars. */
export function costOf(
  { inputUsd, outputUsd, cachedUsd, cacheWriteUsd }: Rates,
  { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 }: Counted,
): number {
  const others = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  const sum =
    others * inputUsd +
    cachedTokens * (cachedUsd ?? inputUsd) +
    cacheWriteTokens * (cacheWriteUsd ?? inputUsd) +
    outputTokens * outputUsd;
  return sum / 1_000_000;
}

function latest<P extends OwnPrice>(prices: P[], model: string, day: string): P | undefined {
  const valid = prices.filter(price => price.validFrom <= day);
  const exact = valid.filter(price => price.model === model);
  const found = exact.length > 0 ? exact : valid.filter(price => isSnapshotOf(price.model, model));
  return found.reduce<P | undefined>(
    (a, b) => (a === undefined || b.validFrom > a.validFrom ? b : a),
    undefined,
  );
}

/** Snapshots end in a date, a version of three digits, or -latest: gpt-5.4-mini-2026-03-17, gemini-2.0-flash-001. */
function isSnapshotOf(family: string, model: string): boolean {
  return (
    model.startsWith(`${family}-`) &&
    /^(\d{4}-?\d{2}-?\d{2}|\d{3}|latest)$/.test(model.slice(family.length + 1))
  );
}

/** Finds prices for one list of own ones, each once: lists of traces ask for the same few models thousands of times. */
export class PriceList {
  readonly own: OwnPrice[];
  readonly #known = new Map<string, Rates | undefined>();

  constructor(own: OwnPrice[]) {
    this.own = own;
  }

  of(called: Called, day: string): Rates | undefined {
    const { provider, model, promptAbove = 0 } = called;
    const key = `${day} ${promptAbove} ${provider ?? ""}\n${model}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const price = priceOf(this.own, called, day);
    if (this.#known.size < knownMax) this.#known.set(key, price);
    return price;
  }
}

/** Senders may name any number of models. */
const knownMax = 10_000;
