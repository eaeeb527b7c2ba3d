// Events about traces, runs, launches and ingestion, sent to open dashboards.

import type { RefusalCode } from "./refusals.ts";
import type { Outcome } from "./run/outcome.ts";
import type { RunState } from "./run/run.ts";

export type TraceEvent = {
  type: "trace";
  agentId: string;
  traceId: string;
  change: "created" | "replaced" | "merged" | "forgotten" | "deleted";
};

export type RunEvent = {
  type: "run";
  agentId: string;
  traceId: string;
  runId: string;
  state: RunState;
  verdict: Outcome | null;
};

/** A launch was created, or one of its runs began or ended. */
export type LaunchEvent = {
  type: "launch";
  agentId: string;
  launchId: string;
  /** Null if the event is about the launch as a whole. */
  runId: string | null;
};

/** A request with this key was refused. Events are throttled; the ingestion log counts every refusal. */
export type IngestionEvent = {
  type: "ingestion";
  agentId: null;
  projectId: string;
  code: RefusalCode;
  /** Shortened; null if the refusal is not about one service. */
  serviceName: string | null;
  keyId: string;
};

/** Too many events for this agent to send one by one, or some were missed: clients read again. */
export type RefreshEvent = { type: "refresh"; agentId: string | null };

export type ServiceEvent = TraceEvent | RunEvent | LaunchEvent | IngestionEvent | RefreshEvent;
