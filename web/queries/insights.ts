// Queries for Insights: results over time, and each agent's last 24 hours.

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { AgentDay, Insights } from "../../src/http/projects/insights-schemas.ts";
import type { ModelInsights } from "../../src/http/projects/model-insights-schemas.ts";
import type { RedactionInsights } from "../../src/http/projects/redaction-insights-schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";

export type Interval = "hour" | "day";
export type By = "agent" | "model" | "test" | "check" | "redaction";

export type InsightsAsk = {
  by: By;
  interval: Interval;
  testId: string | undefined;
  /** The last hours, or from one ISO 8601 time to another; if absent, the API's defaults. */
  span: { hours: number } | { from: string | undefined; to: string | undefined };
};

const hourMs = 3_600_000;
const lengths = { hour: hourMs, day: 24 * hourMs };

export const insightsQuery = (agentId: string, asked: InsightsAsk) =>
  queryOptions({
    queryKey: ["agents", agentId, "insights", asked],
    queryFn: ({ signal }) => {
      const { by, testId } = asked;
      const query = parametersOf({ by, testId, ...spanOf(asked) });
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
      read<ModelInsights>(`/api/agents/${agentId}/insights/models?${parametersOf(spanOf(asked))}`, signal),
    ...("hours" in asked.span && { refetchInterval: 60_000 }),
    placeholderData: keepPreviousData,
  });

export const redactionInsightsQuery = (agentId: string, asked: InsightsAsk) =>
  queryOptions({
    queryKey: ["agents", agentId, "insights", "redactions", asked],
    queryFn: ({ signal }) =>
      read<RedactionInsights>(
        `/api/agents/${agentId}/insights/redactions?${parametersOf(spanOf(asked))}`,
        signal,
      ),
    ...("hours" in asked.span && { refetchInterval: 60_000 }),
    placeholderData: keepPreviousData,
  });

function spanOf({ interval, span }: InsightsAsk): Record<string, string | undefined> {
  if (!("hours" in span)) return { interval, ...span };
  return { interval, from: beginOf(span.hours, interval) };
}

function parametersOf(values: Record<string, string | undefined>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The start, so that the span consists of whole intervals, the current one last. */
function beginOf(hours: number, interval: Interval): string {
  const length = lengths[interval];
  const end = Math.ceil(Date.now() / length) * length;
  return new Date(end - hours * hourMs).toISOString();
}

/** In the same order and page size as the project's agents. */
export const agentDaysQuery = (projectId: string) =>
  pagesOf<AgentDay>(["projects", projectId, "agent-days"], `/api/projects/${projectId}/insights/agents`, 200);
