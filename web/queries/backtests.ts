// Queries for backtests, their results, and the results of a test by version.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type {
  Backtest,
  BacktestDetail,
  BacktestGroup,
  BacktestResult,
  TestVersion,
} from "../../src/http/test-cases/backtest-schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";
import { testQuery } from "./tests.ts";

const runningPollMs = 1_500;

/** All backtests that are kept of an agent, newest first. Only the first one can be running. */
export const backtestsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "backtests"],
    queryFn: async ({ signal }) =>
      (await read<Page<Backtest>>(`/api/agents/${agentId}/backtests`, signal)).items,
    refetchInterval: ({ state: { data } }) => (data?.[0]?.state === "running" ? runningPollMs : false),
  });

export const backtestQuery = (id: string) =>
  queryOptions({
    queryKey: ["backtests", id],
    queryFn: ({ signal }) => read<BacktestDetail>(`/api/backtests/${id}`, signal),
    refetchInterval: ({ state: { data } }) => (data?.state === "running" ? runningPollMs : false),
  });

/** The tried traces of a group. Those without an outcome are one group, whatever they had before. */
export const backtestResultsQuery = (
  id: string,
  { before, after, change }: Omit<BacktestGroup, "traces">,
) => {
  const filter =
    change === "none"
      ? { change, after: after ?? "none" }
      : { change, before: before ?? "none", after: after ?? "none" };
  const query = new URLSearchParams(filter).toString();
  return {
    ...pagesOf<BacktestResult>(
      ["backtests", id, "results", query],
      `/api/backtests/${id}/results?${query}`,
      50,
    ),
    placeholderData: keepPreviousData,
  };
};

/** Newest first. */
export const testVersionsQuery = (testId: string) =>
  queryOptions({
    queryKey: [...testQuery(testId).queryKey, "versions"],
    queryFn: async ({ signal }) =>
      (await read<{ items: TestVersion[] }>(`/api/tests/${testId}/versions`, signal)).items,
  });
