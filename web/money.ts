// Formats judge costs and token counts.
import { numberText } from "./format.ts";

const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const parts = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 3,
});

/** "$12.30", "$0.00412"; below a millionth of a dollar "< $0.000001". */
export function moneyText(usd: number): string {
  if (usd > 0 && usd < 0.000001) return "< $0.000001";
  return (usd > 0 && usd < 0.1 ? parts : dollars).format(usd);
}

type Use = { inputTokens: number; outputTokens: number; costUsd: number; unpricedTokens: number };

/** Undefined if tokens were used but none has a known price: the cost is unknown, not zero. */
export function costText({ inputTokens, outputTokens, costUsd, unpricedTokens }: Use): string | undefined {
  const tokens = inputTokens + outputTokens;
  // A test's share of the tokens of a call is a fraction.
  return tokens > 0 && tokens - unpricedTokens < 0.5 ? undefined : moneyText(costUsd);
}

/** "4,120 tokens in, 310 out". */
export function usedText({
  inputTokens,
  outputTokens,
}: {
  inputTokens: number;
  outputTokens: number;
}): string {
  return `${numberText(inputTokens)} tokens in, ${numberText(outputTokens)} out`;
}
