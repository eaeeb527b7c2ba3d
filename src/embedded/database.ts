// A real PostgreSQL of our own under the data folder: started or adopted, kept running, with one owner at a time.
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { findBinaries } from "./binaries.ts";
import { EmbeddedError } from "./error.ts";
import {
  boundLog,
  ensureCluster,
  openFolder,
  realFolder,
  refuseForeign,
  runningServer,
  superuser,
} from "./folder.ts";
import { connect, holdProcess, type Log, type Place, type Server, shutDown, start, urlOf } from "./server.ts";
import { statIfAny } from "./user.ts";

export type EmbeddedDatabase = {
  /** With the password in it. Stays true when the server had to be started again. */
  url: string;
  owner: boolean;
  /** Stops the server, when this process owns it: fast, then by force, within 20 s. */
  stop(): Promise<void>;
};

/** A running server and the connection that makes it ours. */
type Held = { server: Server; client: pg.Client };

/** One session-level lock says who owns the server: PostgreSQL frees it the moment its holder dies. */
const ownerLock = 7_164_250_883;

/** Patience with an owner that is just ending, such as a bootstrap or the service before a restart. */
const handoverMs = 2_000;

/** Patience with a folder that another start is using or a killed server's remains still block. */
const startMs = 30_000;

/**
 * Starts the PostgreSQL of this data folder, made on the first start, or adopts the one that a killed owner left
 * running; starts it again if it dies. Does not keep the process alive by itself. Throws EmbeddedError where
 * another process owns it or it cannot be started.
 */
export async function openEmbedded({
  dataDir,
  log,
}: {
  dataDir: string;
  log: Log;
}): Promise<EmbeddedDatabase> {
  const user = openFolder(dataDir);
  const binaries = await findBinaries(dataDir, user);
  await ensureCluster(dataDir, binaries, user);
  const folder = realFolder(dataDir);
  const ending = new AbortController();
  const place: Place = { folder, binaries, user, log, port: undefined, signal: ending.signal };

  let held: Held | undefined = await hold(place);
  place.port = held.server.port;
  try {
    await ensureDatabase(held.client);
  } catch (error) {
    await shutDown(folder);
    throw error;
  }
  let returning: Promise<void> | undefined;
  watch(held);
  const rotation = setInterval(() => boundLog(folder), 600_000).unref();

  /** While the lock's connection stands all is well. When it breaks, the server is awaited or started again. */
  function watch({ client }: Held): void {
    holdProcess(client, false);
    client.once("end", () => {
      held = undefined;
      if (ending.signal.aborted) return;
      log.warn("The embedded PostgreSQL went away; bringing it back.");
      returning = bringBack();
    });
  }

  async function bringBack(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        held = await hold(place);
        log.info("The embedded PostgreSQL is back.");
        return watch(held);
      } catch (error) {
        if (ending.signal.aborted) return;
        log.error((error as Error).message);
        await delay(1_000, undefined, { ref: false });
      }
    }
  }

  return {
    url: urlOf(folder, place.port, superuser),
    owner: true,
    async stop() {
      ending.abort();
      clearInterval(rotation);
      await returning;
      const last = held;
      if (last === undefined) return;
      held = undefined;
      holdProcess(last.client, true);
      // The lock is held until the server itself lets go of it: nobody takes over a server that is ending.
      await shutDown(folder);
      await last.client.end().catch(() => {});
    },
  };
}

/**
 * The server of this data folder if one runs, for work beside its owner; undefined if none does. Throws
 * EmbeddedError where this user may not use it.
 */
export async function connectEmbedded(dataDir: string): Promise<EmbeddedDatabase | undefined> {
  refuseForeign(dataDir);
  if (statIfAny(dataDir) === undefined) return undefined;
  const folder = realFolder(dataDir);
  for (let server = runningServer(folder); server !== undefined; server = runningServer(folder)) {
    const client = await connect(folder, server, AbortSignal.timeout(60_000));
    if (client === undefined) continue;
    await ensureDatabase(client);
    await client.end();
    return { url: urlOf(folder, server.port, superuser), owner: false, stop: async () => {} };
  }
  return undefined;
}

/** Finds the server running or starts it, and becomes its owner. */
async function hold(place: Place): Promise<Held> {
  const since = Date.now();
  for (;;) {
    place.signal.throwIfAborted();
    const running = runningServer(place.folder);
    const server = running ?? (await start(place, Date.now() - since < startMs));
    const client = server === undefined ? undefined : await reach(place, server, running === undefined);
    if (server === undefined || client === undefined) {
      await delay(50);
      continue;
    }
    const holder = await takeLock(client);
    if (holder === undefined) return { server, client };
    await client.end();
    if (Date.now() - since > handoverMs) {
      throw new EmbeddedError(
        `The database in ${place.folder.home} is in use by another Onlooker, ${holder}.`,
        "Stop that one first, or set SVC_DATA_DIR to another folder.",
      );
    }
    await delay(50);
  }
}

/** A connection; a server started for it is not left behind when there can be none. */
async function reach(place: Place, server: Server, startedHere: boolean): Promise<pg.Client | undefined> {
  try {
    return await connect(place.folder, server, place.signal, place.log);
  } catch (error) {
    if (startedHere) await shutDown(place.folder);
    throw error;
  }
}

/** Takes the lock, or says who has it. */
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

async function ensureDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [superuser]);
  if (rowCount !== 0) return;
  await client.query(`create database ${superuser}`).catch((error: { code?: string }) => {
    // The owner and a process beside it may both find it missing.
    if (error.code !== "42P04" && error.code !== "23505") throw error;
  });
}
