// Queries for the conventions that an agent's traces can be read by, and for what they would give a trace.
import { queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { AgentConventions } from "../../src/http/projects/schemas.ts";
import type { ListedTrace, TracePreview } from "../../src/http/traces/schemas.ts";
import { read } from "../api.ts";

/** While traces are derived again, its progress is read every other second. */
export const conventionsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "conventions"],
    queryFn: ({ signal }) => read<AgentConventions>(`/api/agents/${agentId}/conventions`, signal),
    refetchInterval: ({ state }) => (state.data?.rereading ? 2_000 : false),
  });

export const previewQuery = (traceId: string, conventions: string[]) =>
  queryOptions({
    queryKey: ["traces", traceId, "preview", conventions],
    queryFn: ({ signal }) =>
      read<TracePreview>(
        `/api/traces/${traceId}/preview?conventions=${encodeURIComponent(conventions.join(","))}`,
        signal,
      ),
  });

/** Traces to try rules on, newest first. */
export const latestTracesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["traces", "latest", agentId],
    queryFn: async ({ signal }) => {
      const { items } = await read<Page<ListedTrace>>(`/api/agents/${agentId}/traces?limit=20`, signal);
      return items;
    },
  });
