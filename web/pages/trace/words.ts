// How a trace's figures are written.
import type { Counts, Outcome } from "../../../src/model/run.ts";
import type { Tokens } from "../../../src/model/trace.ts";
import { durationText, numberText } from "../../format.ts";
import { outcomes } from "../../labels.ts";

export { durationText, numberText };

/** "1,200 in, 340 out"; null where nothing is told. */
export function tokensText({ input, output }: Pick<Tokens, "input" | "output">): string | null {
  const parts = [
    input !== null && `${numberText(input)} in`,
    output !== null && `${numberText(output)} out`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : null;
}

const order: Outcome[] = ["passed", "failed", "skipped", "missing_instrumentation"];

/** "3 passed, 1 failed". */
export function countsText(counts: Counts): string {
  const told = order.filter(outcome => counts[outcome] > 0);
  return told.map(outcome => `${counts[outcome]} ${outcomes[outcome].text.toLowerCase()}`).join(", ");
}

/** "once", "twice", "5 times". */
export function timesText(times: number): string {
  return times === 1 ? "once" : times === 2 ? "twice" : `${numberText(times)} times`;
}
