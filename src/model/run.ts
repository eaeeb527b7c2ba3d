// A run: one evaluation of one trace against its agent's test cases, and the results it leaves.
import type { AssertionType } from "./assertion.ts";
import type { TestCaseDocument } from "./test-case.ts";

/** Only manual runs are cancelled. */
export type RunState = "pending" | "running" | "completed" | "error" | "cancelled";
export type RunKind = "passive" | "manual";
export type Routing = "ok" | "not_needed" | "no_user_input" | "unavailable";
export type Outcome = "passed" | "failed" | "skipped" | "missing_instrumentation";
export type Counts = Record<Outcome, number>;

/** passed / (passed + failed): a score, or a pass rate (E5). Null when nothing counted. */
export function scoreOf({ passed, failed }: Counts): number | null {
  return passed + failed === 0 ? null : passed / (passed + failed);
}

/** A place a check looked at. `attribute` is null where the span itself (its name, its times) was looked at. */
export type Evidence = {
  spanId: string;
  attribute: string | null;
  value?: unknown;
  /** In a run of several turns: whose trace the span is in, from 1. */
  turn?: number;
};

/** A passage and its surroundings, each shortened. */
export type Match = { before: string; text: string; after: string };

export type Check = {
  /** The assertion's id. */
  id: string;
  type: AssertionType;
  outcome: Outcome;
  /** One sentence. */
  reason: string;
  /** Why a skipped check was skipped, for machines. `limit`: it met a bound on time or size. */
  skipped?:
    | "dependency"
    | "threshold"
    | "no_judge"
    | "judge_unavailable"
    | "judge_unusable"
    | "budget"
    | "undecided"
    | "limit";
  expected: unknown;
  actual: unknown;
  evidence: Evidence[];
  /** Semantic checks: the judge's score in 0..1. */
  score?: number | null;
  /** response_regex: what the pattern matched, and the text around it; absent where only its occurring is known. */
  match?: Match;
};

export type Result = {
  testId: string;
  name: string;
  outcome: Outcome;
  /** passed / (passed + failed), null when nothing counted. */
  score: number | null;
  reason: string;
  counts: Counts;
  checks: Check[];
  /** The test as it was judged. */
  test: TestCaseDocument;
};

/** Why a test of the agent ran on a trace, or did not (F5). */
export type Applicability = {
  testId: string;
  name: string;
  applied: boolean;
  why:
    | "always_run"
    | "manual_run"
    | "scenario_matched"
    | "scenario_unsure"
    | "disabled"
    | "manual_only"
    | "multi_turn"
    | "scenario_no_match"
    | "no_user_input"
    | "routing_unavailable";
  /** The router's own short reason, where it gave one. */
  reason?: string;
};

/** What a completed run holds. Verdict and score are formed from the tests' outcomes (E6). */
export type Verdict = {
  routing: Routing;
  verdict: Outcome | null;
  score: number | null;
  counts: Counts;
  results: Result[];
  tests: Applicability[];
};
