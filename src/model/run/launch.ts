// A launch (one press of Run): its manual runs, their turns, and their comparison with earlier runs.

import type { AgentCallError } from "../agent/call.ts";
import type { RuleCounts } from "../redaction.ts";
import { shorten } from "../shorten.ts";
import type { ContentGone } from "../trace/trace.ts";
import type { Outcome } from "./outcome.ts";
import type { Difference, PassRate } from "./pass-rate.ts";
import type { RunState } from "./run.ts";

export type LaunchState = "queued" | "running" | "completed" | "cancelled";
export type LaunchSource = "dashboard" | "api" | "cli";

/** Of a launch. */
export const runsMax = 10_000;

export const runResults = [
  "passed",
  "failed",
  "skipped",
  "missing_instrumentation",
  "error",
  "cancelled",
  "open",
] as const;
export type RunResult = (typeof runResults)[number];

/** Runs by result; `open` have not ended. */
export type LaunchCounts = Record<RunResult, number>;

/** Some runs of a launch together. */
export type RunSummary = {
  runs: number;
  counts: LaunchCounts;
  /** Of those with a verdict, whichever it is. */
  notFullyEvaluated: number;
  passRate: PassRate | null;
};

export type Launch = {
  id: string;
  agentId: string;
  createdAt: Date;
  /** Null if the account was deleted. */
  createdBy: { id: string; name: string } | null;
  source: LaunchSource;
  state: LaunchState;
  testCount: number;
  /** Of each test, inputs × repeats. */
  runCount: number;
  finishedAt: Date | null;
  counts: LaunchCounts;
  passRate: PassRate | null;
  notFullyEvaluated: number;
  /** Those of them for which the judge was unavailable: they can be evaluated again. */
  outages: number;
};

/** The runs of one test in a launch. */
export type LaunchTest = RunSummary & {
  testId: string;
  /** When the launch was created. */
  testName: string;
  /** Whether the test was deleted since. */
  testDeleted: boolean;
  /** When the launch was created: 0 without inputs, 1 without repeats. */
  inputCount: number;
  repeats: number;
};

/** What a launch would send. */
export type LaunchEstimate = {
  tests: number;
  runs: number;
  /** One per turn. */
  requests: number;
  semanticChecks: number;
};

/** A run's outcome compared with the fully evaluated ones of the same test and input in the previous launch that has any. */
export type Change = "broke" | "mended" | "same" | "new";

export const launchChanges = ["broke", "mended", "same", "new", "gone"] as const;

/** The runs of a test with the same input in two launches. */
export type LaunchChange = (typeof launchChanges)[number];

export type ComparedInput = {
  /** Of the first such run, in the later launch if it has one. */
  id: string;
  testId: string;
  /** The position of the input in each launch, from 1; null for a test without inputs, and if the launch has no such run. */
  row: number | null;
  rowBefore: number | null;
  /** Shortened; null for a test without inputs. */
  input: string | null;
  before: RunSummary | null;
  after: RunSummary | null;
  /** Null if both launches have such runs, but one has no result. */
  change: LaunchChange | null;
};

/** A test in two launches. */
export type ComparedTest = Pick<LaunchTest, "testId" | "testName" | "testDeleted"> & {
  before: RunSummary | null;
  after: RunSummary | null;
  difference: Difference;
};

/** One turn of a manual run; the reply and the trace are added once they are known. */
export type RunTurn = {
  /** Counted from 1. */
  turn: number;
  input: string;
  /** Sent with the request: the agent's trace is recognized by either. */
  requestId: string;
  w3cTraceId: string;
  startedAt: string;
  /** Null if no response arrived, or until it does. */
  status: number | null;
  /** Null until the reply has ended. */
  ms: number | null;
  /** At most `replyMax` characters. */
  text: string | null;
  error: AgentCallError | null;
  /** How many values privacy rules redacted in `text` and in the reason of `error`; absent: none. */
  redactions?: RuleCounts;
  /** Whether the agent sent a trace of the turn in time; null until that is known. */
  arrived: boolean | null;
  /** How long it was waited for after the reply; absent: not at all, or the reply was in it. */
  waitedMs?: number;
  /** The trace that is evaluated: the agent's, or one built from request and reply. */
  traceId: string | null;
  /** The connection reads the reply from the trace; absent: `text` is what the call answered. */
  replyFrom?: "trace";
  /** Set where the agent's trace has another status or reply than the call answered; the reply is cut as `text` is. */
  statusInTrace?: number;
  replyInTrace?: string;
  /** Set where the reply was not stored, or has been forgotten. */
  content?: ContentGone;
};

/** The message of a turn as its trace shows it. */
export type SentMessage = { text: string; redactions?: RuleCounts };

/** `sent`: the message as privacy rules changed it; absent: they changed nothing. The test's own copy stays as it is. */
export type RedactedTurn = RunTurn & { sent?: SentMessage };

export function turnWithoutReply(
  { replyInTrace: _, redactions: __, ...turn }: RunTurn,
  content: ContentGone,
): RunTurn {
  return { ...turn, text: null, content };
}

/** Characters of a reply that the API shows with its turn. */
export const replyMax = 100_000;

export function cutReply(text: string): string {
  return shorten(text, replyMax);
}

/** What the runs of the same test and input came to in the previous launch; several repeats can disagree. */
export type PreviousRuns = "passed" | "not_passed" | "mixed";

type EndedRun = { state: RunState; verdict: Outcome | null; fullyEvaluated: boolean };

/**
 * Null if the run has no outcome to compare: also one that is not fully evaluated is none. Skipped runs are ignored. Neither
 * outcome is a change of mixed ones.
 */
export function changeOf(
  { state, verdict: outcome, fullyEvaluated }: EndedRun,
  before: PreviousRuns | null,
): Change | null {
  if (state !== "completed" || !fullyEvaluated || outcome === null || outcome === "skipped") return null;
  if (before === null) return "new";
  const passed = outcome === "passed";
  if (before === "mixed" || passed === (before === "passed")) return "same";
  return passed ? "mended" : "broke";
}

/** Whether the outcomes, in order, changed at least twice: one change is a change, two are flaky. */
export function isFlaky(outcomes: Outcome[]): boolean {
  const passed = outcomes.filter(outcome => outcome !== "skipped").map(outcome => outcome === "passed");
  return passed.filter((now, at) => at > 0 && now !== passed[at - 1]).length > 1;
}
