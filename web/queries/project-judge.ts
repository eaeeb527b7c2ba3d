// Who judges a project's traces, what its models cost, and how much of an agent is judged.
import { queryOptions } from "@tanstack/react-query";
import type { JudgeMode, JudgeProvider } from "../../src/model/judge/call.ts";
import type { JudgeUse, OwnPrice, Price } from "../../src/model/judge/prices.ts";
import { read } from "../api.ts";

/** `source` null: no judge is configured. `url` null: the provider's own address, or that of the environment's. */
export type ProjectJudge = {
  source: "project" | "environment" | null;
  provider: JudgeProvider | null;
  host: string | null;
  url: string | null;
  model: string | null;
  keySet: boolean;
  keyLastFour: string | null;
  concurrency: number | null;
  tokensPerMinute: number | null;
  mode: JudgeMode | null;
  testedAt: string | null;
  pausedReason: string | null;
  /** What judges without a connection of the project's own. */
  environment: { provider: JudgeProvider; host: string; model: string } | null;
};

export type JudgeFault = "later" | "refused" | "unusable" | "budget" | "misjudged";

/** `reason` is a sentence, whatever came of it. */
export type ProjectJudgeTrial = {
  ok: boolean;
  mode: JudgeMode | null;
  ms: number;
  reason: string;
  fault: JudgeFault | null;
  tried: { mode: JudgeMode; ok: boolean; reason: string }[];
};

export const projectJudgeQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "judge"],
    queryFn: ({ signal }) => read<ProjectJudge>(`/api/projects/${projectId}/judge`, signal),
  });

export type JudgePrices = { own: OwnPrice[]; builtIn: Price[] };

export const judgePricesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "judge-prices"],
    queryFn: ({ signal }) => read<JudgePrices>(`/api/projects/${projectId}/judge/prices`, signal),
  });

/** What the calls of a day of UTC came to; `cached` are questions that needed none. */
export type JudgeDay = JudgeUse & { day: string; calls: number; cached: number };

export type JudgeSettings = {
  /** In 0..1. */
  sampling: number;
  budgetUsd: number | null;
  budgetTokens: number | null;
  today: JudgeDay;
};

export const judgeSettingsQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId, "judge-settings"],
    queryFn: ({ signal }) => read<JudgeSettings>(`/api/agents/${agentId}/judge-settings`, signal),
  });
