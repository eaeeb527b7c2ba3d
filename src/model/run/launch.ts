// A launch (one press of Run): its manual runs, their turns, and their comparison with earlier runs.
import type { AgentCallError } from "../agent/call.ts";
import type { Outcome, RunState } from "./run.ts";

export type LaunchState = "queued" | "running" | "completed" | "cancelled";
export type LaunchSource = "dashboard" | "api" | "cli";

/** The runs of a launch by result; `open` have not ended. */
export type LaunchCounts = Record<Outcome | "error" | "cancelled" | "open", number>;

export type Launch = {
  id: string;
  agentId: string;
  createdAt: Date;
  /** Null if the account was deleted. */
  createdBy: { id: string; name: string } | null;
  source: LaunchSource;
  state: LaunchState;
  testCount: number;
  finishedAt: Date | null;
  counts: LaunchCounts;
  /** Runs with checks that were skipped because the judge was unavailable. */
  notFullyEvaluated: number;
};

/** A run's outcome compared with that of the previous run of the same test. */
export type Change = "broke" | "mended" | "same" | "new";

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
  /** Whether the agent sent a trace of the turn in time; null until that is known. */
  arrived: boolean | null;
  /** The trace that is evaluated: the agent's, or one built from request and reply. */
  traceId: string | null;
  /** The connection reads the reply from the trace; absent: `text` is what the call answered. */
  replyFrom?: "trace";
  /** Set where the agent's trace has another status or reply than the call answered; the reply is cut as `text` is. */
  statusInTrace?: number;
  replyInTrace?: string;
};

/** Characters of a reply that the API shows with its turn. */
export const replyMax = 100_000;

export function cutReply(text: string): string {
  return text.length > replyMax ? `${text.slice(0, replyMax - 1)}…` : text;
}

/** Null if the run has no outcome to compare. Skipped runs are ignored. */
export function changeOf(state: RunState, outcome: Outcome | null, before: Outcome | null): Change | null {
  if (state !== "completed" || outcome === null || outcome === "skipped") return null;
  if (before === null) return "new";
  const passed = outcome === "passed";
  if (passed === (before === "passed")) return "same";
  return passed ? "mended" : "broke";
}

/** Whether the outcomes, in order, changed at least twice: one change is a change, two are flaky. */
export function isFlaky(outcomes: Outcome[]): boolean {
  const passed = outcomes.filter(outcome => outcome !== "skipped").map(outcome => outcome === "passed");
  return passed.filter((now, at) => at > 0 && now !== passed[at - 1]).length > 1;
}
