// A launch, one press of Run; the manual runs it is made of, their turns, and how they compare with those before.
import type { AgentCallError } from "../agent/call.ts";
import type { Outcome, RunState } from "./run.ts";

export type LaunchState = "queued" | "running" | "completed" | "cancelled";
export type LaunchSource = "dashboard" | "api" | "cli";

/** How many of a launch's runs ended so; `open` have not ended. */
export type LaunchCounts = Record<Outcome | "error" | "cancelled" | "open", number>;

export type Launch = {
  id: string;
  agentId: string;
  createdAt: Date;
  /** Null where the account is gone. */
  createdBy: { id: string; name: string } | null;
  source: LaunchSource;
  state: LaunchState;
  testCount: number;
  finishedAt: Date | null;
  counts: LaunchCounts;
};

/** How a run's outcome compares with that of the run before it of the same test. */
export type Change = "broke" | "mended" | "same" | "new";

/** One turn of a manual run, as far as it is known: a reply once it has ended, a trace once it is stored. */
export type RunTurn = {
  /** From 1. */
  turn: number;
  input: string;
  /** Both were sent, and are what the agent's trace is recognised by. */
  requestId: string;
  w3cTraceId: string;
  startedAt: string;
  /** Null: no reply began, or it is still awaited. */
  status: number | null;
  /** Null while the reply is awaited. */
  ms: number | null;
  /** At most `replyMax` characters. */
  text: string | null;
  error: AgentCallError | null;
  /** Whether the agent sent a trace of it within the wait; null while that is awaited. */
  arrived: boolean | null;
  /** The trace it is judged by: the agent's, or one made of what was seen. */
  traceId: string | null;
};

/** What of a reply is kept beside the run; the trace has all of it. */
export const replyMax = 100_000;

/** A run that has not been judged, or judged nothing, is compared with none. Skipped runs are passed over. */
export function changeOf(state: RunState, outcome: Outcome | null, before: Outcome | null): Change | null {
  if (state !== "completed" || outcome === null || outcome === "skipped") return null;
  if (before === null) return "new";
  const passed = outcome === "passed";
  if (passed === (before === "passed")) return "same";
  return passed ? "mended" : "broke";
}

/** Whether outcomes in their order went back and forth: one change is a change, two are flaky. */
export function isFlaky(outcomes: Outcome[]): boolean {
  const passed = outcomes.filter(outcome => outcome !== "skipped").map(outcome => outcome === "passed");
  return passed.filter((now, at) => at > 0 && now !== passed[at - 1]).length > 1;
}
