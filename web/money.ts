// How the dashboard writes what the judge costs, and the tokens that were used.
import { numberText } from "./format.ts";

const dollars = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 3,
});

/** "$0.00412", "$12.3"; less than a millionth is "< $0.000001". */
export function moneyText(usd: number): string {
  return usd > 0 && usd < 0.000001 ? "< $0.000001" : dollars.format(usd);
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
