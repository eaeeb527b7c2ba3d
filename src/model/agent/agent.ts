// An agent: the AI system that is watched, and the service name its OpenTelemetry exporter bears.

export type AgentType = "http_api" | "workflow" | "flow_builder";

export type Agent = {
  id: string;
  projectId: string;
  name: string;
  type: AgentType;
  /** Exact, case-sensitive, unique in its project. */
  otlpServiceName: string | null;
};
