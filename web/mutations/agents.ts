// Changes to agents and their connections, test messages and sample traces.
import type { Agent, AgentConnection, AgentTrial } from "../../src/http/projects/schemas.ts";
import { type Answer, ask, remove } from "../api.ts";

type AgentFields = Pick<Agent, "name" | "type" | "otlpServiceName">;
type AgentChange = Partial<
  AgentFields &
    Pick<
      Agent,
      "conventions" | "readFrom" | "conventionRules" | "content" | "contentForgetAfterSeconds" | "attributes"
    >
>;

export const createAgent = (projectId: string, body: AgentFields): Promise<Answer<Agent>> =>
  ask("POST", `/api/projects/${projectId}/agents`, { body });

export const updateAgent = (id: string, body: AgentChange): Promise<Answer<Agent>> =>
  ask("PATCH", `/api/agents/${id}`, { body });

export const deleteAgent = (id: string) => remove(`/api/agents/${id}`);

/** Stores a sample trace as if the agent had sent it. */
export const sendSampleTrace = (agentId: string) => ask("POST", `/api/agents/${agentId}/sample-trace`);

export const saveConnection = (agentId: string, body: unknown): Promise<Answer<AgentConnection>> =>
  ask("PUT", `/api/agents/${agentId}/connection`, { body });

export const deleteConnection = (agentId: string): Promise<Answer<void>> =>
  ask("DELETE", `/api/agents/${agentId}/connection`);

/** Sends the agent one message over a connection that need not be saved. */
export const tryConnection = (
  agentId: string,
  body: { input: string; connection: unknown },
): Promise<Answer<AgentTrial>> => ask("POST", `/api/agents/${agentId}/connection/test`, { body });
