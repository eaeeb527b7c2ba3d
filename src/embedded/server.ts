// One run of the embedded PostgreSQL: how it is started, reached and shut down.
import { spawn } from "node:child_process";
import { chownSync, closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Binaries } from "./binaries.ts";
import { EmbeddedError, lastWords } from "./error.ts";
import {
  boundLog,
  type Folder,
  isServer,
  readIfAny,
  removeStalePid,
  runningServer,
  serverEnvironment,
  superuser,
} from "./folder.ts";
import { asUser, type ServerUser } from "./user.ts";

export type Log = { info(message: string): void; warn(message: string): void; error(message: string): void };

/** What starting needs. */
export type Place = {
  folder: Folder;
  binaries: Binaries;
  user: ServerUser;
  log: Log;
  /** The port to come back on; absent on the first start, which takes a free one. */
  port: number | undefined;
  signal: AbortSignal;
};

export type Server = { pid: number; port: number };

// For a load of many small inserts beside few readers. Durability is left at PostgreSQL's defaults: fsync and
// synchronous_commit are on. (No wal_compression: this build has no lz4, and the spans arrive compressed.)
// Statement errors are left out of the server's log: whoever sent the statement is told, and logs it.
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  // Log files are used again rather than made anew, which holds commits up for 40 ms. They are filled with zeros when
  // they are made (wal_init_zero stays on): without, a commit of twelve traces took 2.5 ms in place of 1.6 ms.
  min_wal_size: "512MB",
  checkpoint_timeout: "15min",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  log_min_messages: "log",
  log_error_verbosity: "terse",
};

/**
 * Starts a server in a session of its own, so that neither a Ctrl-C nor our end reaches it. When it ends at once,
 * because of another start, a taken port or remains of a killed server, returns undefined if `mayRetry`. Throws
 * EmbeddedError for every other end.
 */
export async function start(place: Place, mayRetry: boolean): Promise<Server | undefined> {
  const { folder, binaries, user } = place;
  removeStalePid(folder);
  boundLog(folder);
  const port = place.port ?? (await freePort());
  const handle = openSync(folder.log, "a", 0o600);
  if (user.switched) chownSync(folder.log, user.uid, user.gid);
  const logged = fstatSync(handle).size;
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(binaries.postgres, ["-D", folder.cluster, "-p", String(port), ...options], {
    cwd: folder.home,
    env: serverEnvironment,
    stdio: ["ignore", handle, handle],
    detached: true,
    ...asUser(user),
  });
  closeSync(handle);
  child.unref();
  const ended = new Promise<Error | undefined>(resolve => {
    child.once("error", resolve);
    child.once("exit", () => resolve(undefined));
  });
  for (;;) {
    const server = runningServer(folder);
    if (server !== undefined) return server;
    const early = await Promise.race([ended.then(error => ({ error })), delay(10)]);
    if (early === undefined) continue;
    const said = readFileSync(folder.log).subarray(logged).toString();
    if (mayRetry && passes(said, place)) return undefined;
    throw failure(early.error, said, folder);
  }
}

/** Whether a server that ended at once did so for a reason that goes away by itself. */
function passes(said: string, place: Place): boolean {
  if (runningServer(place.folder) !== undefined) return true;
  if (/Address already in use/.test(said)) return place.port === undefined;
  return /lock file "postmaster.pid"|pre-existing shared memory block/.test(said);
}

function failure(error: Error | undefined, said: string, folder: Folder): EmbeddedError {
  return new EmbeddedError(
    `The embedded PostgreSQL ended while it started: ${error?.message ?? lastWords(said)}.`,
    `Its log is ${folder.log}.`,
    { cause: error },
  );
}

/** A connection, once the server takes them (it may have a crash to recover from); undefined when it ends instead. */
export async function connect(
  folder: Folder,
  server: Server,
  signal: AbortSignal,
  log?: Log,
): Promise<pg.Client | undefined> {
  const since = Date.now();
  for (let told = false; ; ) {
    signal.throwIfAborted();
    const client = new pg.Client({
      connectionString: urlOf(folder, server.port, "postgres"),
      application_name: `process ${process.pid}`,
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => {}); // its "end" says enough
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if ((error as { code?: string }).code === "28P01") {
        throw new EmbeddedError(
          `The embedded PostgreSQL does not take the password kept in ${folder.password}.`,
          "Restore that file from your backup.",
          { cause: error },
        );
      }
      if (!isServer(server.pid, folder)) return undefined;
      if (!told && Date.now() - since > 5_000) {
        log?.info("The embedded PostgreSQL is running but not ready yet; waiting for it.");
        told = true;
      }
      await delay(20);
    }
  }
}

/** Whether this connection alone keeps the process from ending. */
export function holdProcess(client: pg.Client, hold: boolean): void {
  const socket = client as unknown as { ref(): void; unref(): void }; // missing from its types
  if (hold) socket.ref();
  else socket.unref();
}

/** Fast (what runs is rolled back), then immediate (the next start recovers), then not asking at all. */
export async function shutDown(folder: Folder): Promise<void> {
  const server = runningServer(folder);
  if (server === undefined) return;
  for (const [signal, waitMs] of [
    ["SIGINT", 12_000],
    ["SIGQUIT", 5_000],
    ["SIGKILL", 3_000],
  ] as const) {
    process.kill(server.pid, signal);
    for (const until = Date.now() + waitMs; Date.now() < until; await delay(10)) {
      if (!isServer(server.pid, folder)) return;
    }
  }
}

export function urlOf(folder: Folder, port: number, database: string): string {
  const password = readIfAny(folder.password)?.trim();
  if (password !== undefined) return `postgresql://${superuser}:${password}@127.0.0.1:${port}/${database}`;
  throw new EmbeddedError(
    `The password of the embedded PostgreSQL cannot be read from ${folder.password}.`,
    "Restore that file from your backup, and let this user read it.",
  );
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
