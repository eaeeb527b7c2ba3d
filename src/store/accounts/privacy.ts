// The privacy settings of projects, and the keys of their pseudonyms.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { noPrivacy, type PrivacySettings, redactsAnything, type StoringRules } from "../../model/privacy.ts";
import { referenceTransaction } from "../cluster/references.ts";
import type { Database } from "../db.ts";
import { cachesExpired } from "../ingestion/gather.ts";
import type { Vault } from "../secrets/vault.ts";

export async function findPrivacy(db: Database, projectId: string): Promise<PrivacySettings | undefined> {
  const { rows } = await db.pool.query<{ privacy: PrivacySettings | null }>(
    "select privacy from projects where id = $1",
    [projectId],
  );
  return rows[0] && (rows[0].privacy ?? noPrivacy);
}

/** That of its project; undefined if the agent was deleted. */
export async function findPrivacyOfAgent(
  db: Database,
  agentId: string,
): Promise<PrivacySettings | undefined> {
  const { rows } = await db.pool.query<{ privacy: PrivacySettings | null }>(
    "select p.privacy from agents a join projects p on p.id = a.project_id where a.id = $1",
    [agentId],
  );
  return rows[0] && (rows[0].privacy ?? noPrivacy);
}

/** Once this returns, no process stores by other settings. False if the project does not exist. */
export async function savePrivacy(
  db: Database,
  vault: Vault,
  projectId: string,
  settings: PrivacySettings,
): Promise<boolean> {
  const saved = await referenceTransaction(db, async client => {
    if (!(await raiseRevision(client, projectId))) return false;
    await client.query("update projects set privacy = $2::jsonb where id = $1", [
      projectId,
      JSON.stringify(settings),
    ]);
    if (redactsAnything(settings)) await makeKey(client, vault, projectId);
    return true;
  });
  if (saved) await cachesExpired();
  return saved;
}

/**
 * Locks the project and its agents, so that this waits for statements that store by the present revision, and those that
 * begin later see the next one.
 */
async function raiseRevision(client: pg.PoolClient, projectId: string): Promise<boolean> {
  const { rowCount } = await client.query("select from projects where id = $1 for update", [projectId]);
  if (rowCount === 0) return false;
  await client.query("select from agents where project_id = $1 order by id for update", [projectId]);
  await client.query("update projects set privacy_revision = privacy_revision + 1 where id = $1", [
    projectId,
  ]);
  await client.query(
    `update agents set privacy_revision = p.privacy_revision from projects p
      where p.id = $1 and agents.project_id = p.id`,
    [projectId],
  );
  return true;
}

/** Unless the project has one. */
async function makeKey(client: pg.PoolClient, vault: Vault, projectId: string): Promise<void> {
  const key = randomBytes(32).toString("base64url");
  await client.query(
    "insert into pseudonym_keys (project_id, sealed) values ($1, $2) on conflict do nothing",
    [projectId, vault.seal(key, about(projectId))],
  );
}

/** `createdAt` is null while there is none: the first rule makes one. `key` is null if it was encrypted with another key. */
export type PseudonymKey = { createdAt: Date | null; key: string | null };

export async function findPseudonymKey(db: Database, vault: Vault, projectId: string): Promise<PseudonymKey> {
  const { rows } = await db.pool.query<{ sealed: Buffer; createdAt: Date }>(
    `select sealed, created_at as "createdAt" from pseudonym_keys where project_id = $1`,
    [projectId],
  );
  const [row] = rows;
  return { createdAt: row?.createdAt ?? null, key: row ? opened(vault, projectId, row.sealed) : null };
}

/** Null if it was encrypted with another key. */
function opened(vault: Vault, projectId: string, sealed: Buffer): string | null {
  return vault.open(sealed, about(projectId)) ?? null;
}

const about = (projectId: string) => `pseudonyms:${projectId}`.toLowerCase();

/** As SQL over `projects p`: what `storingRulesOf` takes; null for a project that redacts nothing. */
export const storingColumn = `case when p.privacy is not null then (
    select json_build_object('projectId', p.id, 'settings', p.privacy, 'revision', p.privacy_revision,
      'sealed', encode(y.sealed, 'base64'))
    from (select) one left join pseudonym_keys y on y.project_id = p.id
  ) end`;

export type Storing = { revision: number; storing: StoringRules | null };

/** What the project redacts now. */
export function findStoringRules(db: Database, vault: Vault, projectId: string): Promise<Storing> {
  return findStoring(db, vault, "p.id = $1", projectId);
}

/** What the agent's project redacts now. */
export function findStoringOfAgent(db: Database, vault: Vault, agentId: string): Promise<Storing> {
  return findStoring(db, vault, "p.id = (select project_id from agents where id = $1)", agentId);
}

/** The revision is -1 if the project does not exist: then nothing can be stored in it. */
async function findStoring(db: Database, vault: Vault, condition: string, id: string): Promise<Storing> {
  const { rows } = await db.pool.query<{ revision: number; storing: StoringRow }>(
    `select p.privacy_revision as revision, ${storingColumn} as storing from projects p where ${condition}`,
    [id],
  );
  const [row] = rows;
  if (!row) return { revision: -1, storing: null };
  return { revision: row.revision, storing: storingRulesOf(vault, row.storing) };
}

export type StoringRow = {
  projectId: string;
  settings: PrivacySettings;
  revision: number;
  sealed: string | null;
} | null;

export function storingRulesOf(vault: Vault, row: StoringRow): StoringRules | null {
  if (!row || !redactsAnything(row.settings)) return null;
  const { projectId, revision, sealed, settings } = row;
  const { builtIn, rules, pseudonyms } = settings;
  return {
    projectId,
    revision,
    rules: { builtIn, rules, pseudonyms },
    pseudonymKey: sealed === null ? null : opened(vault, projectId, Buffer.from(sealed, "base64")),
  };
}
