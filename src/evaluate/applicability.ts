// Decides which tests of an agent run on a trace, and why the others do not.

import type { RoutingAnswer, RoutingQuestion } from "../model/judge/judge.ts";
import { isWaiting } from "../model/judge/outcome.ts";
import { reasonText } from "../model/run/reason-text.ts";
import type { Applicability, Routing } from "../model/run/run.ts";
import type { TestCase } from "../model/test-case/document.ts";
import { isScenarioMatched, whyNotEligible } from "../model/test-case/eligibility.ts";
import type { ContentGone, Derived, Span } from "../model/trace/trace.ts";
import { earlierMessages } from "./material.ts";

/**
 * The scenarios that the judge must match before it is known which tests apply; null if there are none. `redacted`: the
 * privacy rules that redacted something in the trace.
 */
export function routingQuestion(
  {
    spans,
    derived,
    redacted = [],
    content,
  }: { spans: Span[]; derived: Derived; redacted?: string[]; content?: ContentGone | undefined },
  tests: TestCase[],
): RoutingQuestion | null {
  const conditional = tests.filter(isScenarioMatched);
  if (conditional.length === 0 || !derived.userInput || content) return null;
  const scenarios = conditional.map(({ id, scenario }) => ({ testId: id, scenario }));
  const earlier = earlierMessages(spans, derived);
  return {
    userInput: derived.userInput.text,
    ...(earlier ? { earlier } : {}),
    scenarios,
    ...(redacted.length > 0 ? { redacted } : {}),
  };
}

/** `answer` is null where nothing was asked. `content`: set where the trace is without content. Of the judge's labels only no_match keeps a test from running. */
export function applicability(
  derived: Derived,
  tests: TestCase[],
  answer: RoutingAnswer | null,
  content?: ContentGone,
): { routing: Routing; tests: Applicability[] } {
  const routing = content ? routingOf({ userInput: null }, tests, answer) : routingOf(derived, tests, answer);
  const noInput = content ? "content_not_stored" : "no_user_input";
  return {
    routing,
    tests: tests.map(test => ({
      testId: test.id,
      name: test.name,
      ...whyOf(test, routing, answer, noInput),
    })),
  };
}

/** The tests that run on the trace. */
export function applyingTests(
  derived: Derived,
  tests: TestCase[],
  answer: RoutingAnswer | null,
  content?: ContentGone,
): TestCase[] {
  const applied = applicability(derived, tests, answer, content).tests;
  return tests.filter((_, at) => applied[at]!.applied);
}

/** Routing is unavailable, too, if the answer has a label for none of the scenarios. */
function routingOf(
  derived: Pick<Derived, "userInput">,
  tests: TestCase[],
  answer: RoutingAnswer | null,
): Routing {
  const conditional = tests.filter(isScenarioMatched);
  if (conditional.length === 0) return "not_needed";
  if (!derived.userInput) return "no_user_input";
  return answer?.code === "ok" && conditional.some(({ id }) => answer.labels.has(id)) ? "ok" : "unavailable";
}

type Why = Omit<Applicability, "testId" | "name">;

function whyOf(
  test: TestCase,
  routing: Routing,
  answer: RoutingAnswer | null,
  noInput: "no_user_input" | "content_not_stored",
): Why {
  const why = whyNotEligible(test);
  if (why) return { applied: false, why };
  if (test.passiveBehavior === "always_run") return { applied: true, why: "always_run" };
  if (routing === "no_user_input") return { applied: false, why: noInput };
  if (answer?.code !== "ok") {
    const unanswered = answer && isWaiting(answer) ? "routing_waiting" : "routing_unavailable";
    return { applied: false, why: unanswered, ...(answer ? { reason: reasonText(answer.detail) } : {}) };
  }
  const routed = answer.labels.get(test.id);
  if (!routed) {
    const unlabelled = answer.unlabelled?.get(test.id);
    const reason = unlabelled ? { reason: reasonText(unlabelled.detail) } : {};
    return { applied: false, why: "routing_unavailable", ...reason };
  }
  const { label, reason } = routed;
  const { provider, model, promptVersion, suspicious } = answer;
  const by = {
    reason,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(promptVersion === undefined ? {} : { promptVersion }),
    ...(suspicious === undefined ? {} : { suspicious }),
  };
  return label === "no_match"
    ? { applied: false, why: "scenario_no_match", ...by }
    : { applied: true, why: label === "match" ? "scenario_matched" : "scenario_unsure", ...by };
}
