// The one vocabulary: each state's word, icon and tone, complete by their types.

import type { Key } from "../src/http/projects/schemas.ts";
import type { TestOnTrace } from "../src/http/traces/schemas.ts";
import type { AgentType } from "../src/model/agent/agent.ts";
import type { RouteLabel } from "../src/model/judge/judge.ts";
import type { Change, LaunchSource, LaunchState } from "../src/model/run/launch.ts";
import type { Counts, Outcome, Routing, RunState } from "../src/model/run/run.ts";
import type { AssertionType } from "../src/model/test-case/assertion.ts";
import type { PassiveBehavior } from "../src/model/test-case/test-case.ts";
import type { SpanRole } from "../src/model/trace/outline.ts";
import type { TracePath } from "../src/model/trace/trace.ts";
import { numberText } from "./format.ts";
import type { LiveState } from "./live.ts";
import type { IconName } from "./ui/Icon.tsx";

export type Word = { text: string; icon: IconName; tone?: "good" | "bad" | "warn" | "info" };

export const outcomes: Record<Outcome, Word> = {
  passed: { text: "Passed", icon: "check", tone: "good" },
  failed: { text: "Failed", icon: "cross", tone: "bad" },
  skipped: { text: "Skipped", icon: "skip" },
  missing_instrumentation: { text: "Missing instrumentation", icon: "missing", tone: "warn" },
};

/** `none`: a trace without a run; `waiting`: one that is running, and asks the judge again later. */
export const runStates: Record<RunState | "none" | "waiting", Word> = {
  none: { text: "Not evaluated", icon: "none" },
  pending: { text: "Pending", icon: "clock", tone: "info" },
  running: { text: "Running", icon: "spin", tone: "info" },
  waiting: { text: "Waiting", icon: "clock", tone: "info" },
  completed: { text: "Completed", icon: "check" },
  error: { text: "Error", icon: "warning", tone: "bad" },
  cancelled: { text: "Cancelled", icon: "none" },
};

export const launchStates: Record<LaunchState, Word> = {
  queued: { text: "Queued", icon: "clock", tone: "info" },
  running: { text: "Running", icon: "spin", tone: "info" },
  completed: { text: "Completed", icon: "check" },
  cancelled: { text: "Cancelled", icon: "skip" },
};

/** What a manual run is before there is an outcome, or instead of one. */
export const manualStates: Record<RunState, Word> = {
  pending: { text: "Queued", icon: "clock", tone: "info" },
  running: { text: "Running", icon: "spin", tone: "info" },
  completed: { text: "Not evaluated", icon: "none" },
  error: { text: "Error", icon: "warning", tone: "bad" },
  cancelled: { text: "Cancelled", icon: "skip" },
};

/** Against the run before of the same test. */
export const changes: Record<Exclude<Change, "same">, Word> = {
  broke: { text: "Broke", icon: "cross", tone: "bad" },
  mended: { text: "Mended", icon: "check", tone: "good" },
  new: { text: "First run", icon: "plus" },
};

export const flakyWord: Word = { text: "Flaky", icon: "warning", tone: "warn" };

export const launchSources: Record<LaunchSource, string> = {
  dashboard: "from the dashboard",
  api: "over the API",
  cli: "from the command line",
};

export const keyStates: Record<Key["status"], Word> = {
  active: { text: "Active", icon: "check", tone: "good" },
  expired: { text: "Expired", icon: "clock", tone: "bad" },
};

export const testStates: Record<"active" | "disabled", Word> = {
  active: { text: "Active", icon: "check", tone: "good" },
  disabled: { text: "Disabled", icon: "none" },
};

export const routingUnavailable: Word = { text: "Routing unavailable", icon: "warning", tone: "warn" };

/** What a span did. */
export const spanRoles: Record<SpanRole, { text: string; icon: IconName }> = {
  agent: { text: "Agent", icon: "agent" },
  model: { text: "Model", icon: "model" },
  tool: { text: "Tool", icon: "tool" },
  other: { text: "Step", icon: "none" },
};

