// Queries for a project's judge, its prices, and an agent's judge settings.

import { queryOptions } from "@tanstack/react-query";
import type { JudgePrices, JudgeSettings, ProjectJudge } from "../../src/http/judge/schemas.ts";
import { read } from "../api.ts";

export const projectJudgeQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "judge"],
    queryFn: ({ signal }) => read<ProjectJudge>(`/api/projects/${projectId}/judge`, signal),
  });

export const judgePricesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "judge-prices"],
    queryFn: ({ signal }) => read<JudgePrices>(`/api/projects/${projectId}/judge/prices`, signal),
  });

export const judgeSettingsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "judge-settings"],
    queryFn: ({ signal }) => read<JudgeSettings>(`/api/agents/${agentId}/judge-settings`, signal),
  });
