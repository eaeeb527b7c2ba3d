// The words of the evaluation: routing, what to do about a skip, and how often something may happen.
import type { VerdictWord } from "../../../../src/model/judge/judge.ts";
import type { Check, Outcome, Result, Routing } from "../../../../src/model/run/run.ts";
import { countsText, outcomes, runStates, type Word } from "../../../labels.ts";

/** From what asks for attention to what does not. */
export const worstFirst: readonly Outcome[] = ["failed", "missing_instrumentation", "skipped", "passed"];

export function byWorst(a: { outcome: Outcome }, b: { outcome: Outcome }): number {
  return worstFirst.indexOf(a.outcome) - worstFirst.indexOf(b.outcome);
}

/** What a judge finds of one criterion. */
export const verdictWords: Record<VerdictWord, Word> = {
  met: { text: "Met", icon: "check", tone: "good" },
  mostly: { text: "Mostly met", icon: "check", tone: "good" },
  partly: { text: "Partly met", icon: "skip", tone: "warn" },
  not_met: { text: "Not met", icon: "cross", tone: "bad" },
  cannot_tell: { text: "Cannot tell", icon: "help" },
};

/** While a run waits for the judge, what waits is not yet skipped. */
export function checkWord({ outcome, skipped }: Check): Word {
  return skipped === "waiting" ? runStates.waiting : outcomes[outcome];
}

/** A test that waits may still come to anything but to less than a check that failed. */
export function testWord({ outcome, checks }: Result): Word {
  return outcome !== "failed" && checks.some(({ skipped }) => skipped === "waiting")
    ? runStates.waiting
    : outcomes[outcome];
}

/** "1 passed, 2 waiting". */
export function checksText({ counts, checks }: Result): string {
  const waiting = checks.filter(({ skipped }) => skipped === "waiting").length;
  const settled = countsText({ ...counts, skipped: counts.skipped - waiting });
  return [settled, waiting > 0 && `${waiting} waiting`].filter(Boolean).join(", ");
}

export const routings: Record<Routing, Word & { about: string }> = {
  ok: {
    text: "Routed",
    icon: "check",
    about: "The user’s input was compared with the scenarios of the tests that run when relevant.",
  },
  not_needed: {
    text: "No routing needed",
    icon: "info",
    about: "No test depends on its scenario.",
  },
  no_user_input: {
    text: "No user input",
    icon: "info",
    tone: "info",
    about:
      "The trace holds no user input, so no scenario could be compared. Tests that always run were judged; those that run when relevant were not.",
  },
  unavailable: {
    text: "Routing unavailable",
    icon: "warning",
    tone: "warn",
    about:
      "No scenario could be compared, so no test that runs when relevant was judged. Tests that always run were judged.",
  },
};

/** What can be done about a skipped check. */
export const skipAdvice: Record<NonNullable<Check["skipped"]>, string> = {
  dependency: "Once that check passes, this one is checked.",
  threshold: "Set the threshold of the check, or of its test, to a number from 0 to 1.",
  no_judge:
    "The project has no judge: semantic checks need a language model, of a provider or on a machine of your own.",
  judge_unavailable: "Look at the judge’s server. Once it answers, have the trace judged again.",
  judge_unusable:
    "Choose a model that answers as it is asked to, or a shorter criterion; then have the trace judged again.",
  budget:
    "Raise the agent’s daily budget, which begins anew at midnight UTC, or the quota at the judge’s provider; then have the trace judged again.",
  undecided: "Say in the criterion, or by a reference reply, what decides it.",
  not_sampled: "Raise the agent’s sampling rate to have more conversations judged.",
  waiting: "The judge is asked again by itself; there is nothing to do.",
  limit: "Aim the check at a shorter value, or write a simpler pattern or schema.",
};

/** What judges a conversation once more. */
export const freshIdentity =
  "To have the conversation judged again, send it with a fresh identity: a new x-request-id, or a new traceId.";

type Range = { min: number; max?: number };

/** How often, as a sentence goes on: "at least once", "never". */
export function timesText({ min, max }: Range, negate: boolean): string {
  if (max !== undefined && min === max) {
    if (max === 0) return negate ? "at least once" : "never";
    return `${negate ? "any number of times other than" : "exactly"} ${times(max)}`;
  }
  if (min === 0) {
    if (max === undefined)
      return negate ? "a negative number of times, which cannot be" : "any number of times";
    return negate ? `more than ${times(max)}` : `at most ${times(max)}`;
  }
  if (max === undefined) {
    if (!negate) return `at least ${times(min)}`;
    return min === 1 ? "never" : `fewer than ${times(min)}`;
  }
  return negate ? `fewer than ${min} or more than ${times(max)}` : `${min} to ${times(max)}`;
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

/** A value as JSON, for a line of text. */
export function inline(value: unknown, max = 80): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

export const number = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
