// Queries for results of test cases: last outcome, 30 days of counts, and evaluations.

import { queryOptions } from "@tanstack/react-query";
import type { Day, TestInsights } from "../../src/http/projects/insights-schemas.ts";
import type { RunDetail } from "../../src/http/traces/run-schemas.ts";
import type { Counts, Outcome } from "../../src/model/run/outcome.ts";
import { read } from "../api.ts";
import type { Within } from "../instant.ts";
import { pagesOf } from "./pages.ts";
import { testQuery, testsQuery } from "./tests.ts";

const dayMs = 86_400_000;
const nothing: Counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };

/** Keyed below the tests, so that it is refetched with them. */
export const testInsightsQuery = (agentId: string) =>
  pagesOf<TestInsights>(
    [...testsQuery(agentId).queryKey, "insights"],
    `/api/agents/${agentId}/tests/insights`,
    200,
  );

/** Daily counts of one test over 30 days. */
export const testDaysQuery = (agentId: string, testId: string) =>
  queryOptions({
    queryKey: [...testQuery(testId).queryKey, "days"],
    queryFn: async ({ signal }): Promise<Day[]> => {
      const query = new URLSearchParams({ by: "test", interval: "day", testId });
      const { from, to, series } = await read<{ from: string; to: string; series: { points: Day[] }[] }>(
        `/api/agents/${agentId}/insights?${query}`,
        signal,
      );
      const known = new Map(series.flatMap(({ points }) => points.map(point => [point.at, point])));
      const count = Math.round((Date.parse(to) - Date.parse(from)) / dayMs);
      const days = Array.from({ length: count }, (_, day) =>
        new Date(Date.parse(from) + day * dayMs).toISOString(),
      );
      return days.map(at => known.get(at) ?? { at, counts: nothing, notFullyEvaluated: 0, passRate: null });
    },
  });

type Asked = {
  outcome: Outcome | undefined;
  fullyEvaluated: "true" | "false" | undefined;
  period: Within | undefined;
};

/** The runs that evaluated a test, each with only that test's result; optionally only those with an outcome. */
export const testRunsQuery = (testId: string, { outcome, fullyEvaluated, period }: Asked) => {
  const query = new URLSearchParams({
    ...(outcome && { outcome }),
    ...(fullyEvaluated && { fullyEvaluated }),
    ...period,
  }).toString();
  return pagesOf<RunDetail>(
    [...testQuery(testId).queryKey, "runs", query],
    `/api/tests/${testId}/runs${query && `?${query}`}`,
    50,
  );
};

export function sumOfOthers(points: readonly Pick<Day, "notFullyEvaluated">[]): number {
  return points.reduce((sum, { notFullyEvaluated }) => sum + notFullyEvaluated, 0);
}

export function sumOf(points: readonly { counts: Counts }[]): Counts {
  const sum = { ...nothing };
  for (const { counts } of points) {
    for (const outcome of Object.keys(sum) as (keyof Counts)[]) sum[outcome] += counts[outcome];
  }
  return sum;
}
