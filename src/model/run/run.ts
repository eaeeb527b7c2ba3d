// A run: one evaluation of one trace against its agent's test cases, and the results it leaves.

import type { JudgedBy, Spent, VerdictWord } from "../judge/judge.ts";
import type { AssertionType } from "../test-case/assertion.ts";
import type { Ineligibility } from "../test-case/eligibility.ts";
import type { TestCaseDocument } from "../test-case/test-case.ts";
import type { ReasonFields } from "./reason.ts";

/** Only manual runs are cancelled. */
export type RunState = "pending" | "running" | "completed" | "error" | "cancelled";
export type RunKind = "passive" | "manual";
/** `again`: somebody asked for what an outage of the judge had skipped to be judged again. */
export type RunCause = "traffic" | "again";
export type Routing = "ok" | "not_needed" | "no_user_input" | "unavailable";
export type Outcome = "passed" | "failed" | "skipped" | "missing_instrumentation";
export type Counts = Record<Outcome, number>;

/** passed / (passed + failed): a score, or a pass rate. Null when nothing counted. */
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
  /** What kind of reason a skip has. `limit`: a limit on time or size was reached. */
  skipped?:
    | "dependency"
    | "threshold"
    | "no_judge"
    | "judge_unavailable"
    | "judge_unusable"
    | "budget"
    | "undecided"
    | "not_sampled"
    /** The judge is asked again later: only in a run that has not completed. */
    | "waiting"
    | "limit";
  expected: unknown;
  actual: unknown;
  evidence: Evidence[];
  /** Semantic checks: the judge's score in 0..1; then `actual` is a SemanticActual. */
  score?: number | null;
  /** Why the text that was judged looks as if it were addressed to a judge. It changes no outcome. */
  suspicious?: string;
  /** response_regex: what the pattern matched, and the text around it; absent where only its occurring is known. */
  match?: Match;
} & ReasonFields;

/** What a judge said of a reply. `criteria` are those of the vote that gave the score. */
export type SemanticActual = {
  score: number;
  criteria: { criterion: string; verdict: VerdictWord; evidence: string; reason: string }[];
  /** How many votes reached the threshold, of how many that were cast; `scores` in the order of asking. */
  votes: { passed: number; of: number; scores: (number | null)[] };
  /** Whether nothing had to be asked: the same was judged before. */
  cached: boolean;
  spent?: Spent;
} & JudgedBy;

export type Result = {
  testId: string;
  name: string;
  outcome: Outcome;
  /** passed / (passed + failed), null when nothing counted. */
  score: number | null;
  counts: Counts;
  checks: Check[];
  /** The test as it was judged, and which of its versions that was; null for one that is not saved. */
  test: TestCaseDocument;
  testVersion: number | null;
} & ReasonFields;

/** Why a test of the agent ran on a trace, or did not. */
export type Applicability = {
  testId: string;
  name: string;
  applied: boolean;
  why:
    | "always_run"
    | "manual_run"
    | "scenario_matched"
    | "scenario_unsure"
    | Ineligibility
    | "scenario_no_match"
    | "no_user_input"
    | "routing_unavailable"
    /** The judge is asked again later: only in a run that has not completed. */
    | "routing_waiting";
  /** Why the user's input looks as if it were addressed to a judge; then no scenario is found not to match. */
  suspicious?: string;
} & Partial<JudgedBy> &
  Partial<ReasonFields>;

/** A run that has begun and waits for the judge: when it is asked again, until when at most, and why not now. */
export type Waiting = { nextTryAt: string; until: string; reason: string };

/** What a completed run holds. Verdict and score are formed from the tests' outcomes. */
export type Verdict = {
  routing: Routing;
  verdict: Outcome | null;
  score: number | null;
  counts: Counts;
  results: Result[];
  tests: Applicability[];
};
