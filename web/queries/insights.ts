// Insights: what runs came to over time, and the day of every agent.

import { queryOptions } from "@tanstack/react-query";
import type { AgentDay, Insights } from "../../src/http/projects/insights-schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";

export type Interval = "hour" | "day";
export type By = "agent" | "test" | "check";

export type InsightsAsk = {
  by: By;
  interval: Interval;
  testId: string | undefined;
  /** Up to now this many hours, or from one instant to another; ISO 8601, absent as the API has it. */
  span: { hours: number } | { from: string | undefined; to: string | undefined };
};

const hourMs = 3_600_000;
const lengths = { hour: hourMs, day: 24 * hourMs };

export const insightsQuery = (agentId: string, asked: InsightsAsk) =>
  queryOptions({
    queryKey: ["agents", agentId, "insights", asked],
    queryFn: ({ signal }) => {
      const { by, interval, testId, span } = asked;
      const { from, to } = "hours" in span ? { from: beginOf(span.hours, interval), to: undefined } : span;
      const query = new URLSearchParams(
        Object.entries({ by, interval, testId, from, to }).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value]],
        ),
      );
      return read<Insights>(`/api/agents/${agentId}/insights?${query}`, signal);
    },
    ...("hours" in asked.span && { refetchInterval: 60_000 }),
    // What is shown stays until the next stretch of time is there; another question begins anew.
    placeholderData: (previous, query) => {
      const earlier = query?.queryKey[3] as InsightsAsk | undefined;
      return earlier?.by === asked.by && earlier.testId === asked.testId ? previous : undefined;
    },
  });

/** Whole intervals, the present one the last of them. */
function beginOf(hours: number, interval: Interval): string {
  const length = lengths[interval];
  const end = Math.ceil(Date.now() / length) * length;
  return new Date(end - hours * hourMs).toISOString();
}

/** In the order of the project's agents, and in pages as long. */
export const agentDaysQuery = (projectId: string) =>
  pagesOf<AgentDay>(["projects", projectId, "agent-days"], `/api/projects/${projectId}/insights/agents`, 200);
