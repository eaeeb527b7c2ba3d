// An agent: the AI system under watch, and the service name that its OpenTelemetry exporter sends.
import type { ConventionRule } from "../conventions/rules.ts";

export type AgentType = "http_api" | "workflow" | "flow_builder";

export type Agent = {
  id: string;
  projectId: string;
  name: string;
  type: AgentType;
  /** Exact, case-sensitive, unique in its project. */
  otlpServiceName: string | null;
  /** The conventions that its traces are read by, beside the documented attributes; see conventions.ts. */
  conventions: string[];
  /** Its own rules, which go before conventions; see rules.ts. */
  conventionRules: ConventionRule[];
};

/** What the traces of an agent are read by, if by anything, and what requests name it by. */
export type AgentConventions = Pick<Agent, "conventions" | "conventionRules"> & {
  agentId: string;
  serviceName: string | null;
};
