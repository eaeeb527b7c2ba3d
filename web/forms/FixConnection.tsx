// Link to the agent's connection, shown if test cases cannot run because the connection is missing or incomplete.
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { agentQuery } from "../queries/agents.ts";
import { connectionQuery, isCallable } from "../queries/connection.ts";

type FixConnectionProps = { params: { projectId: string; agentId: string } };

/** Renders nothing if the connection is complete. */
export function FixConnection({ params }: FixConnectionProps) {
  const { data: agent } = useSuspenseQuery(agentQuery(params.agentId));
  // A run was just refused, so the cached connection may be stale.
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
        Open connection settings
      </Link>
    </p>
  );
}
