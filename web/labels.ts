// Labels of every state: word, icon and tone, complete by their types. The only source of state words.

import type { Delivery } from "../src/http/alerts/schemas.ts";
import type { Key } from "../src/http/projects/schemas.ts";
import type { TestOnTrace } from "../src/http/traces/schemas.ts";
import type { AgentType } from "../src/model/agent/agent.ts";
import type { JudgeCallState, RouteLabel, VerdictWord } from "../src/model/judge/call.ts";
import type { BacktestCause, BacktestState } from "../src/model/run/backtest.ts";
import type { Change, LaunchChange, LaunchSource, LaunchState } from "../src/model/run/launch.ts";
import type { Counts, Outcome } from "../src/model/run/outcome.ts";
import type { ResultState, Routing, RunState } from "../src/model/run/run.ts";
import type { AssertionType } from "../src/model/test-case/assertion.ts";
import type { PassiveBehavior } from "../src/model/test-case/document.ts";
import type { Ineligibility } from "../src/model/test-case/eligibility.ts";
import type { SpanRole } from "../src/model/trace/shown.ts";
import type { TracePath } from "../src/model/trace/trace.ts";
import { numberText, passedText } from "./format.ts";
import type { LiveState } from "./live-state.ts";
import type { IconName } from "./ui/icons.ts";

export type Word = { text: string; icon: IconName; tone?: "good" | "bad" | "warn" | "info" };

export const outcomes: Record<Outcome, Word> = {
  passed: { text: "Passed", icon: "check", tone: "good" },
  failed: { text: "Failed", icon: "cross", tone: "bad" },
  skipped: { text: "Skipped", icon: "skip" },
  missing_instrumentation: { text: "Missing instrumentation", icon: "missing", tone: "warn" },
};

export const notFullyEvaluated: Word = { text: "Not fully evaluated", icon: "warning", tone: "warn" };

/** An outcome that checks could have changed that should have been judged and were not is no bare word. Failed is final. */
export function outcomeWord(outcome: Outcome, fullyEvaluated: boolean | null): Word {
  const word = outcomes[outcome];
  if (fullyEvaluated !== false) return word;
  const text = `${word.text}, ${notFullyEvaluated.text.toLowerCase()}`;
  return outcome === "failed" ? { ...word, text } : { ...notFullyEvaluated, text };
}

/** Where a failed result stands. */
export const resultStates: Record<ResultState, Word> = {
  open: { text: "Open", icon: "none" },
  known: { text: "Known", icon: "bookmark", tone: "info" },
  resolved: { text: "Resolved", icon: "check", tone: "good" },
};

/** `none`: a trace without a run; `waiting`: running, and waiting to call the judge again. */
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

export const backtestStates: Record<BacktestState, Word> = {
  running: { text: "Running", icon: "spin", tone: "info" },
  completed: { text: "Completed", icon: "check" },
  cancelled: { text: "Cancelled", icon: "skip" },
  interrupted: { text: "Interrupted", icon: "warning", tone: "warn" },
  error: { text: "Error", icon: "warning", tone: "bad" },
};

/** Why an outcome differs though the test did not make the difference. */
export const backtestCauses: Record<BacktestCause, string> = {
  content: "The trace’s content, or how it is read, has changed since. Not a flip of the test.",
  judge: "Another judge evaluated it then. Not a flip of the test.",
  prompt: "Another version of the judge’s prompt evaluated it then. Not a flip of the test.",
};

/** A manual run that has no outcome. */
export const manualStates: Record<RunState, Word> = {
  pending: { text: "Queued", icon: "clock", tone: "info" },
  running: { text: "Running", icon: "spin", tone: "info" },
  completed: { text: "Not evaluated", icon: "none" },
  error: { text: "Error", icon: "warning", tone: "bad" },
  cancelled: { text: "Cancelled", icon: "skip" },
};

/** Compared with the previous run of the same test. */
export const changes: Record<Exclude<Change, "same">, Word> = {
  broke: { text: "Broke", icon: "cross", tone: "bad" },
  mended: { text: "Fixed", icon: "check", tone: "good" },
  new: { text: "First run", icon: "plus" },
};

/** The runs of a test and input in one launch, compared with those in another. */
export const launchChanges: Record<LaunchChange, Word> = {
  broke: { text: "Broke", icon: "cross", tone: "bad" },
  mended: { text: "Fixed", icon: "check", tone: "good" },
  new: { text: "New", icon: "plus" },
  gone: { text: "Gone", icon: "skip" },
  same: { text: "Same result", icon: "none" },
};

export const flakyWord: Word = { text: "Flaky", icon: "warning", tone: "warn" };

export const launchSources: Record<LaunchSource, string> = {
  dashboard: "from the dashboard",
  api: "over the API",
  cli: "from the command line",
};

/** `pending`: an attempt is under way, or has failed and will be repeated. */
export function deliveryWord({ state, error }: Pick<Delivery, "state" | "error">): Word {
  if (state === "delivered") return { text: "Delivered", icon: "check", tone: "good" };
  if (state === "failed") return { text: "Failed", icon: "cross", tone: "bad" };
  return error === null
    ? { text: "Sending", icon: "spin", tone: "info" }
    : { text: "Retrying", icon: "clock", tone: "warn" };
}

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
  retrieval: { text: "Retrieval", icon: "database" },
  http: { text: "HTTP", icon: "globe" },
  other: { text: "Step", icon: "step" },
};

