// Changes to judges, prices and judge settings; judge tests; re-evaluation.
import type {
  JudgedAgain,
  JudgePrices,
  JudgeSettings,
  JudgeTrial,
  ProjectJudge,
} from "../../src/http/judge/schemas.ts";
import { type Answer, ask } from "../api.ts";

export const saveProjectJudge = (projectId: string, body: unknown): Promise<Answer<ProjectJudge>> =>
  ask("PUT", `/api/projects/${projectId}/judge`, { body });

export const deleteProjectJudge = (projectId: string): Promise<Answer<void>> =>
  ask("DELETE", `/api/projects/${projectId}/judge`);

/** Tests the stored judge, or one that is not saved yet. */
export const testProjectJudge = (projectId: string, connection: unknown): Promise<Answer<JudgeTrial>> =>
  ask("POST", `/api/projects/${projectId}/judge/test`, {
    ...(connection !== undefined && { body: { connection } }),
  });

export const testEnvironmentJudge = (): Promise<Answer<JudgeTrial>> => ask("POST", "/api/judge/test");

/** A price that is not a number yet is null, and rejected at its field. */
export const savePrices = (
  projectId: string,
  prices: { [N in keyof JudgePrices["own"][number]]: JudgePrices["own"][number][N] | null }[],
): Promise<Answer<JudgePrices>> =>
  ask("PUT", `/api/projects/${projectId}/judge/prices`, { body: { prices } });

export const saveJudgeSettings = (
  agentId: string,
  body: Omit<JudgeSettings, "today">,
): Promise<Answer<JudgeSettings>> => ask("PUT", `/api/agents/${agentId}/judge-settings`, { body });

/** What is evaluated again; empty: all the agent's live traces. */
export type ToReevaluate = { traceIds?: string[] } | { runIds: string[] } | { launchId: string };

/** Evaluates what an outage of the judge left open, and manual runs whose traces changed. */
export const reevaluate = (agentId: string, body: ToReevaluate): Promise<Answer<JudgedAgain>> =>
  ask("POST", `/api/agents/${agentId}/judge-again`, { body });
