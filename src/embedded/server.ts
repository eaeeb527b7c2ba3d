// Starts, connects to and stops the embedded PostgreSQL, through the pg_ctl of its package.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import type { Binaries } from "./binaries.ts";
import { EmbeddedError, errorsIn } from "./error.ts";
import {
  boundLog,
  type Folder,
  isServer,
  readIfAny,
  removeStalePid,
  runningServer,
  serverEnvironment,
  serviceRole,
  superuser,
} from "./folder.ts";
import { asUser, type ServerUser, statIfAny } from "./user.ts";

export type Log = { info(message: string): void; warn(message: string): void; error(message: string): void };

/** Inputs for starting and stopping a server. */
export type ServerContext = {
  folder: Folder;
  binaries: Binaries;
  user: ServerUser;
  log: Log;
  /** Absent: enough for one service. */
  maxConnections?: number | undefined;
  /** The port to restart on; undefined: take a free one. */
  port: number | undefined;
  signal: AbortSignal;
};

export type Server = { pid: number; port: number };

// For many small inserts and few readers. Durability is PostgreSQL's default: fsync and synchronous_commit are on. No
// wal_compression: this build has no lz4, and spans are compressed already. Statement errors are not in the server's
// log, because the client logs them.
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 100,
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  // Keeps all WAL files for reuse, because creating one blocks commits for 40 to 150 ms (docs/decisions/015). wal_init_zero
  // stays on: without zeroed files, a commit of twelve traces took 2.5 ms instead of 1.6 ms.
  min_wal_size: "2GB",
  checkpoint_timeout: "15min",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  log_min_messages: "log",
  log_error_verbosity: "terse",
};

/** After this, pg_ctl stops waiting; a server that is still recovering from a crash continues to start. */
const startSeconds = 5;

/**
 * Starts a server in a session of its own, so that neither Ctrl-C nor the end of this process reaches it. If the server
 * ends because of another start, a taken port or leftovers of a killed server, returns undefined if `mayRetry`. Throws
 * EmbeddedError if it ends for another reason.
 */
export async function start(context: ServerContext, mayRetry: boolean): Promise<Server | undefined> {
  const { folder } = context;
  removeStalePid(folder);
  boundLog(folder);
  const port = context.port ?? (await freePort());
  const loggedBefore = statIfAny(folder.log)?.size ?? 0;
  const max_connections = context.maxConnections ?? settings.max_connections;
  const options = Object.entries({ port, ...settings, max_connections }).map(
    ([name, value]) => `-c ${name}=${quoted(value)}`,
  );
  const wait = ["-w", "-t", String(startSeconds)];
  // pg_ctl puts its own -D and -l into a shell command in double quotes, where a $ in a path is expanded. So the server's
  // -D is among the options, which are passed on unchanged, and the path of the log is relative to the folder.
  const serverArgs = `-D ${quoted(folder.cluster)} ${options.join(" ")}`;
  const ended = await pgCtl(context, [
    "start",
    ...wait,
    "-l",
    relative(folder.home, folder.log),
    "-o",
    serverArgs,
  ]);
  const server = runningServer(folder);
  if (server !== undefined) return server;
  const logged = existsSync(folder.log) ? readFileSync(folder.log).subarray(loggedBefore).toString() : "";
  if (mayRetry && isTemporary(logged, context)) return undefined;
  throw new EmbeddedError(
    `The embedded PostgreSQL ended while it started: ${errorsIn(logged) || ended}.`,
    `Its log is ${folder.log}.`,
  );
}

/** Runs pg_ctl as the server's user; resolves with what it printed, whether it succeeded or not. */
async function pgCtl({ folder, binaries, user }: ServerContext, args: string[]): Promise<string> {
  const run = promisify(execFile)(binaries.pgCtl, args, {
    cwd: folder.home,
    env: { ...serverEnvironment, PGDATA: folder.cluster },
    ...asUser(user),
  });
  const { stdout, stderr } = await run.catch((error: { stdout?: string; stderr?: string }) => error);
  return errorsIn(`${stdout ?? ""}\n${stderr ?? ""}`);
}

/** Quoted for a shell command. */
function quoted(text: string | number): string {
  return `'${String(text).replaceAll("'", "'\\''")}'`;
}

/** Whether a server that ended right after its start did so for a temporary reason. */
function isTemporary(logged: string, context: ServerContext): boolean {
  if (runningServer(context.folder) !== undefined) return true;
  if (/Address already in use/.test(logged)) return context.port === undefined;
  return /lock file "postmaster.pid"|pre-existing shared memory block/.test(logged);
}

/** Connects as the superuser once the server accepts connections (it may be recovering from a crash); undefined if it ends instead. */
export async function connect(
  folder: Folder,
  server: Server,
  signal: AbortSignal,
  log?: Log,
): Promise<pg.Client | undefined> {
  const since = Date.now();
  for (let logged = false; ; ) {
    signal.throwIfAborted();
    const client = new pg.Client({
      connectionString: superuserUrl(folder, server.port),
      application_name: `process ${process.pid}`,
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => {}); // "end" follows
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if ((error as { code?: string }).code === "28P01") {
        throw new EmbeddedError(
          `The embedded PostgreSQL does not accept the password in ${folder.superuserPassword}.`,
          "Restore that file from your backup.",
          { cause: error },
        );
      }
      if (!isServer(server.pid, folder)) return undefined;
      if (!logged && Date.now() - since > 5_000) {
        log?.info("The embedded PostgreSQL is running but not ready yet; waiting for it.");
        logged = true;
      }
      await delay(20);
    }
  }
}

/** Sets whether this connection keeps the process alive. */
export function keepAlive(client: pg.Client, keep: boolean): void {
  const socket = client as unknown as { ref(): void; unref(): void }; // missing from its types
  if (keep) socket.ref();
  else socket.unref();
}

/** Fast (open transactions are rolled back), then immediate (the next start recovers), then by SIGKILL. */
export async function shutDown(context: ServerContext): Promise<void> {
  const server = runningServer(context.folder);
  if (server === undefined) return;
  for (const [mode, seconds] of [
    ["fast", 12],
    ["immediate", 5],
  ] as const) {
    await pgCtl(context, ["stop", "-m", mode, "-t", String(seconds)]);
    if (!isServer(server.pid, context.folder)) return;
  }
  process.kill(server.pid, "SIGKILL");
  for (const until = Date.now() + 3_000; Date.now() < until; await delay(10)) {
    if (!isServer(server.pid, context.folder)) return;
  }
}

/** Of the service's role, on its database. */
export function serviceUrl(folder: Folder, port: number): string {
  return urlOf(port, serviceRole, readPassword(folder.password), serviceRole);
}

/** On the database `postgres`. */
export function superuserUrl(folder: Folder, port: number): string {
  return urlOf(port, superuser, readPassword(folder.superuserPassword), "postgres");
}

/** Names its `sslmode`, because PGSSLMODE of the environment counts otherwise, and this server has no TLS. */
function urlOf(port: number, role: string, password: string, database: string): string {
  return `postgresql://${role}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

export function readPassword(path: string): string {
  const password = readIfAny(path)?.trim();
  if (password !== undefined) return password;
  throw new EmbeddedError(
    `The password of the embedded PostgreSQL cannot be read from ${path}.`,
    "Restore that file from your backup, and make it readable for this user.",
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
