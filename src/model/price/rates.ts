// Prices of models: the rates of one, from a day on, of a provider or a project's own.
import type { PriceProvider } from "./names.ts";

/** US dollars per million tokens. */
export type Rates = {
  inputUsd: number;
  outputUsd: number;
  /** Input tokens read from the provider's cache; null or absent: as other input. */
  cachedUsd?: number | null;
  /** Input tokens written to the cache; null or absent: as other input. */
  cacheWriteUsd?: number | null;
};

/** A project's own price, which applies to every provider of the model. `validFrom`: YYYY-MM-DD, until a later price. */
export type OwnPrice = Rates & { model: string; validFrom: string };

export type Price = Required<OwnPrice> & {
  provider: PriceProvider;
  /** Tokens of a prompt up to which the price applies: longer ones cost more, and have no known price. Null: any. */
  promptMax: number | null;
};
