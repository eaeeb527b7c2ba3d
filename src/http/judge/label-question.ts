// What the judge said and was asked for one check or scenario match of a run: the subject of a label.
import { earlierMessages } from "../../evaluate/material.ts";
import { noAnswers, openQuestions } from "../../evaluate/questions.ts";
import type { LoadedTrace } from "../../load.ts";
import type { JudgedBy } from "../../model/judge/judge.ts";
import type { JudgedAnswer, LabelQuestion } from "../../model/judge/label.ts";
import type { Applicability, Check, Result, SemanticActual } from "../../model/run/run.ts";
import { isThreshold } from "../../model/test-case/test-case.ts";
import type { Detail } from "../../store/runs/detail.ts";

/** `by`: undefined where the judge could not decide. */
export type Judged = {
  answer: JudgedAnswer;
  testVersion: number | null;
  by: JudgedBy | undefined;
  result: Result;
};

/** `checkId` null: the scenario match. Undefined if the judge was not asked or gave no answer there. */
export function judgedIn(
  { results, tests }: Pick<Detail, "results" | "tests">,
  testId: string,
  checkId: string | null,
): Judged | undefined {
  const result = results.find(one => one.testId === testId);
  if (!result) return undefined;
  const check = result.checks.find(({ id }) => id === checkId);
  const found = checkId === null ? scenarioMatch(tests.find(one => one.testId === testId)) : decided(check);
  return found && { ...found, testVersion: result.testVersion, result };
}

const matches: Partial<Record<Applicability["why"], JudgedAnswer>> = {
  scenario_matched: "match",
  scenario_unsure: "unsure",
  scenario_no_match: "no_match",
};

function scenarioMatch(test: Applicability | undefined): Pick<Judged, "answer" | "by"> | undefined {
  const answer = test && matches[test.why];
  return answer && { answer, by: judgeOf(test) };
}

function decided(check: Check | undefined): Pick<Judged, "answer" | "by"> | undefined {
  if (check?.type !== "semantic") return undefined;
  const by = judgeOf((check.actual ?? {}) as Partial<SemanticActual>);
  if (check.outcome === "skipped" && check.skipped === "undecided") return { answer: "undecided", by };
  if (typeof check.score !== "number") return undefined;
  if (check.outcome !== "passed" && check.outcome !== "failed") return undefined;
  return { answer: check.outcome === "passed" ? "pass" : "fail", by };
}

function judgeOf({ provider, model, promptVersion }: Partial<JudgedBy>): JudgedBy | undefined {
  return provider && model !== undefined && promptVersion !== undefined
    ? { provider, model, promptVersion }
    : undefined;
}

/** Null if the trace does not give the question any more. */
export function questionOf(
  { agentId, trace, derived }: Pick<LoadedTrace, "agentId" | "trace" | "derived">,
  { test, testId }: Pick<Result, "test" | "testId">,
  checkId: string | null,
): LabelQuestion | null {
  if (checkId === null) {
    const userInput = derived.userInput?.text;
    if (userInput === undefined) return null;
    const earlier = earlierMessages(trace.spans, derived);
    return { kind: "scenario", scenario: test.scenario, userInput, ...(earlier ? { earlier } : {}) };
  }
  const assertion = test.assertions.find(({ id }) => id === checkId);
  if (assertion?.type !== "semantic") return null;
  const threshold = Object.hasOwn(assertion, "threshold") ? assertion.threshold : test.threshold;
  // What it depends on has passed, or the judge had not been asked.
  const alone = { ...assertion, depends_on: [] };
  const only = { ...test, id: testId, agentId, version: 0, assertions: [alone] };
  const questions = openQuestions(trace, derived, [only], noAnswers()).semantic.map(one => one.question);
  if (questions.length === 0 || !isThreshold(threshold)) return null;
  return { kind: "check", questions, threshold, negate: assertion.negate };
}
