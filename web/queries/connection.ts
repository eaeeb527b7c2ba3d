// How an agent is called in manual runs.
import { queryOptions } from "@tanstack/react-query";
import type { AgentConnection } from "../../src/http/projects/schemas.ts";
import type { AgentType } from "../../src/model/agent/agent.ts";
import { read } from "../api.ts";

/** Another type asks for another connection. */
export const connectionQuery = (agentId: string, type: AgentType) =>
  queryOptions({
    queryKey: ["agents", agentId, "connection", type],
    queryFn: ({ signal }) => read<AgentConnection>(`/api/agents/${agentId}/connection`, signal),
  });

/** There is one, and each of its secrets can be used. */
export function isCallable({ connection }: AgentConnection): boolean {
  if (connection === null) return false;
  return connection.headers.every(header => !("set" in header) || header.set);
}
