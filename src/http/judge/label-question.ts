// What the judge said for one check or scenario match of a run: the subject of a label.
import type { JudgedBy } from "../../model/judge/judge.ts";
import type { JudgedAnswer } from "../../model/judge/label.ts";
import type { Applicability, Check, Result, SemanticActual } from "../../model/run/run.ts";
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
