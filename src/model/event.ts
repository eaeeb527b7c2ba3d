// What happens to traces and runs, and what is refused, as it is told to open dashboards.
import type { RefusalCode } from "./refusal.ts";
import type { Outcome, RunState } from "./run/run.ts";

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

/** A launch was made, or a run of it began or ended. */
export type LaunchEvent = {
  type: "launch";
  agentId: string;
  launchId: string;
  /** The run that it is about; null where it is about the launch as a whole. */
  runId: string | null;
};

/** Something sent with this key was refused. Not every refusal is told: the ingestion log counts them all. */
export type IngestionEvent = {
  type: "ingestion";
  agentId: null;
  projectId: string;
  code: RefusalCode;
  /** Shortened; null where the refusal is not one service's. */
  serviceName: string | null;
  keyId: string;
};

/** More happened to this agent's traces than was worth telling one by one, or some of it was missed: read again. */
export type RefreshEvent = { type: "refresh"; agentId: string | null };

export type ServiceEvent = TraceEvent | RunEvent | LaunchEvent | IngestionEvent | RefreshEvent;
