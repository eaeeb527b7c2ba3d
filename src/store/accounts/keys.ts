// API keys: only a hash is stored; ingestion authenticates by it, the dashboard lists, creates and revokes.
import { type AdmittedKey, type KeyAccess, maskKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { lockReferences, referenceQuery, referenceTransaction } from "../cluster/references.ts";
import { type Database, transaction } from "../db.ts";
import { cachesExpired } from "../ingestion/gather.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";
import { insertion } from "../parameters/bound.ts";
import type { Vault } from "../secrets/vault.ts";
import { type StoringRow, storingColumn, storingRulesOf } from "./privacy.ts";

/** A key whose `expiresAt` is null never expires. */
export type Key = {
  id: string;
  masked: string;
  name: string;
  access: KeyAccess;
  /** Granular access: those of its agents that still exist. */
  agentIds: string[];
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
  /** The account that created it; null if that was not recorded or the account was deleted. */
  createdBy: { id: string; name: string } | null;
  /** Null: no limit. */
  requestsPerMinute: number | null;
  status: "active" | "expired";
};

/** The keys of a project, expired ones included, newest first. */
export async function listKeys(db: Database, projectId: string, listing: Listing): Promise<Key[]> {
  const { rows } = await db.pool.query<Key>(
    `${selectKey} where k.project_id = $1 and k.id < $2 order by k.id desc limit $3`,
    [projectId, listing.before, listing.rowsMax],
  );
  return rows;
}

export async function findKey(db: Database, id: string): Promise<Key | undefined> {
  const { rows } = await db.pool.query<Key>(`${selectKey} where k.id = $1`, [id]);
  return rows[0];
}

export type NewKey = {
  projectId: string;
  name: string;
  hash: Buffer;
  lastFour: string;
  access: KeyAccess;
  /** UUIDs; empty for full access. */
  agentIds: string[];
  expiresAt: Date | null;
  requestsPerMinute?: number | null;
  /** The id of the account that creates it, if any. */
  createdBy: string | null;
};

/** Throws NOT_FOUND for a project that was deleted, and VALIDATION_ERROR, with positions, for agents that are not in it. */
export async function insertKey(db: Database, key: NewKey): Promise<Key> {
  return referenceTransaction(db, async client => {
    // Before its agents, as a change or deletion locks them.
    const projects = await client.query("select from projects where id = $1 for key share", [key.projectId]);
    if (projects.rowCount === 0) throw new Refusal("NOT_FOUND");
    // Locked, so that an agent deleted right now is either refused here or removed from the key by its deletion.
    const { rows: agents } = await client.query<{ id: string }>(
      "select id from agents where project_id = $1 and id = any($2::uuid[]) for key share",
      [key.projectId, key.agentIds],
    );
    const known = new Set(agents.map(agent => agent.id));
    const issues = key.agentIds.flatMap((agentId, index) =>
      known.has(agentId)
        ? []
        : [{ path: `agentIds[${index}]`, message: "This project has no agent with this id." }],
    );
    if (issues.length > 0) throw new Refusal("VALIDATION_ERROR", { issues });
    const id = newId();
    await client.query(
      insertion("keys", {
        ...{ id, name: key.name, hash: key.hash, access: key.access },
        ...{ project_id: key.projectId, last_four: key.lastFour, expires_at: key.expiresAt },
        ...{ created_by: key.createdBy, requests_per_minute: key.requestsPerMinute ?? null },
      }),
    );
    await client.query("insert into key_agents (key_id, agent_id) select $1, unnest($2::uuid[])", [
      id,
      [...known],
    ]);
    const inserted = await client.query<Key>(`${selectKey} where k.id = $1`, [id]);
    return inserted.rows[0]!;
  });
}

/** Holds for every process once this returns. Undefined if there is no such key. */
export async function limitKey(
  db: Database,
  id: string,
  requestsPerMinute: number | null,
): Promise<Key | undefined> {
  await referenceQuery(db, {
    text: "update keys set requests_per_minute = $2 where id = $1",
    values: [id, requestsPerMinute],
  });
  await cachesExpired();
  return findKey(db, id);
}

/** Revokes the key: once this returns, no lookup finds it. */
export async function deleteKey(db: Database, id: string): Promise<void> {
  await referenceQuery(db, { text: "delete from keys where id = $1", values: [id] });
  await cachesExpired();
}

/**
 * The traces of further agents are derived when somebody reads them, and changed by their settings when they are stored. Their
 * log records are prepared once the agents that the request names have been looked up.
 */
const conventionsMax = 200;
const ruleBytesMax = 100_000;

/** One query for many hashes; the keys that are neither revoked nor expired, by hexadecimal hash. */
export async function admitKeys(
  db: Database,
  vault: Vault,
  hashes: Buffer[],
): Promise<Map<string, AdmittedKey>> {
  type Row = Omit<AdmittedKey, "storing" | "conventions" | "hasMoreConventions"> & {
    hash: string;
    storing: StoringRow;
    listed: { agents: AdmittedKey["conventions"]; hasMore: boolean | null };
  };
  const { rows } = await db.pool.query<Row>({
    name: "admit-keys",
    text: `select encode(k.hash, 'hex') as hash, k.id, k.project_id as "projectId", k.access,
        json_build_object('key', k.requests_per_minute, 'project', p.requests_per_minute) as "rateLimits",
        a.id as "accountId", a.email_verified as "emailVerified",
        p.privacy_revision as "privacyRevision", ${storingColumn} as storing,
        array(select g.agent_id from key_agents g where g.key_id = k.id order by g.agent_id) as "agentIds",
        (select json_build_object('hasMore', bool_or(not fits), 'agents',
          json_agg(json_build_object('agentId', c.id, 'serviceName', c.otlp_service_name,
            'conventions', c.conventions, 'conventionRules', c.convention_rules, 'readFrom', c.read_from,
            'intake', case when c.intake_key <> '' then json_build_object('content', c.content,
              'attributes', json_build_object('deny', c.attributes_deny, 'allow', c.attributes_allow)) end))
            filter (where fits)) from (
          select *, row_number() over (order by id) <= ${conventionsMax} and sum(octet_length(convention_rules::text)
            + octet_length(array_to_string(attributes_deny || attributes_allow, ''))) over (order by id)
            < ${ruleBytesMax} as fits
          from agents where project_id = k.project_id and (read_by_key <> '' or intake_key <> '')
          order by id limit ${conventionsMax + 1}
        ) c) as listed
      from keys k
      join projects p on p.id = k.project_id
      join accounts a on a.id = p.account_id
      where k.hash = any($1::bytea[]) and (k.expires_at is null or k.expires_at > now())`,
    values: [hashes],
  });
  return new Map(
    rows.map(({ hash, storing, listed, ...key }) => [
      hash,
      {
        ...key,
        conventions: listed.agents,
        hasMoreConventions: listed.hasMore ?? false,
        storing: storingRulesOf(vault, storing),
      },
    ]),
  );
}

/** Records that the keys were used now, at most once a minute each. Never waits for another writer. */
export async function touchKeys(db: Database, ids: string[]): Promise<void> {
  if (db.places) return touchOnAllNodes(db, ids);
  await referenceQuery(db, {
    name: "touch-keys",
    text: `update keys set last_used_at = now() where id in (
      select id from keys
      where id = any($1::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')
      for no key update skip locked
    )`,
    values: [ids],
  });
}

/** Every node of a cluster has the keys, and who changes one of them locks them all: given up where somebody else does. */
async function touchOnAllNodes(db: Database, ids: string[]): Promise<void> {
  await transaction(db, async client => {
    await client.query("set local citus.propagate_set_commands = 'local'; set local lock_timeout = '100ms'");
    const { rows } = await client.query<{ id: string }>(
      `select id from keys
        where id = any ($1::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
      [ids],
    );
    if (rows.length === 0) return;
    await lockReferences(client);
    await client.query("update keys set last_used_at = now() where id = any ($1::uuid[])", [
      rows.map(({ id }) => id),
    ]);
  }).catch(error => {
    if (error.code !== "55P03") throw error;
  });
}

const selectKey = `select k.id, k.name, '${maskKey("")}' || k.last_four as masked, k.access, k.expires_at as "expiresAt",
    k.last_used_at as "lastUsedAt", k.created_at as "createdAt", k.requests_per_minute as "requestsPerMinute",
    case when k.expires_at <= now() then 'expired' else 'active' end as status,
    case when m.id is not null then json_build_object('id', m.id, 'name', m.name) end as "createdBy",
    array(select g.agent_id from key_agents g where g.key_id = k.id order by g.agent_id) as "agentIds"
  from keys k left join accounts m on m.id = k.created_by`;
