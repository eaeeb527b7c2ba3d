// A run: one evaluation of a trace against its agent's test cases, with its results.

import type { ConventionRule, ReadFrom } from "../agent/read-by.ts";
import type { CriterionVerdict, JudgedBy, Spent, Withheld } from "../judge/judge.ts";
import type { MaterialSummary } from "../judge/material.ts";
import type { AssertionType } from "../test-case/assertion.ts";
import type { TestCaseDocument } from "../test-case/document.ts";
import type { Ineligibility } from "../test-case/eligibility.ts";
import type { Counts, Outcome } from "./outcome.ts";
import type { ReasonFields } from "./reason-text.ts";

/** Only manual runs can be cancelled. */
export type RunState = "pending" | "running" | "completed" | "error" | "cancelled";
export type RunKind = "passive" | "manual";
/** `again`: somebody had the trace evaluated again with the tests of its last run. */
export type RunCause = "traffic" | "again";
export type Routing = "ok" | "not_needed" | "no_user_input" | "unavailable";
/** Where a failed result stands; `known` and `resolved` are what people say. */
export type ResultState = "open" | "known" | "resolved";
export const resultStates: ResultState[] = ["open", "known", "resolved"];

/** passed / (passed + failed): a score, or a pass rate. Null if both are 0. */
export function scoreOf({ passed, failed }: Counts): number | null {
  return passed + failed === 0 ? null : passed / (passed + failed);
}

/** A source that a check used. `attribute` is null for the span itself, such as its name or its times. */
export type Evidence = {
  spanId: string;
  attribute: string | null;
  value?: unknown;
  /** The documented attribute that a convention read there. */
  translated?: { as: string; convention: string };
  /** In a run of several turns: the turn whose trace has the span, from 1. */
  turn?: number;
};

/** A match with the text around it, each truncated. */
export type Match = { before: string; text: string; after: string };

export type Check = {
  /** The assertion's id. */
  id: string;
  type: AssertionType;
  outcome: Outcome;
  /** Why the check was skipped. `limit`: a limit on time or size was reached. */
  skipped?:
    | "dependency"
    | "threshold"
    | "no_judge"
    | "judge_unavailable"
    | "judge_unusable"
    | "budget"
    | "undecided"
    /** Every criterion has a condition that does not hold. */
    | "does_not_apply"
    | "not_sampled"
    /** A privacy rule changed the text, which could have made the outcome. */
    | "redacted"
    /** What the judge would have needed is withheld from it by the project. */
    | "withheld"
    /** The judge will be asked again: only in runs that have not completed. */
    | "waiting"
    | "limit";
  expected: unknown;
  actual: unknown;
  evidence: Evidence[];
  /** Semantic checks: the judge's score in 0..1; then `actual` is a SemanticActual. */
  score?: number | null;
  /** Why the judged text seems to be addressed to the judge. It changes no outcome. */
  suspicious?: string;
  /** response_regex: the match and the text around it; absent if only its existence is known. */
  match?: Match;
  /** The content of the trace was dropped since, and with it the texts and values that the check found. */
  forgotten?: true;
} & ReasonFields;

/** The judge's result for a reply. `criteria` are from the vote that gave the score. */
export type SemanticActual = {
  score: number;
  criteria: ({ criterion: string } & CriterionVerdict)[];
  /** `passed`: votes that reached the threshold. `scores` are in the order of asking. */
  votes: { passed: number; of: number; scores: (number | null)[] };
  /** Whether the answer came from the cache. */
  cached: boolean;
  withheld?: Withheld;
  spent?: Spent;
  /** What the judge was shown beside the user's input and the reply. */
  material: MaterialSummary;
  /** The agent uses the judge's model, which tends to favor what it wrote itself. */
  sameModel?: true;
} & JudgedBy;

export type Result = {
  testId: string;
  name: string;
  outcome: Outcome;
  /** passed / (passed + failed); null if both are 0. */
  score: number | null;
  counts: Counts;
  checks: Check[];
  /** See areFullyEvaluated. */
  fullyEvaluated: boolean;
  /** The test as it was evaluated, with its version; the version of an unsaved test is null. */
  test: TestCaseDocument;
  testVersion: number | null;
} & ReasonFields;

/** Whether and why a test of the agent ran on a trace. */
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
    | "content_not_stored"
    | "routing_unavailable"
    /** The judge will be asked again: only in runs that have not completed. */
    | "routing_waiting";
  /** Why the user's input seems to be addressed to the judge; then "no match" is ignored for all scenarios. */
  suspicious?: string;
} & Partial<JudgedBy> &
  Partial<ReasonFields>;

/** A run that waits for the judge: the time of the next attempt, the deadline, and the reason. */
export type Waiting = { nextTryAt: string; until: string; reason: string };

/** The result of a completed run. Verdict and score are computed from the tests' outcomes. */
export type Verdict = {
  routing: Routing;
  verdict: Outcome | null;
  score: number | null;
  counts: Counts;
  /** See isRunFullyEvaluated. */
  fullyEvaluated: boolean;
  results: Result[];
  tests: Applicability[];
  /** The conventions and the agent's own rules that the trace was read by; absent: none. */
  conventions?: string[];
  conventionRules?: ConventionRule[];
  readFrom?: ReadFrom | null | undefined;
};
