// The one vocabulary: each state's word, icon and tone, complete by their types.
import type { AgentType } from "../src/model/agent.ts";
import type { Outcome, RunState } from "../src/model/run.ts";
import type { Key } from "./shapes.ts";
import type { IconName } from "./ui/Icon.tsx";

export type Word = { text: string; icon: IconName; tone?: "good" | "bad" | "warn" | "info" };

export const outcomes: Record<Outcome, Word> = {
  passed: { text: "Passed", icon: "check", tone: "good" },
  failed: { text: "Failed", icon: "cross", tone: "bad" },
  skipped: { text: "Skipped", icon: "skip" },
  missing_instrumentation: { text: "Missing instrumentation", icon: "missing", tone: "warn" },
};

/** `none`: a trace without a run. */
export const runStates: Record<RunState | "none", Word> = {
  none: { text: "Not evaluated", icon: "none" },
  pending: { text: "Pending", icon: "clock", tone: "info" },
  running: { text: "Running", icon: "spin", tone: "info" },
  completed: { text: "Completed", icon: "check" },
  error: { text: "Error", icon: "warning", tone: "bad" },
};

export const keyStates: Record<Key["status"], Word> = {
  active: { text: "Active", icon: "check", tone: "good" },
  expired: { text: "Expired", icon: "clock", tone: "bad" },
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
