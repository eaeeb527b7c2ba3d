// The webhook of an agent: its URL, and the secret that signs messages, encrypted.
import { randomBytes } from "node:crypto";
import { type Database, transaction } from "../db.ts";
import type { Vault } from "../secrets/vault.ts";

export type StoredWebhook = {
  url: string;
  /** Undefined if it was encrypted with another key. */
  secret: string | undefined;
  createdAt: Date;
};

type Row = { url: string; secret: Buffer; createdAt: Date };

const columns = `url, secret, created_at as "createdAt"`;

export async function findWebhook(
  db: Database,
  vault: Vault,
  agentId: string,
): Promise<StoredWebhook | undefined> {
  const { rows } = await db.pool.query<Row>(`select ${columns} from alert_webhooks where agent_id = $1`, [
    agentId,
  ]);
  return rows[0] && opened(vault, agentId, rows[0]);
}

/** Creates the webhook with a new secret, or changes the URL of the one that exists. */
export async function saveWebhook(
  db: Database,
  vault: Vault,
  agentId: string,
  url: string,
): Promise<{ webhook: StoredWebhook; created: boolean }> {
  // An upsert that changes nothing but the URL returns the stored secret if there is one: whether the row is new is
  // seen by its secret.
  const secret = newSecret();
  const { rows } = await db.pool.query<Row>(
    `insert into alert_webhooks (agent_id, url, secret) values ($1, $2, $3)
      on conflict (agent_id) do update set url = excluded.url returning ${columns}`,
    [agentId, url, vault.seal(secret, about(agentId))],
  );
  const webhook = opened(vault, agentId, rows[0]!);
  return { webhook, created: webhook.secret === secret };
}

/** Undefined if there is no webhook. The previous secret signs nothing from now on. */
export async function replaceSecret(
  db: Database,
  vault: Vault,
  agentId: string,
): Promise<StoredWebhook | undefined> {
  const { rows } = await db.pool.query<Row>(
    `update alert_webhooks set secret = $2 where agent_id = $1 returning ${columns}`,
    [agentId, vault.seal(newSecret(), about(agentId))],
  );
  return rows[0] && opened(vault, agentId, rows[0]);
}

/** Also deletes its deliveries. */
export async function deleteWebhook(db: Database, agentId: string): Promise<void> {
  await transaction(db, async client => {
    await client.query("delete from alert_webhooks where agent_id = $1", [agentId]);
    await client.query("delete from alert_deliveries where agent_id = $1 and channel = 'webhook'", [agentId]);
  });
}

/** In the form of Standard Webhooks: 32 random bytes. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

function opened(vault: Vault, agentId: string, { url, secret, createdAt }: Row): StoredWebhook {
  return { url, secret: vault.open(secret, about(agentId)), createdAt };
}

function about(agentId: string): string {
  return `webhook:${agentId.toLowerCase()}`;
}
