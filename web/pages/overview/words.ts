// The words beside the overview's numbers: when there is too little data for a rate, and comparisons with a week before.

import type { BoundedCount, Overview, Results } from "../../../src/http/projects/overview-schemas.ts";
import { numberText, rateText } from "../../format.ts";
import { type ListName, numbersOf } from "./lists.ts";

/** With fewer passes and failures than this, a percentage says more than is known. */
const rateMin = 10;

export type RateWords = {
  /** "93.1%", "3 of 4", or a dash. */
  text: string;
  /** What the text leaves out. */
  note: string;
};

export function rateWords({ counts, passRate, evaluated }: Results): RateWords {
  const { passed, failed } = counts;
  const decided = passed + failed;
  if (evaluated === 0) return { text: "–", note: "Nothing evaluated" };
  if (decided === 0) return { text: "–", note: "No passes or failures" };
  const ofDecided = `${numberText(passed)} of ${numberText(decided)}`;
  if (decided < rateMin) return { text: ofDecided, note: "Passed. Too few for a pass rate" };
  return { text: rateText(passRate), note: `${ofDecided} passed` };
}

/** "95% a week before (38 of 40)". */
export function rateBefore({ counts: { passed, failed }, passRate, evaluated }: Results): string {
  const decided = passed + failed;
  if (evaluated === 0) return "Nothing evaluated a week before";
  if (decided === 0) return "No passes or failures a week before";
  const ofDecided = `${numberText(passed)} of ${numberText(decided)}`;
  return decided < rateMin
    ? `${ofDecided} passed a week before`
    : `${rateText(passRate)} a week before (${ofDecided})`;
}

/** "12% more than a week before"; a difference in percent only where both are enough for one. */
export function trafficChange({ now, before }: Overview["traffic"]): string {
  const [count, earlier] = [now.traces.count, before.traces.count];
  if (earlier === 0) return "No traffic a week before";
  if (now.traces.atLeast || before.traces.atLeast || Math.min(count, earlier) < rateMin) {
    return "a week before";
  }
  const percent = Math.round((Math.abs(count - earlier) / earlier) * 100);
  if (percent === 0) return "about as many as a week before";
  return `${numberText(percent)}% ${count > earlier ? "more" : "fewer"} than a week before`;
}

/** "10,000+" if counting ended early. */
export function countText({ count, atLeast }: BoundedCount): string {
  return atLeast ? `${numberText(count)}+` : numberText(count);
}

/** Why traces are not evaluated. */
export function notEvaluatedReason({
  tests,
  eligibleTests,
}: Pick<Overview, "tests" | "eligibleTests">): string {
  if (tests === 0) return "This agent has no test cases.";
  if (eligibleTests === 0) return "All test cases are disabled or manual-only.";
  return "No test was active when they arrived.";
}

/** The traces that the pass rate leaves out, by the list that has them. */
const leftOut = [
  ["skipped", "skipped"],
  ["missing", "missing instrumentation"],
  ["notFullyEvaluated", "not fully evaluated"],
  ["noVerdict", "without a test"],
  ["pending", "pending"],
  ["running", "running"],
  ["error", "with an error"],
] as const satisfies readonly (readonly [ListName, string])[];

/** Each with its number and words, as in "3 skipped"; empty if the pass rate leaves out nothing. */
export function leftOutOfRate(overview: Overview): { name: ListName; text: string }[] {
  const numbers = numbersOf(overview);
  return leftOut
    .filter(([name]) => numbers[name].count > 0)
    .map(([name, words]) => ({ name, text: `${countText(numbers[name])} ${words}` }));
}

/** The name of a trace in a list: the user's words, or else the name of its root. */
export function traceTitle({ userInput, name }: { userInput: string | null; name: string }): string {
  return userInput?.trim() || name;
}

/** Said once: "Routing was unavailable for 3 traces." */
export function unroutedText(count: number): string {
  const traces = count === 1 ? "1 trace" : `${numberText(count)} traces`;
  return `Routing was unavailable for ${traces}: “Run when relevant” tests did not run on ${count === 1 ? "it" : "them"}.`;
}
