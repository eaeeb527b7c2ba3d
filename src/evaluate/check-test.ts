// Checks one test's assertions against a trace, each after those it depends on.

import type { Check } from "../model/run/run.ts";
import type { Assertion } from "../model/test-case/assertion.ts";
import { find } from "./checks.ts";
import type { Context, Finding, OpenQuestions } from "./finding.ts";
import { asFarAsSeen, contextOf } from "./turns.ts";

/** A check, or null while it waits for an answer or for another check that does. */
type Settled = Check | null;

/** The checks that could be settled, in the order of the assertions, and the questions that hold up the others. */
export function checkTest(context: Context): { checks: Settled[]; open: OpenQuestions } {
  const { assertions } = context.test;
  const open: OpenQuestions = { semantic: [], sandbox: [] };
  const settled = new Map<string, Settled>();
  const byId = new Map(assertions.map(assertion => [assertion.id, assertion]));

  const settle = (assertion: Assertion): Settled => {
    const known = settled.get(assertion.id);
    if (known !== undefined) return known;
    settled.set(assertion.id, null);
    const check = checkAfterDependencies(assertion);
    settled.set(assertion.id, check);
    return check;
  };

  const checkAfterDependencies = (assertion: Assertion): Settled => {
    let waits = false;
    for (const id of assertion.depends_on) {
      const dependency = byId.get(id);
      const check = dependency && settle(dependency);
      if (check && check.outcome !== "passed") return afterFailedDependency(assertion, check);
      waits ||= !check;
    }
    if (waits) return null;
    const looked = contextOf(assertion, context);
    const finding = "kind" in looked ? looked : asFarAsSeen(assertion, looked, find(assertion, looked));
    if (finding.kind !== "open") return checkOf(assertion, finding);
    open.semantic.push(...finding.semantic);
    open.sandbox.push(...finding.sandbox);
    return null;
  };

  return { checks: assertions.map(settle), open };
}

/** The check of an assertion whose answer, or whose dependency's, never came. */
export function unansweredCheck({ id, type }: Assertion): Check {
  const skipped = type === "semantic" ? "judge_unavailable" : "limit";
  return { id, type, outcome: "skipped", skipped, reason: "No answer came.", ...nothingSeen };
}

const nothingSeen = { expected: null, actual: null, evidence: [] };

/** E3. */
function afterFailedDependency({ id, type }: Assertion, dependency: Check): Check {
  if (dependency.skipped === "waiting") {
    const reason = `It depends on "${dependency.id}", which waits for the judge.`;
    return { id, type, outcome: "skipped", skipped: "waiting", reason, ...nothingSeen };
  }
  const reason = `It depends on "${dependency.id}", which did not pass.`;
  return { id, type, outcome: "skipped", skipped: "dependency", reason, ...nothingSeen };
}

function checkOf({ id, type, negate }: Assertion, finding: Exclude<Finding, { kind: "open" }>): Check {
  const { expected, actual, evidence } = finding;
  const seen = { expected, actual, evidence };
  switch (finding.kind) {
    case "absent":
      return { id, type, outcome: finding.outcome, reason: finding.reason, ...seen };
    case "skipped":
      return { id, type, outcome: "skipped", skipped: finding.skipped, reason: finding.reason, ...seen };
    case "compared": {
      const outcome = finding.holds !== negate ? "passed" : "failed";
      const reason = `${negate ? "Negated: " : ""}${finding.fact}.`;
      const score = finding.score === undefined ? {} : { score: finding.score };
      const match = finding.match === undefined ? {} : { match: finding.match };
      const suspicious = finding.suspicious === undefined ? {} : { suspicious: finding.suspicious };
      return { id, type, outcome, reason, ...seen, ...score, ...match, ...suspicious };
    }
  }
}
