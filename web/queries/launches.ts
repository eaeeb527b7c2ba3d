// Queries for launches of test cases and their manual runs.

import { queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/schemas.ts";
import type { Launch, LaunchDetail, ManualRun } from "../../src/http/test-cases/launch-schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";
import { testQuery } from "./tests.ts";

export const launchesQuery = (agentId: string) =>
  pagesOf<Launch>(["agents", agentId, "launches"], `/api/agents/${agentId}/launches`, 50);

/** Polling interval of unfinished runs, in case an event was missed before the page subscribed. */
const unfinishedPollMs = 3_000;

export const launchQuery = (id: string) =>
  queryOptions({
    queryKey: ["launches", id],
    queryFn: ({ signal }) => read<LaunchDetail>(`/api/launches/${id}`, signal),
    refetchInterval: ({ state: { data } }) =>
      data?.state === "queued" || data?.state === "running" ? unfinishedPollMs : false,
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

/** The latest manual runs of a test, newest first. */
export const manualRunsQuery = (testId: string) =>
  queryOptions({
    queryKey: [...manualKey(testId), "latest"],
    queryFn: async ({ signal }) =>
      (await read<Page<ManualRun>>(`${manualPath(testId)}&limit=${earlierMax}`, signal)).items,
  });

/** All manual runs of a test, newest first. */
export const allManualRunsQuery = (testId: string) =>
  pagesOf<ManualRun>([...manualKey(testId), "all"], manualPath(testId), 50);
