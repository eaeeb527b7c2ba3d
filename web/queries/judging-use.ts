// What judging an agent has taken, by day and by test case.
import { queryOptions } from "@tanstack/react-query";
import type { JudgeUse } from "../../src/model/judge/prices.ts";
import { read } from "../api.ts";
import type { JudgeDay } from "./project-judge.ts";

/**
 * Days are of UTC, YYYY-MM-DD, the oldest first; those on which nothing was asked are left out. Tests, the dearest
 * first, share what calls took.
 */
export type Judging = {
  days: JudgeDay[];
  tests: (JudgeUse & { testId: string; name: string })[];
};

const dayMs = 86_400_000;

/** Of so many days, today included. */
export const judgingQuery = (agentId: string, days: number) =>
  queryOptions({
    queryKey: ["agents", agentId, "judging", days],
    queryFn: ({ signal }) => {
      const to = new Date();
      const from = new Date(to.getTime() - (days - 1) * dayMs);
      const query = new URLSearchParams({ from: dayOf(from), to: dayOf(to) });
      return read<Judging>(`/api/agents/${agentId}/judging?${query}`, signal);
    },
  });

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
