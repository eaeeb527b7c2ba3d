// Queries for launches of test cases and their manual runs.

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import type {
  Launch,
  LaunchComparison,
  LaunchDetail,
  LaunchedRun,
  ManualRun,
} from "../../src/http/test-cases/launch-schemas.ts";
import type { RunResult } from "../../src/model/run/launch.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";
import { testQuery } from "./tests.ts";

export const launchesQuery = (agentId: string) =>
  pagesOf<Launch>(["agents", agentId, "launches"], `/api/agents/${agentId}/launches`, 50);

/** Polling interval of unfinished runs, in case an event was missed before the page subscribed. */
const unfinishedPollMs = 3_000;

const isOpen = (launch: Launch | undefined) => launch?.state === "queued" || launch?.state === "running";

/** A launch with its tests, without its runs. What belongs to it has a key that begins with its own. */
export const launchQuery = (id: string) =>
  queryOptions({
    queryKey: ["launches", id],
    queryFn: ({ signal }) => read<LaunchDetail>(`/api/launches/${id}?limit=0`, signal),
    refetchInterval: ({ state: { data } }) => (isOpen(data) ? unfinishedPollMs : false),
  });

/** The first thousand runs of a launch: all of them if each test has one. */
export const launchRunsQuery = (id: string) =>
  queryOptions({
    queryKey: ["launches", id, "first-runs"],
    queryFn: ({ signal }) => read<LaunchDetail>(`/api/launches/${id}`, signal),
    select: ({ runs }) => runs,
    refetchInterval: ({ state: { data } }) => (isOpen(data) ? unfinishedPollMs : false),
  });

/** The runs of one test in a launch, by input and repeat. */
export const runsOfTestQuery = (id: string, testId: string, result: RunResult | undefined) =>
  pagesOf<LaunchedRun>(
    ["launches", id, "runs", testId, result ?? "all"],
    `/api/launches/${id}/runs?${new URLSearchParams({ testId, ...(result && { result }) })}`,
    200,
  );

/** The repeats of one input of a test in a launch; all repeats of a test without inputs. */
export const repeatsQuery = (id: string, testId: string, row: number | null) =>
  queryOptions({
    queryKey: ["launches", id, "runs", testId, "row", row],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ testId, limit: "20", ...(row !== null && { row: String(row) }) });
      return (await read<Page<LaunchedRun>>(`/api/launches/${id}/runs?${query}`, signal)).items;
    },
  });

/** What can be chosen about a comparison: `change` "changed" is everything that is not the same. */
export type ComparisonFilter = { testId?: string | undefined; change?: string | undefined };

/** Two launches by test and input; the first page has the totals. */
export const comparisonQuery = (id: string, other: string, { testId, change }: ComparisonFilter) =>
  infiniteQueryOptions({
    queryKey: ["launches", id, "comparison", other, testId, change],
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({
        ...{ with: other, limit: "200" },
        ...(testId !== undefined && { testId }),
        ...(change === "changed" ? { changed: "true" } : change !== undefined && { change }),
        ...(pageParam && { cursor: pageParam }),
      });
      return read<LaunchComparison>(`/api/launches/${id}/compare?${query}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: page => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      isOpen(data?.pages[0]?.launch) || isOpen(data?.pages[0]?.with) ? unfinishedPollMs : false,
  });

export const manualRunQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", id],
    queryFn: ({ signal }) => read<ManualRun>(`/api/runs/${id}`, signal),
    refetchInterval: ({ state: { data } }) =>
      data?.state === "pending" || data?.state === "running" ? unfinishedPollMs : false,
  });

const manualKey = (testId: string) => [...testQuery(testId).queryKey, "manual-runs"];
const manualPath = (testId: string) => `/api/tests/${testId}/runs?kind=manual`;
const earlierMax = 10;

/** The latest runs of the same test and input in other launches, newest first. */
export const runsLikeQuery = ({ id, testId }: ManualRun) =>
  queryOptions({
    queryKey: [...manualKey(testId), "like", id],
    queryFn: async ({ signal }) =>
      (await read<Page<ManualRun>>(`${manualPath(testId)}&like=${id}&limit=${earlierMax}`, signal)).items,
  });

/** All manual runs of a test, newest first. */
export const allManualRunsQuery = (testId: string) =>
  pagesOf<ManualRun>([...manualKey(testId), "all"], manualPath(testId), 50);
