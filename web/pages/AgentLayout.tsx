// What all pages of one agent have above them: its name, and the way to the others.
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet } from "@tanstack/react-router";
import { agentQuery } from "../queries/agents.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId");

const tabs = [
  { to: "/projects/$projectId/agents/$agentId/traces", text: "Traces" },
  { to: "/projects/$projectId/agents/$agentId/tests", text: "Test cases" },
  { to: "/projects/$projectId/agents/$agentId/insights", text: "Insights" },
  { to: "/projects/$projectId/agents/$agentId/start", text: "Get started" },
  { to: "/projects/$projectId/agents/$agentId/settings", text: "Settings" },
] as const;

export function AgentLayout() {
  const params = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(params.agentId));
  return (
    <>
      <nav className="tabs agent-tabs" aria-label={`Agent ${agent.name}`}>
        <span className="agent-name">{agent.name}</span>
        {tabs.map(({ to, text }) => (
          <Link key={to} to={to} params={params} className="tab" activeOptions={{ includeSearch: false }}>
            {text}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  );
}
