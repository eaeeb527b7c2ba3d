// How a trace's figures are written.
import type { Counts, Outcome } from "../../../src/model/run.ts";
import type { Tokens } from "../../../src/model/trace.ts";
import { outcomes } from "../../labels.ts";

const number = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function numberText(value: number): string {
  return number.format(value);
}

/** "830 µs", "12.3 ms", "4.56 s", "3 min 20 s", "2 h 5 min". */
export function durationText(ms: number): string {
  if (ms === 0) return "0 ms";
  if (ms < 0.9995) return `${short.format(ms * 1000)} µs`;
  if (ms < 999.5) return `${short.format(ms)} ms`;
  if (ms < 59_950) return `${short.format(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes >= 60) return `${number.format(Math.floor(minutes / 60))} h ${minutes % 60} min`;
  return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
}

/** "1,200 in, 340 out"; null where nothing is told. */
export function tokensText({ input, output }: Pick<Tokens, "input" | "output">): string | null {
  const parts = [
    input !== null && `${number.format(input)} in`,
    output !== null && `${number.format(output)} out`,
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
  return times === 1 ? "once" : times === 2 ? "twice" : `${number.format(times)} times`;
}
