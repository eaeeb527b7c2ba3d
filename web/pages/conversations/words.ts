// Texts about conversations: how many turns, and their verdicts.
import type { ConversationSummary } from "../../../src/http/traces/conversations-schemas.ts";
import { numberText } from "../../format.ts";
import { countsText } from "../../labels.ts";

/** "1,000+" where more were not counted. */
export function turnsText({ count, more }: ConversationSummary["traces"]): string {
  return `${numberText(count)}${more ? "+" : ""}`;
}

/** "3 passed, 1 failed", of the last turns only where there are more. Empty if none was evaluated. */
export function verdictsText({ verdicts: { none: _, ...counts }, traces }: ConversationSummary): string {
  const text = countsText(counts);
  const isPart = traces.more || traces.count > verdictsMax;
  return text !== "" && isPart ? `${text} of the last ${verdictsMax}` : text;
}

const verdictsMax = 100;
