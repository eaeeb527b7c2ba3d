// How a trace's figures are written.
import type { Tokens } from "../../../src/model/trace.ts";

const number = new Intl.NumberFormat("en");

export function numberText(value: number): string {
  return number.format(value);
}

/** "1,200 in, 340 out"; null where nothing is told. */
export function tokensText({ input, output }: Pick<Tokens, "input" | "output">): string | null {
  const parts = [
    input !== null && `${number.format(input)} in`,
    output !== null && `${number.format(output)} out`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : null;
}

/** "once", "twice", "5 times". */
export function timesText(times: number): string {
  return times === 1 ? "once" : times === 2 ? "twice" : `${number.format(times)} times`;
}
