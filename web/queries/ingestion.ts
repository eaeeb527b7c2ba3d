// Queries for the ingestion log: results of a project's requests, by minute and in total.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { IngestionMinute, IngestionSummary, LastRejection } from "../../src/http/ingestion/schemas.ts";
import { read } from "../api.ts";
import type { IngestionFilters } from "./ingestion-filters.ts";

/** Hours before now; undefined: all seven days. */
export type Hours = number | undefined;

const minutesMax = 50;

export const ingestionKey = (projectId: string) => ["projects", projectId, "ingestion"];

export const ingestionQuery = (projectId: string, filters: IngestionFilters, hours: Hours) =>
  infiniteQueryOptions({
    queryKey: [...ingestionKey(projectId), "minutes", filters, hours],
    queryFn: ({ signal, pageParam }) => {
      const query = queryOf({ ...filters, from: sinceOf(hours), cursor: pageParam });
      query.set("limit", String(minutesMax));
      return read<Page<IngestionMinute>>(`/api/projects/${projectId}/ingestion?${query}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: page => page.nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });

export const ingestionSummaryQuery = (projectId: string, hours: Hours) =>
  queryOptions({
    queryKey: [...ingestionKey(projectId), "summary", hours],
    queryFn: ({ signal }) =>
      read<IngestionSummary>(
        `/api/projects/${projectId}/ingestion/summary?${queryOf({ from: sinceOf(hours) })}`,
        signal,
      ),
  });

/** The log lags behind requests by about two seconds. */
export const logDelayMs = 2_500;

/** The latest rejected request of the last seven days that concerns the agent; null: none. */
export const lastRejectionQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "last-rejection"],
    queryFn: async ({ signal }) => {
      const path = `/api/agents/${agentId}/last-rejection`;
      return (await read<{ rejection: LastRejection | null }>(path, signal)).rejection;
    },
  });

function sinceOf(hours: Hours): string | undefined {
  return hours === undefined ? undefined : new Date(Date.now() - hours * 3_600_000).toISOString();
}

function queryOf(given: Record<string, string | undefined>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(given).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : [])),
  );
}
