// An agent: the AI system under watch, and the service name that its OpenTelemetry exporter sends.

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
};

/** The conventions of an agent that has some, by what requests name it. */
export type AgentConventions = { agentId: string; serviceName: string | null; conventions: string[] };
