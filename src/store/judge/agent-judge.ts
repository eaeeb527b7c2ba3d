// Reads an agent's judge settings and prices, and the judge connection of its project.

import type { JudgeConnection } from "../../model/judge/call.ts";
import type { OwnPrice } from "../../model/price/rates.ts";
import { noPrivacy, type PrivacySettings } from "../../model/privacy.ts";
import type { Database } from "../db.ts";
import type { Vault } from "../secrets/vault.ts";
import { findJudgeConnection } from "./connections.ts";
import { listJudgePrices } from "./prices.ts";
import { findJudgeSettings, type JudgeSettings } from "./settings.ts";
import { findJudgeState, fingerprintOf, type JudgeState } from "./states.ts";

export type AgentJudge = {
  accountId: string;
  projectId: string;
  settings: JudgeSettings;
  /** What the judge may see. */
  privacy: Pick<PrivacySettings, "judgeRules" | "judgeSeesToolResults">;
  prices: OwnPrice[];
  judge: FoundJudge | null;
};

/** `own`: the project's own judge instead of the environment's. */
export type FoundJudge = {
  connection: JudgeConnection;
  fingerprint: Buffer;
  own: boolean;
  /** Its API key cannot be decrypted, so it cannot be called. */
  keyUnreadable: boolean;
  state: JudgeState | undefined;
  /** Another one after every save of the project's connection; null: the environment's. */
  version: string | null;
  /** It is tried, not saved, so no saved one replaces it. */
  tried?: true;
};

/** `environment`: the judge of projects without their own. `timeoutMs`: of one call of a project's own judge. */
export type JudgeSources = { vault: Vault; environment: JudgeConnection | null; timeoutMs: number };

/** Undefined if the agent was deleted. */
export async function findAgentJudge(
  db: Database,
  { vault, environment, timeoutMs, agentId }: JudgeSources & { agentId: string },
): Promise<AgentJudge | undefined> {
  const [settings, agents] = await Promise.all([
    findJudgeSettings(db, agentId),
    db.pool.query<{ accountId: string; projectId: string; privacy: PrivacySettings | null }>({
      name: "project-of-agent",
      text: `select p.account_id as "accountId", a.project_id as "projectId", p.privacy
        from agents a join projects p on p.id = a.project_id where a.id = $1`,
      values: [agentId],
    }),
  ]);
  if (settings === undefined || !agents.rows[0]) return undefined;
  const { accountId, projectId, privacy } = agents.rows[0];
  const [prices, judge] = await Promise.all([
    listJudgePrices(db, projectId),
    findJudge(db, { vault, environment, timeoutMs }, projectId),
  ]);
  return { accountId, projectId, settings, privacy: privacy ?? noPrivacy, prices, judge };
}

/** The `version` of the agent's judge, in one look-up. */
export async function findJudgeVersion(db: Database, agentId: string): Promise<string | null> {
  const { rows } = await db.pool.query<{ version: string }>({
    name: "judge-version",
    text: `select j.updated_at::text as version
      from agents a join judge_connections j on j.project_id = a.project_id where a.id = $1`,
    values: [agentId],
  });
  return rows[0]?.version ?? null;
}

async function findJudge(
  db: Database,
  { vault, environment, timeoutMs }: JudgeSources,
  projectId: string,
): Promise<FoundJudge | null> {
  const stored = await findJudgeConnection(db, vault, projectId);
  const connection = stored ? { ...stored.connection, timeoutMs } : environment;
  if (!connection) return null;
  const fingerprint = fingerprintOf(connection, stored ? projectId : null);
  return {
    connection,
    fingerprint,
    own: stored !== undefined,
    keyUnreadable: stored?.keyUnreadable ?? false,
    state: await findJudgeState(db, fingerprint),
    version: stored?.version ?? null,
  };
}
