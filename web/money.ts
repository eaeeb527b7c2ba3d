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

const perMillion = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 6,
});

/** A price, exactly: "$0.125", "$2.00". */
export function priceText(usd: number): string {
  return perMillion.format(usd);
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

type Figures = { calls: number; inputTokens: number; outputTokens: number; costUsd: number | null };

/** "about 12 calls, 4,120 tokens in, 310 out: about $0.02. At most 37 calls and about $0.06, if every check …". */
export function estimateText({ atMost, ...about }: Figures & { atMost: Figures }): string {
  const { calls, costUsd } = about;
  const cost = costUsd === null ? "price unknown" : `about ${moneyText(costUsd)}`;
  const text = `about ${numberText(calls)} ${calls === 1 ? "call" : "calls"}, ${usedText(about)}: ${cost}.`;
  if (atMost.calls <= calls) return text;
  const most = atMost.costUsd === null ? "" : ` and about ${moneyText(atMost.costUsd)}`;
  return `${text} At most ${numberText(atMost.calls)} calls${most}, if every check needs two more votes and the judge is asked what its criteria are shown by.`;
}
