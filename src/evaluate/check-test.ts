// Checks the assertions of one test against a trace, each after those it depends on.

import { negated, type Reason, reasonFields } from "../model/run/reason.ts";
import type { Check } from "../model/run/run.ts";
import type { Assertion } from "../model/test-case/assertion.ts";
import { findingOf } from "./checks.ts";
import type { Context, Finding, OpenQuestions } from "./finding.ts";
import { contextOf, unlessUnseen } from "./turns.ts";

/** Null while the check, or one that it depends on, waits for an answer. */
type Settled = Check | null;

/** The checks that are settled, in the order of the assertions, and the open questions of the others. */
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
    const found = contextOf(assertion, context);
    const finding = "kind" in found ? found : unlessUnseen(assertion, found, findingOf(assertion, found));
    if (finding.kind !== "open") return checkOf(assertion, finding);
    open.semantic.push(...finding.semantic);
    open.sandbox.push(...finding.sandbox);
    return null;
  };

  return { checks: assertions.map(settle), open };
}

/** The check of an assertion that is still undecided although nothing more is asked. */
export function unansweredCheck(assertion: Assertion): Check {
  const skipped = assertion.type === "semantic" ? "judge_unavailable" : "limit";
  return skippedCheck(assertion, skipped, { code: "no_answer" });
}

function afterFailedDependency(assertion: Assertion, { id, skipped }: Check): Check {
  return skipped === "waiting"
    ? skippedCheck(assertion, "waiting", { code: "dependency_waiting", data: { id } })
    : skippedCheck(assertion, "dependency", { code: "dependency_not_passed", data: { id } });
}

function skippedCheck(
  { id, type }: Assertion,
  skipped: NonNullable<Check["skipped"]>,
  reason: Reason,
): Check {
  const nothingSeen = { expected: null, actual: null, evidence: [] };
  return { id, type, outcome: "skipped", skipped, ...reasonFields(reason), ...nothingSeen };
}

function checkOf({ id, type, negate }: Assertion, finding: Exclude<Finding, { kind: "open" }>): Check {
  const { expected, actual, evidence } = finding;
  const seen = { expected, actual, evidence };
  switch (finding.kind) {
    case "absent":
      return { id, type, outcome: finding.outcome, ...reasonFields(finding.reason), ...seen };
    case "skipped":
      return {
        id,
        type,
        outcome: "skipped",
        skipped: finding.skipped,
        ...reasonFields(finding.reason),
        ...seen,
      };
    case "compared": {
      const outcome = finding.holds !== negate ? "passed" : "failed";
      const reason = reasonFields(negate ? negated(finding.reason) : finding.reason);
      const score = finding.score === undefined ? {} : { score: finding.score };
      const match = finding.match === undefined ? {} : { match: finding.match };
      const suspicious = finding.suspicious === undefined ? {} : { suspicious: finding.suspicious };
      return { id, type, outcome, ...reason, ...seen, ...score, ...match, ...suspicious };
    }
  }
}
