// What models cost, as far as it is known: dated, and never guessed.
import type { JudgeProvider } from "./judge-call.ts";

/** In US dollars per million tokens, from `validFrom` (YYYY-MM-DD) until a later entry of the same model. */
export type Price = {
  provider: JudgeProvider;
  model: string;
  validFrom: string;
  inputUsd: number;
  outputUsd: number;
};

/** The prices that come with the service; a project's own come first. */
export const builtInPrices: Price[] = [];
