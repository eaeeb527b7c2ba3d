// Backtests: a test case tried on past traces, each outcome compared with the latest stored one.

import { type ReadBy, sameReadBy } from "../agent/read-by.ts";
import type { JudgedBy } from "../judge/judge.ts";
import type { AssertionType } from "../test-case/assertion.ts";
import type { Outcome } from "./outcome.ts";
import type { Applicability, Check, Result, SemanticActual } from "./run.ts";

export const backtestTracesMax = 1_000;

/** `interrupted`: the service stopped before the backtest finished. */
export type BacktestState = "running" | "completed" | "cancelled" | "interrupted" | "error";

/**
 * `broke`: passed before, now failed; `fixed`: the reverse; `changed`: any other difference; `other_cause`: a difference that
 * the test did not make; `new`: no stored result that is fully evaluated; `none`: none now, for example because the judge was
 * not asked.
 */
export const backtestChanges = ["broke", "fixed", "changed", "other_cause", "new", "same", "none"] as const;
export type BacktestChange = (typeof backtestChanges)[number];

/** What makes a difference beside the test: the trace has other content, or another judge or prompt of ours judged it. */
export const backtestCauses = ["content", "judge", "prompt"] as const;
export type BacktestCause = (typeof backtestCauses)[number];

/**
 * `after` is null if the test gave no outcome; `reason` then says why. `check`: the one that decided it. `compared`: absent if
 * the result is not fully evaluated, and not to be compared.
 */
export type TriedTrace = {
  traceId: string;
  after: Outcome | null;
  compared?: ComparedResult;
  reason: string;
  check: { id: string; type: AssertionType } | null;
};

/** Usage of the judge's calls. `costUsd` excludes `unpricedTokens`. */
export type BacktestUsage = {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  unpricedTokens: number;
};

export function backtestChange(before: Outcome | null, after: Outcome | null): BacktestChange {
  if (after === null) return "none";
  if (before === null) return "new";
  if (before === after) return "same";
  if (before === "passed" && after === "failed") return "broke";
  return before === "failed" && after === "passed" ? "fixed" : "changed";
}

/** What two results of a test on a trace are compared by. */
export type ComparedResult = {
  outcome: Outcome;
  revision: number | null;
  readBy: ReadBy;
  /** The match of the scenario, if the judge was asked, and the checks. */
  checks: ComparedCheck[];
};
type ComparedCheck = { id: string | null; outcome: Outcome | "matched" | "waited"; by: JudgedBy | null };

/** `scenario`: how the test came to apply. */
export function comparedResult(
  { outcome, checks }: Pick<Result, "outcome" | "checks">,
  scenario: Applicability | undefined,
  { revision, readBy }: Pick<ComparedResult, "revision" | "readBy">,
): ComparedResult {
  const routedBy = scenario && judgedBy(scenario);
  const match: Omit<ComparedCheck, "by"> = { id: null, outcome: scenario?.applied ? "matched" : "skipped" };
  return {
    outcome,
    revision,
    readBy,
    checks: [
      ...(routedBy ? [{ ...match, by: routedBy }] : []),
      ...checks.map(
        ({ id, outcome, skipped, ...check }): ComparedCheck => ({
          id,
          outcome: skipped === "dependency" ? "waited" : outcome,
          by: judgedBy(semanticActual(check)),
        }),
      ),
    ],
  };
}

function semanticActual({ type, actual }: Pick<Check, "type" | "actual">): Partial<JudgedBy> {
  return type === "semantic" && actual !== null ? (actual as SemanticActual) : {};
}

function judgedBy({ provider, model, promptVersion }: Partial<JudgedBy>): JudgedBy | null {
  return provider && model && promptVersion ? { provider, model, promptVersion } : null;
}

/** What changed, if both are there, and what caused it if not the test. */
export function compareResults(
  before: ComparedResult | undefined,
  { after, compared }: Pick<TriedTrace, "after" | "compared">,
): { change: BacktestChange; cause: BacktestCause | null } {
  if (!before) return { change: backtestChange(null, after), cause: null };
  const change = backtestChange(before.outcome, compared?.outcome ?? null);
  if (!compared || change === "same") return { change, cause: null };
  const cause = causeOf(before, compared);
  return { change: cause ? "other_cause" : change, cause };
}

function causeOf(before: ComparedResult, after: ComparedResult): BacktestCause | null {
  if (before.revision !== after.revision || !sameReadBy(before.readBy, after.readBy)) return "content";
  const was = new Map(before.checks.map(check => [check.id, check]));
  const differing = after.checks.filter(check => differs(was.get(check.id), check));
  const causes = differing.map(({ id, by }) => judgeCause(was.get(id)?.by ?? null, by));
  // If the scenario matches in one of them alone, the checks are only there.
  const deciding = differing[0]?.id === null ? causes.slice(0, 1) : causes;
  return deciding.length > 0 && deciding.every(cause => cause !== null) ? deciding[0]! : null;
}

/** One that waited for another said nothing of its own, and one that the test has gained says nothing while it passes. */
function differs(was: ComparedCheck | undefined, { id, outcome }: ComparedCheck): boolean {
  if (was?.outcome === "waited" || outcome === "waited") return false;
  return was ? was.outcome !== outcome : id !== null && outcome !== "passed";
}

function judgeCause(before: JudgedBy | null, after: JudgedBy | null): "judge" | "prompt" | null {
  if (!before || !after) return null;
  if (before.provider !== after.provider || before.model !== after.model) return "judge";
  return before.promptVersion === after.promptVersion ? null : "prompt";
}
