// Checks the assertions of one test against a trace, each after those it depends on. A check that exceeds the budget of
// its evaluation is skipped.

import { BudgetSpent } from "../model/run/budget.ts";
import { negated, type Reason } from "../model/run/reason.ts";
import { reasonFields } from "../model/run/reason-text.ts";
import type { Check } from "../model/run/run.ts";
import type { Assertion } from "../model/test-case/assertion.ts";
import type { Context } from "./check-context.ts";
import { findingOf } from "./checks.ts";
import { contentGone, withoutTexts } from "./content-gone.ts";
import type { Finding, OpenQuestions } from "./finding.ts";
import { contextOf, findingOfEach, unlessUnseen } from "./turns.ts";

/** Null while the check, or one that it depends on, waits for an answer. */
type Settled = Check | null;

/** Yields between checks. */
export type Steps<T> = Generator<void, T>;

/** The checks that are settled, in the order of the assertions, and the open questions of the others. */
export function* checkTest(context: Context): Steps<{ checks: Settled[]; open: OpenQuestions }> {
  const { assertions } = context.test;
  const open: OpenQuestions = { semantic: [], sandbox: [] };
  const settled = new Map<string, Settled>();
  for (const assertion of inOrder(assertions)) {
    settled.set(assertion.id, checkAfterDependencies(assertion, settled, context, open));
    yield;
  }
  return { checks: assertions.map(({ id }) => settled.get(id) ?? null), open };
}

/** Runs all steps in one go. */
export function toEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Each assertion after those it depends on, otherwise in their own order. */
function inOrder(assertions: Assertion[]): Assertion[] {
  if (assertions.every(({ depends_on }) => depends_on.length === 0)) return assertions;
  const byId = new Map(assertions.map(assertion => [assertion.id, assertion]));
  const ordered = new Set<Assertion>();
  const add = (assertion: Assertion | undefined): void => {
    if (!assertion || !byId.delete(assertion.id)) return;
    for (const id of assertion.depends_on) add(byId.get(id));
    ordered.add(assertion);
  };
  assertions.forEach(add);
  return [...ordered];
}

function checkAfterDependencies(
  assertion: Assertion,
  settled: Map<string, Settled>,
  context: Context,
  open: OpenQuestions,
): Settled {
  const dependencies = assertion.depends_on.map(id => settled.get(id));
  const unmet = dependencies.filter(check => check && check.outcome !== "passed");
  // Whatever the judge will say of one that waits, another that did not pass skips the check.
  const decisive = unmet.find(check => check?.skipped !== "waiting") ?? unmet[0];
  if (decisive) return afterFailedDependency(assertion, decisive);
  if (dependencies.some(check => !check)) return null;
  const finding = findOnce(assertion, context);
  if (finding.kind !== "open") return checkOf(assertion, finding);
  open.semantic.push(...finding.semantic);
  open.sandbox.push(...finding.sandbox);
  return null;
}

/**
 * A trace is checked in several rounds, for the questions, a partial verdict and the results: what was compared in one is
 * neither compared nor paid for again.
 */
function findOnce(assertion: Assertion, context: Context): Finding {
  const { findings } = context.view;
  const known = findings.get(assertion);
  if (known) return known;
  const finding = findWithinBudget(assertion, context);
  if (assertion.type !== "semantic" && (finding.kind === "compared" || isOverBudget(finding))) {
    findings.set(assertion, finding);
  }
  return finding;
}

function findWithinBudget(assertion: Assertion, context: Context): Finding {
  try {
    const { turn, negate } = assertion;
    if (turn !== "each" || !context.view.turns) return findIn(turn, assertion, context);
    const ofTurns = context.test.turns.map((_, at) => findIn(at + 1, assertion, context));
    return findingOfEach(ofTurns, negate);
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    const seen = { expected: null, actual: null, evidence: [] };
    return { kind: "skipped", skipped: "limit", reason: { code: "run_budget_spent" }, ...seen };
  }
}

function findIn(turn: Assertion["turn"], assertion: Assertion, context: Context): Finding {
  const found = contextOf(turn, context);
  if ("kind" in found) return found;
  const { view } = found;
  const finding = contentGone(assertion, view) ?? unlessUnseen(assertion, found, findingOf(assertion, found));
  return withoutTexts(assertion, view, finding);
}

function isOverBudget(finding: Finding): boolean {
  return finding.kind === "skipped" && finding.reason.code === "run_budget_spent";
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
