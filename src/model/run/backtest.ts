// Backtests: a test case tried on past traces, each outcome compared with the latest stored one.

import type { PlacesOfRule } from "../redaction.ts";
import type { AssertionType } from "../test-case/assertion.ts";
import type { Outcome } from "./outcome.ts";

export const backtestTracesMax = 1_000;

/** `interrupted`: the service stopped before the backtest finished. */
export type BacktestState = "running" | "completed" | "cancelled" | "interrupted" | "error";

/**
 * `broke`: passed before, now failed; `fixed`: the reverse; `changed`: any other difference; `new`: no stored result;
 * `none`: no outcome now, for example because the judge was not asked.
 */
export const backtestChanges = ["broke", "fixed", "changed", "new", "same", "none"] as const;
export type BacktestChange = (typeof backtestChanges)[number];

/** `after` is null if the test gave no outcome; `reason` then says why. `check`: the one that decided it. */
export type TriedTrace = {
  traceId: string;
  after: Outcome | null;
  reason: string;
  /** What stands for redacted values in the reason. */
  redactions?: PlacesOfRule[];
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
