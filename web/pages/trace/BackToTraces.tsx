// The link from a trace back to the list, with the filters last used there.
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { lastFiltersByAgent } from "../traces/last-filters.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export function BackToTraces({ className, children }: { className: string; children: ReactNode }) {
  const { traceId: _, ...params } = route.useParams();
  return (
    <Link
      to="/projects/$projectId/agents/$agentId/traces"
      params={params}
      search={lastFiltersByAgent.get(params.agentId) ?? {}}
      className={className}
    >
      {children}
    </Link>
  );
}
