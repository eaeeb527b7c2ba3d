// What the judge was asked, and what it could not judge.

import { queryOptions } from "@tanstack/react-query";
import type { JudgeCall, Outages } from "../../src/http/judge/schemas.ts";
import { read } from "../api.ts";

export const outagesQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "outages"],
    queryFn: ({ signal }) => read<Outages>(`/api/agents/${agentId}/outages`, signal),
  });

/** The run's calls, the oldest first; `count`: of how many is known, so that a further one is read. */
export const judgeCallsQuery = (runId: string, count: number) =>
  queryOptions({
    queryKey: ["runs", runId, "calls", count],
    queryFn: async ({ signal }) =>
      (await read<{ items: JudgeCall[] }>(`/api/runs/${runId}/calls`, signal)).items,
  });
