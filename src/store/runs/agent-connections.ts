// Connections to agents: a document per agent, with encrypted secrets in a separate column.
import type { AgentType } from "../../model/agent/agent.ts";
import type { AgentConnection, StoredConnection } from "../../model/agent/connection.ts";
import { Refusal } from "../../model/refusal.ts";
import { referenceTransaction } from "../cluster/references.ts";
import type { Database } from "../db.ts";
import type { Vault } from "../secrets/vault.ts";

type ConnectionRow = { document: string; secrets: Buffer | null; updatedAt: Date };

/** The connection for the agent's current type; undefined if there is none. */
export async function findConnection(
  db: Database,
  vault: Vault,
  agentId: string,
): Promise<StoredConnection | undefined> {
  const { rows } = await db.pool.query<ConnectionRow & { type: AgentType }>(
    `select c.document, c.secrets, c.updated_at as "updatedAt", a.type
      from agent_connections c join agents a on a.id = c.agent_id where c.agent_id = $1`,
    [agentId],
  );
  const stored = rows[0] && opened(vault, agentId, rows[0]);
  return stored?.connection.type === rows[0]?.type ? stored : undefined;
}

/** The connection, ready to be used. Throws CONFLICT if there is none, or if its secrets cannot be decrypted. */
export async function requireConnection(
  db: Database,
  vault: Vault,
  agentId: string,
): Promise<AgentConnection> {
  const stored = await findConnection(db, vault, agentId);
  if (!stored) {
    throw new Refusal("CONFLICT", {
      message: "This agent has no connection yet.",
      hint: "Set up the connection in the agent's settings.",
    });
  }
  const { connection, unreadable } = stored;
  if (unreadable.length === 0) return connection;
  throw new Refusal("CONFLICT", {
    message: `The header ${unreadable.join(", ")} of this agent's connection was encrypted with another key.`,
    hint: "Enter it again in the agent's settings, or restore the service's previous SVC_SECRET_KEY.",
  });
}

/** Replaces the connection by `change` of the current one, under a lock on the agent. */
export async function saveConnection(
  db: Database,
  vault: Vault,
  agentId: string,
  change: (type: AgentType, current: StoredConnection | undefined) => AgentConnection,
): Promise<StoredConnection | undefined> {
  return referenceTransaction(db, async client => {
    const agents = await client.query<{ type: AgentType }>(
      "select type from agents where id = $1 for update",
      [agentId],
    );
    if (!agents.rows[0]) return undefined;
    const found = await client.query<ConnectionRow>(
      `select document, secrets, updated_at as "updatedAt" from agent_connections where agent_id = $1`,
      [agentId],
    );
    const current = found.rows[0] && opened(vault, agentId, found.rows[0]);
    const connection = change(agents.rows[0].type, current);
    const { rows } = await client.query<{ updatedAt: Date }>(
      `insert into agent_connections (agent_id, document, secrets, updated_at) values ($1, $2, $3, now())
        on conflict (agent_id) do update set document = excluded.document, secrets = excluded.secrets,
          updated_at = excluded.updated_at
        returning updated_at as "updatedAt"`,
      [agentId, documentOf(connection), sealed(vault, agentId, connection)],
    );
    return { connection, unreadable: [], updatedAt: rows[0]!.updatedAt };
  });
}

export async function deleteConnection(db: Database, agentId: string): Promise<void> {
  await db.pool.query("delete from agent_connections where agent_id = $1", [agentId]);
}

function documentOf(connection: AgentConnection): string {
  const headers = connection.headers.map(({ name, value, secret }) =>
    secret ? { name, secret } : { name, value, secret },
  );
  return JSON.stringify({ ...connection, headers });
}

function sealed(vault: Vault, agentId: string, { headers }: AgentConnection): Buffer | null {
  const values = headers.flatMap(({ name, value, secret }) => (secret ? [[name, value]] : []));
  return values.length === 0 ? null : vault.seal(JSON.stringify(values), about(agentId));
}

function opened(vault: Vault, agentId: string, { document, secrets, updatedAt }: ConnectionRow) {
  const connection: AgentConnection = JSON.parse(document);
  const text = secrets === null ? "[]" : vault.open(secrets, about(agentId));
  const values = new Map<string, string>(JSON.parse(text ?? "[]"));
  const unreadable: string[] = [];
  const headers = connection.headers.map(header => {
    if (!header.secret) return header;
    const value = values.get(header.name);
    if (value === undefined) unreadable.push(header.name);
    return { ...header, value: value ?? "" };
  });
  return { connection: { ...connection, headers }, unreadable, updatedAt };
}

function about(agentId: string): string {
  return `agent:${agentId.toLowerCase()}`;
}
