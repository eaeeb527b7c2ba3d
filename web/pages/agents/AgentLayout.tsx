// Layout of an agent's pages: its name and tabs, and the shortcuts to them.
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { agentQuery } from "../../queries/agents.ts";
import { useGo } from "../../shell/shortcuts.ts";
import { TitleOf } from "../../ui/Title.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId");

const tabs = [
  { to: "/projects/$projectId/agents/$agentId/overview", text: "Overview" },
  { to: "/projects/$projectId/agents/$agentId/traces", text: "Traces" },
  { to: "/projects/$projectId/agents/$agentId/tests", text: "Test cases" },
  { to: "/projects/$projectId/agents/$agentId/runs", text: "Runs" },
  { to: "/projects/$projectId/agents/$agentId/insights", text: "Insights" },
  { to: "/projects/$projectId/agents/$agentId/start", text: "Get started" },
  { to: "/projects/$projectId/agents/$agentId/settings", text: "Settings" },
] as const;

export function AgentLayout() {
  const params = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(params.agentId));
  const row = useScrollToCurrentTab();
  const base = `/projects/${params.projectId}/agents/${params.agentId}`;
  useGo("g o", "Go to overview", `${base}/overview`);
  useGo("g t", "Go to traces", `${base}/traces`);
  useGo("g c", "Go to test cases", `${base}/tests`);
  useGo("g r", "Go to runs", `${base}/runs`);
  useGo("g n", "Go to insights", `${base}/insights`);
  useGo("g g", "Go to Get started", `${base}/start`);
  useGo("g e", "Go to agent settings", `${base}/settings`);
  return (
    <TitleOf value={agent.name}>
      <nav className="agent-tabs" aria-label={`Agent ${agent.name}`}>
        <span className="agent-name" title={agent.name}>
          {agent.name}
        </span>
        <div className="tabs" ref={row}>
          {tabs.map(({ to, text }) => (
            <Link key={to} to={to} params={params} className="tab" activeOptions={{ includeSearch: false }}>
              {text}
            </Link>
          ))}
        </div>
      </nav>
      <Outlet />
    </TitleOf>
  );
}

/** Scrolls the current tab into view when not all tabs fit. */
function useScrollToCurrentTab() {
  const row = useRef<HTMLDivElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    const current = row.current?.querySelector<HTMLElement>("[aria-current=page]");
    // Not scrollIntoView, which would scroll the page too.
    if (row.current && current) row.current.scrollLeft = current.offsetLeft - row.current.offsetLeft - 32;
  }, [pathname]);
  return row;
}
