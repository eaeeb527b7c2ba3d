// Launches of an agent's test cases, and the manual runs they are made of.

import { queryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/schemas.ts";
import type { Launch, LaunchDetail, ManualRun } from "../../src/http/test-cases/launch-schemas.ts";
import { read } from "../api.ts";
import { pagesOf } from "./pages.ts";
import { testQuery } from "./tests.ts";

export const launchesQuery = (agentId: string) =>
  pagesOf<Launch>(["agents", agentId, "launches"], `/api/agents/${agentId}/launches`, 50);

/** While something is open it is read again now and then, should an event have passed before it was listened for. */
const openEveryMs = 3_000;

export const launchQuery = (id: string) =>
  queryOptions({
    queryKey: ["launches", id],
    queryFn: ({ signal }) => read<LaunchDetail>(`/api/launches/${id}`, signal),
    refetchInterval: ({ state: { data } }) =>
      data?.state === "queued" || data?.state === "running" ? openEveryMs : false,
  });

export const manualRunQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", id],
    queryFn: ({ signal }) => read<ManualRun>(`/api/runs/${id}`, signal),
    refetchInterval: ({ state: { data } }) =>
      data?.state === "pending" || data?.state === "running" ? openEveryMs : false,
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
