// Judges a trace by the tests of its agent: pure, and total on whatever a trace may hold.
import type { RoutingAnswer } from "../model/judge/judge.ts";
import {
  type Check,
  type Counts,
  type Outcome,
  type Result,
  scoreOf,
  type Verdict,
} from "../model/run/run.ts";
import { documentOf, type TestCase } from "../model/test-case/test-case.ts";
import type { Derived, MergedTrace } from "../model/trace/trace.ts";
import { applicability } from "./applicability.ts";
import { checkTest, unansweredCheck } from "./check-test.ts";
import type { Answers } from "./finding.ts";
import { TraceView } from "./trace-view.ts";

export type EvaluateInput = {
  trace: MergedTrace;
  derived: Derived;
  /** Every test of the agent, the ineligible among them (F5). */
  tests: TestCase[];
  /** Null where `routingQuestion` was. */
  routing: RoutingAnswer | null;
  answers: Answers;
};

/** What a passive run comes to. A test that does not match the trace's scenario leaves a skipped result (F3). */
export function evaluate({ trace, derived, tests, routing, answers }: EvaluateInput): Verdict {
  const view = new TraceView(trace, derived);
  const applied = applicability(derived, tests, routing);
  const results = tests.flatMap((test, at) => {
    const { applied: applies, why, reason } = applied.tests[at]!;
    if (applies) return [judge(test, view, answers)];
    return why === "scenario_no_match" ? [unmatchedResult(test, reason ?? "")] : [];
  });
  return { ...verdictOf(results), routing: applied.routing, tests: applied.tests };
}

/** What one test comes to on a trace, whether it applies or not: for runs that somebody asked for. */
export function evaluateTest(trace: MergedTrace, derived: Derived, test: TestCase, answers: Answers): Result {
  return judge(test, new TraceView(trace, derived), answers);
}

/** Verdict, score and counts over the outcomes of results (E6); the verdict is null where there is none. */
export function verdictOf(results: Result[]): Pick<Verdict, "verdict" | "score" | "counts" | "results"> {
  const counts = count(results);
  return {
    verdict: results.length === 0 ? null : outcomeOf(counts),
    score: scoreOf(counts),
    counts,
    results,
  };
}

/** The outcome with its counts beside it: "Passed, 4 of 5 checked, 1 skipped". */
export function sentence(outcome: Outcome, counts: Counts): string {
  const checked = counts.passed + counts.failed;
  const total = checked + counts.skipped + counts.missing_instrumentation;
  const parts = [outcomeWords[outcome], `${checked} of ${total} checked`];
  if (counts.failed > 0) parts.push(`${counts.failed} failed`);
  if (counts.skipped > 0) parts.push(`${counts.skipped} skipped`);
  if (counts.missing_instrumentation > 0)
    parts.push(`${counts.missing_instrumentation} missing instrumentation`);
  return parts.join(", ");
}

const outcomeWords: Record<Outcome, string> = {
  passed: "Passed",
  failed: "Failed",
  skipped: "Skipped",
  missing_instrumentation: "Missing instrumentation",
};

function judge(test: TestCase, view: TraceView, answers: Answers): Result {
  const settled = checkTest({ view, test, answers }).checks;
  const checks = settled.map((check, at) => check ?? unansweredCheck(test.assertions[at]!));
  const counts = count(checks);
  const outcome = outcomeOf(counts);
  const waits = outcome !== "failed" && checks.some(({ skipped }) => skipped === "waiting");
  const reason = waits
    ? `Waiting for the judge, ${counts.passed + counts.failed} of ${checks.length} checked`
    : sentence(outcome, counts);
  return resultOf(test, outcome, reason, checks, counts);
}

function unmatchedResult(test: TestCase, why: string): Result {
  const reason = `Skipped, the scenario does not match${why ? `: ${why}` : ""}`;
  return resultOf(test, "skipped", reason, [], count([]));
}

function resultOf(test: TestCase, outcome: Outcome, reason: string, checks: Check[], counts: Counts): Result {
  const { id: testId, name, version: testVersion } = test;
  const score = scoreOf(counts);
  return { testId, name, outcome, score, reason, counts, checks, test: documentOf(test), testVersion };
}

function count(judged: { outcome: Outcome }[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
  for (const { outcome } of judged) counts[outcome] += 1;
  return counts;
}

/** E5. */
function outcomeOf(counts: Counts): Outcome {
  if (counts.failed > 0) return "failed";
  if (counts.missing_instrumentation > 0) return "missing_instrumentation";
  return counts.passed > 0 ? "passed" : "skipped";
}
