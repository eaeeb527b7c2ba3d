// Runs the embedded PostgreSQL in the data folder: starts or adopts it, restarts it, with one owner at a time.
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { advisoryLocks } from "../model/advisory-locks.ts";
import { findBinaries } from "./binaries.ts";
import { EmbeddedError } from "./error.ts";
import {
  boundLog,
  ensureCluster,
  type Folder,
  openFolder,
  realFolder,
  refuseForeign,
  runningServer,
  serviceRole,
} from "./folder.ts";
import {
  connect,
  keepAlive,
  type Log,
  readPassword,
  type Server,
  type ServerContext,
  serviceUrl,
  shutDown,
  start,
} from "./server.ts";
import { statIfAny } from "./user.ts";

export type EmbeddedDatabase = {
  /** Contains the password. Stays valid when the server is restarted. */
  url: string;
  owner: boolean;
  /** Stops the server if this process owns it: fast, then by force, within 20 s. */
  stop(): Promise<void>;
};

/** A running server and the connection that has the owner lock. */
type Owned = { server: Server; client: pg.Client };

/** A session-level advisory lock marks the owner: PostgreSQL releases it as soon as the owner's connection ends. */
const ownerLock = advisoryLocks.embeddedOwner;

/** How long to wait for an owner that is just ending, such as a bootstrap or the service before a restart. */
const handoverMs = 2_000;

/** How long to wait while another start uses the folder, or leftovers of a killed server block it. */
const startMs = 30_000;

/**
 * Starts the PostgreSQL of this data folder (creating it on the first start) or adopts the one that a killed owner left
 * running, and restarts it if it dies. Does not keep the process alive. Throws EmbeddedError if another process owns it
 * or it cannot be started.
 */
export async function openEmbedded({
  dataDir,
  log,
  maxConnections,
}: {
  dataDir: string;
  log: Log;
  maxConnections?: number;
}): Promise<EmbeddedDatabase> {
  const user = openFolder(dataDir);
  const binaries = await findBinaries(dataDir, user);
  await ensureCluster(dataDir, binaries, user);
  const folder = realFolder(dataDir);
  const ending = new AbortController();
  const shared = { folder, binaries, user, log, maxConnections };
  const context: ServerContext = { ...shared, port: undefined, signal: ending.signal };

  let owned: Owned | undefined = await becomeOwner(context);
  context.port = owned.server.port;
  try {
    await ensureDatabase(owned.client, folder);
  } catch (error) {
    await shutDown(context);
    throw error;
  }
  let restarting: Promise<void> | undefined;
  watch(owned);
  const rotation = setInterval(() => boundLog(folder), 600_000).unref();

  /** When the connection that has the lock breaks, waits for the server or restarts it. */
  function watch({ client }: Owned): void {
    keepAlive(client, false);
    client.once("end", () => {
      owned = undefined;
      if (ending.signal.aborted) return;
      log.warn("The embedded PostgreSQL ended; restarting it.");
      restarting = restart();
    });
  }

  async function restart(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        owned = await becomeOwner(context);
        log.info("The embedded PostgreSQL is running again.");
        return watch(owned);
      } catch (error) {
        if (ending.signal.aborted) return;
        log.error((error as Error).message);
        await delay(1_000, undefined, { ref: false });
      }
    }
  }

  return {
    url: serviceUrl(folder, context.port),
    owner: true,
    async stop() {
      ending.abort();
      clearInterval(rotation);
      await restarting;
      const last = owned;
      if (last === undefined) return;
      owned = undefined;
      keepAlive(last.client, true);
      // The lock is kept until the server ends, so that no process adopts a server that is stopping.
      await shutDown(context);
      await last.client.end().catch(() => {});
    },
  };
}

/**
 * Connects to the running server of this data folder without becoming its owner; undefined if none runs. Throws
 * EmbeddedError if this user may not use it.
 */
export async function connectEmbedded(dataDir: string): Promise<EmbeddedDatabase | undefined> {
  refuseForeign(dataDir);
  if (statIfAny(dataDir) === undefined) return undefined;
  const folder = realFolder(dataDir);
  for (let server = runningServer(folder); server !== undefined; server = runningServer(folder)) {
    const client = await connect(folder, server, AbortSignal.timeout(60_000));
    if (client === undefined) continue;
    await ensureDatabase(client, folder);
    await client.end();
    return { url: serviceUrl(folder, server.port), owner: false, stop: async () => {} };
  }
  return undefined;
}

/** Finds the running server or starts it, and becomes its owner. */
async function becomeOwner(context: ServerContext): Promise<Owned> {
  const since = Date.now();
  for (;;) {
    context.signal.throwIfAborted();
    const running = runningServer(context.folder);
    const server = running ?? (await start(context, Date.now() - since < startMs));
    const client =
      server === undefined ? undefined : await connectOrStop(context, server, running === undefined);
    if (server === undefined || client === undefined) {
      await delay(50);
      continue;
    }
    const holder = await takeLock(client);
    if (holder === undefined) return { server, client };
    await client.end();
    if (Date.now() - since > handoverMs) {
      throw new EmbeddedError(
        `The database in ${context.folder.home} is in use by another Onlooker, ${holder}.`,
        "Stop that one first, or set SVC_DATA_DIR to another folder.",
      );
    }
    await delay(50);
  }
}

/** Connects; if that fails, stops a server that was started for it. */
async function connectOrStop(
  context: ServerContext,
  server: Server,
  startedHere: boolean,
): Promise<pg.Client | undefined> {
  try {
    return await connect(context.folder, server, context.signal, context.log);
  } catch (error) {
    if (startedHere) await shutDown(context);
    throw error;
  }
}

/** Takes the lock; otherwise returns who has it. */
async function takeLock(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ taken: boolean; holder: string | null }>(
    `select pg_try_advisory_lock($1) as taken, (
       select application_name from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and (classid::int8 << 32 | objid::int8) = $1 limit 1
     ) as holder`,
    [ownerLock],
  );
  return rows[0]!.taken ? undefined : (rows[0]!.holder ?? "which is just ending");
}

/** The role of the service, which owns its database and is no superuser: what it is made to run reaches no file and no program. */
async function ensureDatabase(client: pg.Client, folder: Folder): Promise<void> {
  const found = await client.query("select from pg_database where datname = $1", [serviceRole]);
  if (found.rowCount !== 0) return;
  const password = client.escapeLiteral(readPassword(folder.password));
  for (const statement of [
    `create role ${serviceRole} login password ${password}`,
    `create database ${serviceRole} owner ${serviceRole}`,
  ]) {
    await client.query(statement).catch((error: { code?: string }) => {
      // There already: the owner and another process may create it at the same time, or one was killed between the two.
      if (!["42710", "42P04", "23505"].includes(error.code!)) throw error;
    });
  }
}
