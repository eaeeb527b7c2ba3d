// The way to an agent's connection, shown where it is what keeps test cases from being run.
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { agentQuery } from "../queries/agents.ts";
import { connectionQuery, isCallable } from "../queries/connection.ts";

type MendConnectionProps = { params: { projectId: string; agentId: string } };

/** Nothing where the agent can be called. */
export function MendConnection({ params }: MendConnectionProps) {
  const { data: agent } = useSuspenseQuery(agentQuery(params.agentId));
  // Something was just refused, so what was read before may be out of date.
  const stored = useQuery({ ...connectionQuery(agent.id, agent.type), refetchOnMount: "always" });
  if (stored.data === undefined || isCallable(stored.data)) return null;
  return (
    <p>
      <Link
        to="/projects/$projectId/agents/$agentId/settings"
        params={params}
        hash="connection"
        className="button"
      >
        Open the agent’s connection
      </Link>
    </p>
  );
}
