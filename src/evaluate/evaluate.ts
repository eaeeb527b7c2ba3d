// Evaluates a trace with the tests of its agent. Pure, and never throws on trace data.

import type { RoutingAnswer } from "../model/judge/judge.ts";
import { areFullyEvaluated, isRunFullyEvaluated } from "../model/run/fully-evaluated.ts";
import type { Counts, Outcome } from "../model/run/outcome.ts";
import type { Reason } from "../model/run/reason.ts";
import { type ReasonFields, reasonFields, reasonText } from "../model/run/reason-text.ts";
import { type Applicability, type Check, type Result, scoreOf, type Verdict } from "../model/run/run.ts";
import type { TestCase, TestCaseDocument } from "../model/test-case/document.ts";
import { evaluatedDocumentOf } from "../model/test-case/test-case.ts";
import type { Derived, MergedTrace } from "../model/trace/trace.ts";
import { applicability } from "./applicability.ts";
import { checkTest, type Steps, toEnd, unansweredCheck } from "./check-test.ts";
import type { Answers } from "./finding.ts";
import { atSources } from "./sources.ts";
import { TraceView } from "./trace-view.ts";

export type EvaluateInput = {
  view: TraceView;
  /** Every test of the agent, those that cannot run on traffic included. */
  tests: TestCase[];
  /** Null where `routingQuestion` was. */
  routing: RoutingAnswer | null;
  answers: Answers;
};

/** The verdict of a passive run. A test whose scenario does not match gives a skipped result. */
export function* evaluating({ view, tests, routing, answers }: EvaluateInput): Steps<Verdict> {
  const applied = applicability(view.derived, tests, routing, view.content);
  const results: Result[] = [];
  for (const [at, test] of tests.entries()) {
    const { applied: applies, why, reason } = applied.tests[at]!;
    if (applies) results.push(yield* evaluatingTest(view, test, answers));
    else if (why === "scenario_no_match") results.push(unmatchedResult(test, reason ?? ""));
  }
  return { ...verdictOf(results, applied.tests), routing: applied.routing };
}

/** The same in one go. */
export function evaluate({
  trace,
  derived,
  ...input
}: Omit<EvaluateInput, "view"> & { trace: MergedTrace; derived: Derived }): Verdict {
  return toEnd(evaluating({ view: new TraceView(trace, derived), ...input }));
}

/** `evaluatingTest` in one go. */
export function evaluateTest(trace: MergedTrace, derived: Derived, test: TestCase, answers: Answers): Result {
  return toEnd(evaluatingTest(new TraceView(trace, derived), test, answers));
}

/** The result of a test whose agent could not be called, or gave no reply that counts; its checks stay as they are. */
export function failedByAgent(result: Result, reason: Reason): Result {
  const { reasonData: _, ...rest } = result;
  return { ...rest, outcome: "failed", ...reasonFields(reason) };
}

/** Verdict, score and counts over the outcomes of results. The verdict is null if there are none. */
export function verdictOf(results: Result[], tests: Applicability[]): Omit<Verdict, "routing"> {
  const counts = count(results);
  return {
    verdict: results.length === 0 ? null : outcomeOf(counts),
    score: scoreOf(counts),
    counts,
    fullyEvaluated: isRunFullyEvaluated(results, tests),
    results,
    tests,
  };
}

/** The result of one test on a trace, whether the test applies or not: for manual runs and dry-runs. */
export function* evaluatingTest(view: TraceView, test: TestCase, answers: Answers): Steps<Result> {
  const settled = (yield* checkTest({ view, test, answers })).checks;
  const checks = settled.map((check, at) =>
    atSources(check ?? unansweredCheck(test.assertions[at]!), view.translated),
  );
  const counts = count(checks);
  const outcome = outcomeOf(counts);
  const waits = outcome !== "failed" && checks.some(({ skipped }) => skipped === "waiting");
  // Outcome and counts stand beside it in the result, so its data are not repeated.
  const reason: ReasonFields = waits
    ? reasonFields({
        code: "checks_waiting",
        data: { checked: counts.passed + counts.failed, of: checks.length },
      })
    : {
        reason: reasonText({ code: "checks_counted", data: { outcome, counts } }),
        reasonCode: "checks_counted",
      };
  return resultOf(test, outcome, reason, checks, counts);
}

function unmatchedResult(test: TestCase, comment: string): Result {
  const reason = reasonFields({ code: "scenario_no_match", data: { comment } });
  return resultOf(test, "skipped", reason, [], count([]));
}

function resultOf(
  test: TestCase,
  outcome: Outcome,
  reason: ReasonFields,
  checks: Check[],
  counts: Counts,
): Result {
  return {
    testId: test.id,
    name: test.name,
    outcome,
    score: scoreOf(counts),
    ...reason,
    counts,
    checks,
    fullyEvaluated: areFullyEvaluated(checks),
    test: documentOf(test),
    testVersion: test.version,
  };
}

// Tests are loaded once for many runs, whose results then share the document and its JSON.
const documents = new WeakMap<TestCase, TestCaseDocument>();

function documentOf(test: TestCase): TestCaseDocument {
  let document = documents.get(test);
  if (!document) {
    document = evaluatedDocumentOf(test);
    documents.set(test, document);
  }
  return document;
}

function count(outcomes: { outcome: Outcome }[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
  for (const { outcome } of outcomes) counts[outcome] += 1;
  return counts;
}

function outcomeOf(counts: Counts): Outcome {
  if (counts.failed > 0) return "failed";
  if (counts.missing_instrumentation > 0) return "missing_instrumentation";
  return counts.passed > 0 ? "passed" : "skipped";
}
