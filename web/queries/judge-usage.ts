// Query for an agent's judge usage, by day and by test case.

import { queryOptions } from "@tanstack/react-query";
import type { JudgeUsage } from "../../src/http/judge/schemas.ts";
import { read } from "../api.ts";

const dayMs = 86_400_000;

/** The last `days` days, including today. */
export const judgeUsageQuery = (agentId: string, days: number) =>
  queryOptions({
    queryKey: ["agents", agentId, "judging", days],
    queryFn: ({ signal }) => {
      const to = new Date();
      const from = new Date(to.getTime() - (days - 1) * dayMs);
      const query = new URLSearchParams({ from: dayOf(from), to: dayOf(to) });
      return read<JudgeUsage>(`/api/agents/${agentId}/judging?${query}`, signal);
    },
  });

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
