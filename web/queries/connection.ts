// How an agent is called in manual runs.
import { queryOptions } from "@tanstack/react-query";
import type { AgentType } from "../../src/model/agent/agent.ts";
import type { ConnectionView } from "../../src/model/agent/connection.ts";
import { read } from "../api.ts";

/** `connection` null: none was made for this type. */
export type ConnectionAnswer = {
  type: AgentType;
  connection: ConnectionView | null;
  updatedAt: string | null;
};

export type AgentTrial = {
  ok: boolean;
  status: number | null;
  ms: number;
  text: string | null;
  contentType: string | null;
  requestId: string;
  code: string | null;
  reason: string | null;
};

/** Another type asks for another connection. */
export const connectionQuery = (agentId: string, type: AgentType) =>
  queryOptions({
    queryKey: ["agents", agentId, "connection", type],
    queryFn: ({ signal }) => read<ConnectionAnswer>(`/api/agents/${agentId}/connection`, signal),
  });

/** There is one, and each of its secrets can be used. */
export function isCallable({ connection }: ConnectionAnswer): boolean {
  if (connection === null) return false;
  return connection.headers.every(header => !("set" in header) || header.set);
}
