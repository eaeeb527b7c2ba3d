// The nodes of a cluster: whether the database is distributed over one, where its workers are, and what the start checks there.

import type pg from "pg";
import type { Logger } from "pino";
import { errorText } from "../../log/error-text.ts";
import { newClient, noTimeouts } from "../connection/connect.ts";
import { readConnectionLimit } from "../connection/connection-limit.ts";
import { readDatabaseUrl } from "../connection/database-url.ts";
import { mayPass } from "../connection/may-pass.ts";
import { findUnmet, sessionSettings } from "../connection/session-settings.ts";
import { UnfitDatabaseError } from "../connection/unfit-database.ts";
import type { Addresses, Session } from "../db.ts";

export type Node = { host: string; port: number };

/** The same database on another node, with the same user. */
export function urlAt(coordinator: string, { host, port }: Node): string {
  const url = new URL(readDatabaseUrl(coordinator)!.servers[0]!);
  url.hostname = host;
  url.port = String(port);
  return url.href;
}

/** Whether the tables of this database are distributed over a cluster; false in one without the extension. */
export async function isDistributed(session: Session): Promise<boolean> {
  if (!(await hasCitus(session))) return false;
  const { rows } = await session.query(
    "select from pg_dist_partition where logicalrelid = to_regclass('public.traces')",
  );
  return rows.length > 0;
}

export async function hasCitus(session: Session): Promise<boolean> {
  const { rows } = await session.query("select from pg_extension where extname = 'citus'");
  return rows.length > 0;
}

/** Those that have shards, or may get some. */
export async function listWorkers(session: Session): Promise<Node[]> {
  const { rows } = await session.query<Node>(
    `select nodename as host, nodeport as port from pg_dist_node
     where noderole = 'primary' and isactive and groupid <> 0 order by nodeid`,
  );
  return rows;
}

/** Throws UnfitDatabaseError: what is backed up or restored as one database cannot be spread over several. */
export async function requireOneServer(session: Session): Promise<void> {
  if (!(await isDistributed(session))) return;
  throw new UnfitDatabaseError(
    "This database is distributed over a cluster, and svc backup and svc restore work on one server. Back up every node with pg_basebackup, to a point that citus_create_restore_point makes on all of them (docs/scaling.md).",
  );
}

/** Reads it at the start, before anything else. Throws UnfitDatabaseError if the URL leads to a worker, or past a pooler. */
export async function readDistributed({ directUrl, pooled }: Addresses): Promise<boolean> {
  return withClient(directUrl, async client => {
    if (!(await isDistributed(client))) return false;
    const { rows } = await client.query("select from pg_dist_local_group where groupid = 0");
    if (rows.length === 0) {
      throw new UnfitDatabaseError(
        "DATABASE_URL leads to a worker of the cluster. Set it to the coordinator.",
      );
    }
    if (pooled) {
      throw new UnfitDatabaseError(
        "A database that is distributed over a cluster cannot be used through a pooler. Unset SVC_DATABASE_POOLER, and set DATABASE_URL to the coordinator.",
      );
    }
    return true;
  });
}

/** Planning, and what times mean: Citus passes on none of these to the workers. Timeouts would end migrations and moves. */
export const workerSettings: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(sessionSettings).filter(([name]) => !name.endsWith("_timeout")),
);

/**
 * Checks that every worker can be used as the coordinator is. One that is unavailable is left out, since the others have agents,
 * too. Throws UnfitDatabaseError, or a transient error if no worker is available.
 */
export async function checkWorkers({ directUrl }: Addresses, log: Pick<Logger, "warn">): Promise<void> {
  const workers = await withClient(directUrl, listWorkers);
  const faults: unknown[] = [];
  for (const worker of workers) {
    await checkWorker(directUrl, worker).catch(error => {
      if (!mayPass(error)) throw error;
      log.warn({ worker: nameOf(worker), err: error.message }, "Worker of the cluster unavailable");
      faults.push(error);
    });
  }
  if (faults.length > 0 && faults.length === workers.length) throw faults[0];
}

async function checkWorker(directUrl: string, worker: Node): Promise<void> {
  await atWorker(directUrl, worker, async client => {
    const { rows } = await client.query<{ may: boolean }>(
      "select has_database_privilege(current_database(), 'create') as may",
    );
    if (!rows[0]!.may) {
      throw new UnfitDatabaseError(
        `The user of DATABASE_URL may not create schemas on ${nameOf(worker)}, a worker of the cluster. There, run: grant create on database … to …`,
      );
    }
    const unmet = await findUnmet(client, workerSettings);
    if (!unmet) return;
    // Citus would pass a change of a role on to the other nodes.
    throw new UnfitDatabaseError(
      `Sessions on ${nameOf(worker)}, a worker of the cluster, lack Onlooker's settings: ${unmet.words}. There, run: set citus.enable_ddl_propagation = off; ${unmet.statements}`,
    );
  });
}

/**
 * How many connections services may have to each node. Citus opens one to each worker for a session at the coordinator, so
 * a worker allows for half as many. One that is unavailable is left out.
 */
export async function readClusterLimit(addresses: Addresses): Promise<number> {
  const { directUrl } = addresses;
  const workers = await withClient(directUrl, listWorkers);
  const limits = [await readConnectionLimit(addresses)];
  for (const worker of workers) {
    const url = urlAt(directUrl, worker);
    const limit = await readConnectionLimit({ directUrl: url }).catch(error => {
      if (!mayPass(error)) throw error;
    });
    if (limit !== undefined) limits.push(Math.floor(limit / 2));
  }
  return Math.min(...limits);
}

async function atWorker(
  coordinator: string,
  worker: Node,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  try {
    await withClient(urlAt(coordinator, worker), work);
  } catch (error) {
    if (error instanceof UnfitDatabaseError) throw error;
    const words = `${nameOf(worker)}, a worker of the cluster: ${errorText(error)}`;
    if (mayPass(error)) throw Object.assign(new Error(words), { code: (error as { code?: string }).code });
    throw new UnfitDatabaseError(
      `${words}. Services sign in to every worker, by its name in pg_dist_node, with the user, password and database of DATABASE_URL.`,
    );
  }
}

function nameOf({ host, port }: Node): string {
  return `${host}:${port}`;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
