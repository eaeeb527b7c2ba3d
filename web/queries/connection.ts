// Query for an agent's connection, which manual runs use.
import { queryOptions } from "@tanstack/react-query";
import type { AgentConnection } from "../../src/http/projects/schemas.ts";
import type { AgentType } from "../../src/model/agent/agent.ts";
import { read } from "../api.ts";

/** Keyed by type, because each agent type has its own kind of connection. */
export const connectionQuery = (agentId: string, type: AgentType) =>
  queryOptions({
    queryKey: ["agents", agentId, "connection", type],
    queryFn: ({ signal }) => read<AgentConnection>(`/api/agents/${agentId}/connection`, signal),
  });

/** Whether there is a connection and all of its secrets can be decrypted. */
export function isCallable({ connection }: AgentConnection): boolean {
  if (connection === null) return false;
  return connection.headers.every(header => !("set" in header) || header.set);
}