/** Whether the page updates live. */
export const liveStates: Record<LiveState | "paused", Word> = {
  connecting: { text: "Connecting", icon: "clock" },
  live: { text: "Live", icon: "live", tone: "good" },
  polling: { text: "Reconnecting", icon: "warning", tone: "warn" },
  paused: { text: "Paused", icon: "pause", tone: "info" },
};

/** How the scenarios of a run were matched. */
export const routings: Record<Routing, Word & { about: string }> = {
  ok: {
    text: "Scenarios matched",
    icon: "check",
    about: "The user’s input was matched against the scenarios of the “Run when relevant” tests.",
  },
  not_needed: {
    text: "No scenario to match",
    icon: "info",
    about: "No test depends on a scenario match.",
  },
  no_user_input: {
    text: "No user input",
    icon: "info",
    tone: "info",
    about:
      "The trace has no user input to match scenarios against. “Always run” tests ran; “Run when relevant” tests did not.",
  },
  unavailable: {
    text: "Routing unavailable",
    icon: "warning",
    tone: "warn",
    about:
      "The judge could not match scenarios, so “Run when relevant” tests did not run. “Always run” tests did.",
  },
};

/** The judge’s verdict on one criterion. */
export const verdictWords: Record<VerdictWord, Word> = {
  met: { text: "Met", icon: "check", tone: "good" },
  mostly: { text: "Mostly met", icon: "check", tone: "good" },
  partly: { text: "Partly met", icon: "skip", tone: "warn" },
  not_met: { text: "Not met", icon: "cross", tone: "bad" },
  not_applicable: { text: "Not applicable", icon: "skip" },
  cannot_tell: { text: "Cannot tell", icon: "help" },
};

/** How a call of the judge ended. */
export const judgeCallStates: Record<JudgeCallState, Word> = {
  ok: { text: "Answered", icon: "check", tone: "good" },
  later: { text: "Unavailable", icon: "clock", tone: "info" },
  refused: { text: "Rejected", icon: "cross", tone: "bad" },
  unusable: { text: "Unusable", icon: "warning", tone: "warn" },
  aborted: { text: "Cancelled", icon: "skip" },
};

export const tracePaths: Record<TracePath, string> = { canonical: "Canonical", otlp: "OTLP" };

/** The types of checks. */
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
  always_run: { text: "Always run", about: "On every trace, whatever it is about." },
  run_when_relevant: {
    text: "Run when relevant",
    about: "On traces whose input matches the scenario; the judge decides.",
  },
  manual_only: { text: "Manual runs only", about: "Never on live traffic." },
};

/** Whether an input matches a scenario: only "no match" keeps a test from running. */
export const routeLabels: Record<RouteLabel, Word> = {
  match: { text: "Match", icon: "check", tone: "good" },
  unsure: { text: "Unsure", icon: "help", tone: "warn" },
  no_match: { text: "No match", icon: "skip" },
};

/** Why a test ran on a trace, or did not. `pending` and `not_evaluated`: no run has decided yet. */
export type Why = TestOnTrace["why"];

export const whys: Record<Why, string> = {
  always_run: "It always runs.",
  manual_run: "It was run manually.",
  scenario_matched: "The user’s input matches the scenario.",
  scenario_unsure: "It is unclear whether the input matches the scenario, so the test ran.",
  disabled: "It is disabled.",
  manual_only: "It is limited to manual runs.",
  multi_turn: "It does not have exactly one turn, so it is limited to manual runs.",
  scenario_no_match: "The user’s input does not match the scenario.",
  no_user_input: "The trace has no user input to match the scenario against.",
  content_not_stored:
    "The content of the trace is not stored, so there is no input to match the scenario against.",
  routing_unavailable: "The judge could not match the scenario: routing was unavailable.",
  routing_waiting: "Waiting for the judge to say whether the scenario matches.",
  pending: "The evaluation is pending.",
  not_evaluated: "The trace was not evaluated.",
};

/** Which traces an eligible test runs on. */
export const eligibilities: Record<"always_run" | "run_when_relevant", string> = {
  always_run: "Runs on every trace.",
  run_when_relevant: "Runs on traces that match the scenario.",
};

/** Why a test does not run on live traffic. */
export const ineligibilities: Record<Ineligibility, string> = {
  disabled: "Disabled: does not run on live traffic.",
  manual_only: "Manual runs only: does not run on live traffic.",
  multi_turn: "Manual runs only, because it does not have exactly one turn.",
};

export const agentTypes: Record<AgentType, string> = {
  http_api: "HTTP API",
  workflow: "Workflow",
  flow_builder: "Flow builder",
};

/** "1 trace", "2,000 traces". */
export function counted(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** "3 passed, 1 failed, 2 not fully evaluated"; empty if all counts are 0. `others`: the ones not fully evaluated. */
export function countsText(counts: Counts, others = 0): string {
  const texts = (Object.keys(outcomes) as Outcome[])
    .filter(outcome => counts[outcome] > 0)
    .map(outcome => `${numberText(counts[outcome])} ${outcomes[outcome].text.toLowerCase()}`);
  if (others > 0) texts.push(`${numberText(others)} ${notFullyEvaluated.text.toLowerCase()}`);
  return texts.join(", ");
}

/** "3 of 4 tests passed, 1 skipped". Empty if all counts are 0. */
export function tallyText(counts: Counts, noun: "test" | "check"): string {
  const others = countsText({ ...counts, passed: 0, failed: 0 });
  return [passedText(counts, noun), others].filter(Boolean).join(", ");
}
