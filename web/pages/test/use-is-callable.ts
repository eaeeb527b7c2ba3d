// Whether the agent has a connection, so that its tests can be run manually.
import { useQuery } from "@tanstack/react-query";
import { agentQuery } from "../../queries/agents.ts";
import { connectionQuery } from "../../queries/connection.ts";

/** Undefined until it is known; true if that cannot be found out. */
export function useIsCallable(agentId: string): boolean | undefined {
  const agent = useQuery(agentQuery(agentId));
  const type = agent.data?.type;
  const connection = useQuery({
    ...connectionQuery(agentId, type ?? "http_api"),
    enabled: type !== undefined,
  });
  if (agent.isError || connection.isError) return true;
  return connection.data && connection.data.connection !== null;
}
