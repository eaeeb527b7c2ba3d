// Queries for agents, their latest trace and recent OTLP traffic.

import { queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { ListedTrace } from "../../src/http/traces/schemas.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";

export const agentsQuery = (projectId: string) =>
  pagesOf<Agent>(["projects", projectId, "agents"], `/api/projects/${projectId}/agents`, 200);

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agents", id],
    queryFn: ({ signal }) => read<Agent>(`/api/agents/${id}`, signal),
  });

/** The agent's two latest traces, newest first: one alone is its first. */
export const lastTracesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "last-traces"],
    queryFn: async ({ signal }) => {
      const { items } = await read<Page<ListedTrace>>(`/api/agents/${agentId}/traces?limit=2`, signal);
      return items;
    },
  });

/** The agent's latest trace; null: none yet. */
export const lastTraceQuery = (agentId: string) =>
  queryOptions({ ...lastTracesQuery(agentId), select: traces => traces[0] ?? null });

export const recentMax = 50;

/** The number of OTLP traces of the last 24 hours, at most `recentMax`: senders that a renamed service affects. */
export const recentOtlpQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "recent-otlp"],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - 86_400_000).toISOString();
      const query = new URLSearchParams({ path: "otlp", receivedFrom: since, limit: String(recentMax) });
      const { items } = await read<Page<ListedTrace>>(`/api/agents/${agentId}/traces?${query}`, signal);
      return items.length;
    },
  });
