// What happens to traces and runs, as it is told to open dashboards.
import type { Outcome, RunState } from "./run.ts";

export type TraceEvent = {
  type: "trace";
  agentId: string;
  traceId: string;
  change: "created" | "replaced" | "merged" | "deleted";
};

export type RunEvent = {
  type: "run";
  agentId: string;
  traceId: string;
  runId: string;
  state: RunState;
  verdict: Outcome | null;
};

/** More happened to this agent's traces than was worth telling one by one, or some of it was missed: read again. */
export type RefreshEvent = { type: "refresh"; agentId: string | null };

export type ServiceEvent = TraceEvent | RunEvent | RefreshEvent;
