// Launches of an agent's test cases, and the manual runs they are made of.
import { queryOptions } from "@tanstack/react-query";
import type { Change, LaunchCounts, LaunchSource, LaunchState, RunTurn } from "../../src/model/run/launch.ts";
import type { AssertionType } from "../../src/model/test-case/assertion.ts";
import { read } from "../api.ts";
import type { Page, Run, RunDetail } from "../shapes.ts";
import { pagesOf } from "./pages.ts";
import { testQuery } from "./tests.ts";

/** One press of Run; times are ISO 8601. */
export type Launch = {
  id: string;
  agentId: string;
  createdAt: string;
  /** null: the account is gone. */
  createdBy: { id: string; name: string } | null;
  source: LaunchSource;
  state: LaunchState;
  testCount: number;
  finishedAt: string | null;
  counts: LaunchCounts;
};

/** What only manual runs have. */
type Launched = {
  launchId: string;
  testId: string;
  /** As it was when the run was made. */
  testName: string;
  testDeleted: boolean;
  turnCount: number;
  turnsEnded: number;
  change: Change | null;
  /** The result in a sentence. */
  reason: string | null;
  /** The first check that made it so; null where it passed. */
  telling: { type: AssertionType; reason: string } | null;
  flaky: boolean;
  notices: string[];
};

/** `traceId` null: none exists yet. */
export type LaunchedRun = Omit<Run, "traceId" | "launchId"> & Launched & { traceId: string | null };

export type LaunchDetail = Launch & { runs: LaunchedRun[] };

export type ManualRun = Omit<RunDetail, "traceId" | "launchId"> &
  Launched & { traceId: string | null; turns: RunTurn[] };

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
