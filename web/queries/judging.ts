// Queries for judge calls, and for traces that the judge could not evaluate.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type { JudgeCall, Outages } from "../../src/http/judge/schemas.ts";
import { read } from "../api.ts";

export const outagesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "outages"],
    queryFn: ({ signal }) => read<Outages>(`/api/agents/${agentId}/outages`, signal),
  });

/** The run's calls, oldest first. `count` is in the key, so that a new call causes a refetch. */
export const judgeCallsQuery = (runId: string, count: number) =>
  infiniteQueryOptions({
    queryKey: ["runs", runId, "calls", count],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) =>
      read<Page<JudgeCall>>(`/api/runs/${runId}/calls${pageParam && `?cursor=${pageParam}`}`, signal),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
