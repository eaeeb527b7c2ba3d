// An agent: the AI system under watch, and the service name that its OpenTelemetry exporter sends.

export type AgentType = "http_api" | "workflow" | "flow_builder";

export type Agent = {
  id: string;
  projectId: string;
  name: string;
  type: AgentType;
  /** Exact, case-sensitive, unique in its project. */
  otlpServiceName: string | null;
};
