// How durations and counts of outcomes are written, everywhere the same.
import type { Counts, Outcome } from "../src/model/run.ts";
import { outcomes } from "./labels.ts";

const number = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

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

/** "3 passed, 1 failed"; empty where nothing is counted. */
export function countsText(counts: Counts): string {
  return (Object.keys(outcomes) as Outcome[])
    .filter(outcome => counts[outcome] > 0)
    .map(outcome => `${number.format(counts[outcome])} ${outcomes[outcome].text.toLowerCase()}`)
    .join(", ");
}