/** Whether what happens is shown as it happens. */
export const liveStates: Record<LiveState | "paused", Word> = {
  connecting: { text: "Connecting", icon: "clock" },
  live: { text: "Live", icon: "live", tone: "good" },
  polling: { text: "Reconnecting", icon: "warning", tone: "warn" },
  paused: { text: "Paused", icon: "pause", tone: "info" },
};

export const routings: Record<Routing, string> = {
  ok: "Scenarios were compared",
  not_needed: "No scenario to compare",
  no_user_input: "No user input",
  unavailable: "Routing unavailable",
};

export const tracePaths: Record<TracePath, string> = { canonical: "Canonical", otlp: "OTLP" };

/** What a check looks at. */
export const checkTypes: Record<AssertionType, string> = {
  node_call: "Node call",
  tool_call: "Tool call",
  token_limit: "Token limit",
  http_status: "HTTP status",
  response_time: "Response time",
  response_regex: "Response regex",
  semantic: "Semantic",
  json_match: "JSON match",
  json_schema: "JSON schema",
};

export const passiveBehaviors: Record<PassiveBehavior, { text: string; about: string }> = {
  always_run: { text: "Always run", about: "On every conversation, whatever it is about." },
  run_when_relevant: {
    text: "Run when relevant",
    about: "On conversations that its scenario fits; a judge decides.",
  },
  manual_only: { text: "Manual only", about: "Never on real conversations." },
};

/** Whether an input fits a scenario: only "no match" keeps a test from running. */
export const routeLabels: Record<RouteLabel, Word> = {
  match: { text: "Match", icon: "check", tone: "good" },
  unsure: { text: "Unsure", icon: "help", tone: "warn" },
  no_match: { text: "No match", icon: "skip" },
};

/** Why a test ran on a trace, or did not. `pending` and `not_evaluated`: no run has told yet. */
export type Why = TestOnTrace["why"];

export const whys: Record<Why, string> = {
  always_run: "It always runs.",
  manual_run: "Somebody ran it.",
  scenario_matched: "The user’s input fits its scenario.",
  scenario_unsure: "Whether the user’s input fits its scenario is not sure, so it ran.",
  disabled: "It is disabled.",
  manual_only: "It runs manually only.",
  multi_turn: "It does not have exactly one turn, so it runs manually only.",
  scenario_no_match: "The user’s input does not fit its scenario.",
  no_user_input: "The trace holds no user input that its scenario could be compared with.",
  routing_unavailable: "Its scenario could not be compared: routing was unavailable.",
  routing_waiting: "Whether its scenario matches is asked of the judge again later.",
  pending: "The evaluation is still to come.",
  not_evaluated: "The trace was not evaluated.",
};

/** Which real conversations are judged by a test that is eligible. */
export const eligibilities: Record<"always_run" | "run_when_relevant", string> = {
  always_run: "Runs on every conversation.",
  run_when_relevant: "Runs where its scenario fits.",
};

/** Why no real conversation is judged by a test. */
export const ineligibilities: Record<"disabled" | "manual_only" | "multi_turn", string> = {
  disabled: "Disabled: no conversation is judged by it.",
  manual_only: "Manual only: no conversation is judged by it.",
  multi_turn: "Manual only: it does not have exactly one turn.",
};

export const agentTypes: Record<AgentType, string> = {
  http_api: "HTTP API",
  workflow: "Workflow",
  flow_builder: "Flow builder",
};

/** "1 trace", "2 traces". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** "3 passed, 1 failed"; empty where nothing is counted. */
export function countsText(counts: Counts): string {
  return (Object.keys(outcomes) as Outcome[])
    .filter(outcome => counts[outcome] > 0)
    .map(outcome => `${numberText(counts[outcome])} ${outcomes[outcome].text.toLowerCase()}`)
    .join(", ");
}
