// What must be asked before tests can be judged: of the judge about replies, of the sandbox about costly patterns and schemas.
import type { TestCase } from "../model/test-case/document.ts";
import type { Derived, MergedTrace } from "../model/trace/trace.ts";
import { checkTest, type Steps, toEnd } from "./check-test.ts";
import type { Answers, OpenQuestions } from "./finding.ts";
import { TraceView } from "./trace-view.ts";

/** No answer yet. */
export function noAnswers(): Answers {
  return { semantic: new Map(), sandbox: new Map() };
}

/**
 * The questions that can be asked now about tests that apply, given the answers so far. A check whose dependency
 * did not pass asks nothing, and one whose dependency waits for an answer asks in a later round: ask, keep every
 * answer under its key, an outage too, and come again until nothing is open.
 */
export function* findingQuestions(
  view: TraceView,
  tests: TestCase[],
  answers: Answers,
): Steps<OpenQuestions> {
  const open: OpenQuestions = { semantic: [], sandbox: [] };
  for (const test of tests) {
    if (!test.assertions.some(({ type }) => askingTypes.includes(type))) continue;
    const { checks, open: asked } = yield* checkTest({ view, test, answers });
    const testFails = checks.some(check => check?.outcome === "failed");
    for (const { key, question } of asked.semantic) {
      open.semantic.push({ key, question: testFails ? { ...question, testFails } : question });
    }
    open.sandbox.push(...asked.sandbox);
  }
  return open;
}

/** The same in one go, for a test at a time. */
export function openQuestions(
  trace: MergedTrace,
  derived: Derived,
  tests: TestCase[],
  answers: Answers,
): OpenQuestions {
  return toEnd(findingQuestions(new TraceView(trace, derived), tests, answers));
}

const askingTypes = ["semantic", "json_schema", "response_regex"];
