// Texts of the evaluation: states and counts of tests and checks, and what to do about a skipped check.
import type { Outcome } from "../../../../src/model/run/outcome.ts";
import type { Check, Result } from "../../../../src/model/run/run.ts";
import { outcomes, outcomeWord, runStates, tallyText, type Word } from "../../../labels.ts";

/** What needs attention first. */
export const worstFirst: readonly Outcome[] = ["failed", "missing_instrumentation", "skipped", "passed"];

export function byWorst(a: { outcome: Outcome }, b: { outcome: Outcome }): number {
  return worstFirst.indexOf(a.outcome) - worstFirst.indexOf(b.outcome);
}

/** While a run waits for the judge, a check that waits is not yet skipped. */
export function checkWord({ outcome, skipped }: Check): Word {
  return skipped === "waiting" ? runStates.waiting : outcomes[outcome];
}

/** A test with a failed check stays failed, whatever the checks that still wait come out as. */
export function testWord({ outcome, fullyEvaluated, checks }: Result): Word {
  return outcome !== "failed" && checks.some(({ skipped }) => skipped === "waiting")
    ? runStates.waiting
    : outcomeWord(outcome, fullyEvaluated);
}

export const notCountedText =
  "Not all of it was judged, so this evaluation is in no pass rate, comparison or alert.";

/** "3 of 4 checks passed, 1 skipped, 2 waiting". */
export function checksText({ counts, checks }: Result): string {
  const waiting = checks.filter(({ skipped }) => skipped === "waiting").length;
  const settled = tallyText({ ...counts, skipped: counts.skipped - waiting }, "check");
  return [settled, waiting > 0 && `${waiting} waiting`].filter(Boolean).join(", ");
}

/** What to do about a skipped check. */
export const skipAdvice: Record<NonNullable<Check["skipped"]>, string> = {
  dependency: "This check runs once that one passes.",
  threshold: "Set the threshold of the check or of its test to a number from 0 to 1.",
  no_judge: "Semantic checks need a judge: a language model of a provider, or one that you run yourself.",
  judge_unavailable: "Check the judge’s server. Once it answers, re-evaluate the trace.",
  judge_unusable:
    "Choose a model that follows the requested format, or shorten the criterion. Then re-evaluate the trace.",
  budget:
    "Raise the agent’s daily budget (it resets at midnight UTC) or the quota at the judge’s provider. Then re-evaluate the trace.",
  undecided: "Make the criterion more specific, or add a reference reply.",
  does_not_apply: "Nothing to do: the condition of each criterion does not hold for this reply.",
  not_sampled: "Raise the agent’s sampling rate to have more traces judged.",
  withheld:
    "Let the judge see tool results in the project’s privacy settings, or check the tool calls by another check.",
  redacted: "Check something that the project’s privacy rules leave in the trace.",
  waiting: "The judge is called again automatically. Nothing to do.",
  limit: "Target a shorter value, or simplify the pattern or schema.",
};

/** How to get a trace evaluated again. */
export const freshIdentity =
  "To evaluate this conversation again, send it with a new x-request-id or a new trace ID.";
