// Texts about conversations: how many turns, and their verdicts.
import type { ConversationSummary } from "../../../src/http/traces/conversations-schemas.ts";
import { numberText } from "../../format.ts";
import { counted, countsText } from "../../labels.ts";

type Counted = ConversationSummary["traces"];

/** "1,000+" where more were not counted. */
export const turnCount = ({ count, more }: Counted): string => `${numberText(count)}${more ? "+" : ""}`;

export function turnsText(traces: Counted): string {
  return traces.more ? `${turnCount(traces)} turns` : counted(traces.count, "turn");
}

/** "3 passed, 1 failed", of the last turns only where there are more. Empty if none was evaluated. */
export function verdictsText({ verdicts: { none: _, ...counts }, traces }: ConversationSummary): string {
  const text = countsText(counts);
  const isPart = traces.more || traces.count > verdictsMax;
  return text !== "" && isPart ? `${text} of the last ${verdictsMax}` : text;
}

const verdictsMax = 100;
