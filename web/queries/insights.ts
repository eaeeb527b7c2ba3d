// Queries for Insights: results over time, and each agent's last 24 hours.

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { AgentDay, Insights } from "../../src/http/projects/insights-schemas.ts";
import type { ModelInsights } from "../../src/http/projects/model-insights-schemas.ts";
import type { RedactionInsights } from "../../src/http/projects/redaction-insights-schemas.ts";
import { read } from "../api.ts";
import { type InsightsAsk, insightsSpan } from "./insights-span.ts";
import { pagesOf } from "./pages.ts";

export const insightsQuery = (agentId: string, asked: InsightsAsk) =>
  queryOptions({
    queryKey: ["agents", agentId, "insights", asked],
    queryFn: ({ signal }) => {
      const { by, testId } = asked;
      const query = parametersOf({ by, testId, ...insightsSpan(asked) });
      return read<Insights>(`/api/agents/${agentId}/insights?${query}`, signal);
    },
    ...("hours" in asked.span && { refetchInterval: 60_000 }),
    // Keep the shown data while another time span loads, but not data of another test or breakdown.
    placeholderData: (previous, query) => {
      const earlier = query?.queryKey[3] as InsightsAsk | undefined;
      return earlier?.by === asked.by && earlier.testId === asked.testId ? previous : undefined;
    },
  });

export const modelInsightsQuery = (agentId: string, asked: InsightsAsk) =>
  queryOptions({
    queryKey: ["agents", agentId, "insights", "models", asked],
    queryFn: ({ signal }) =>
      read<ModelInsights>(
        `/api/agents/${agentId}/insights/models?${parametersOf(insightsSpan(asked))}`,
        signal,
      ),
    ...("hours" in asked.span && { refetchInterval: 60_000 }),
    placeholderData: keepPreviousData,
  });

export const redactionInsightsQuery = (agentId: string, asked: InsightsAsk) =>
  queryOptions({
    queryKey: ["agents", agentId, "insights", "redactions", asked],
    queryFn: ({ signal }) =>
      read<RedactionInsights>(
        `/api/agents/${agentId}/insights/redactions?${parametersOf(insightsSpan(asked))}`,
        signal,
      ),
    ...("hours" in asked.span && { refetchInterval: 60_000 }),
    placeholderData: keepPreviousData,
  });

function parametersOf(values: Record<string, string | undefined>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** In the same order and page size as the project's agents. */
export const agentDaysQuery = (projectId: string) =>
  pagesOf<AgentDay>(["projects", projectId, "agent-days"], `/api/projects/${projectId}/insights/agents`, 200);
