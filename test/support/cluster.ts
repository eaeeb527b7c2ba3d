// A PostgreSQL for one test, which may crash and restart it.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findBinaries } from "../../src/embedded/binaries.ts";
import { ensureCluster, isServer, openFolder, realFolder } from "../../src/embedded/folder.ts";
import {
  connect,
  type Server,
  type ServerContext,
  shutDown,
  start,
  superuserUrl,
} from "../../src/embedded/server.ts";

export type Cluster = {
  /** Of a superuser on the database `postgres`; the same after every crash. */
  url: string;
  /** Every connection breaks without cleanup, as in `pg_ctl stop -m immediate`. Resolves once it is down. */
  crash(): Promise<void>;
  /** Starts it again. Resolves once it has recovered. */
  resume(): Promise<void>;
  stop(): Promise<void>;
};

/** `parent`: the folder that its data folder is made in. */
export async function startCluster(parent = tmpdir()): Promise<Cluster> {
  const dataDir = mkdtempSync(join(parent, "onlooker-cluster-"));
  chmodSync(dataDir, 0o755); // for the user that PostgreSQL runs as when the tests run as root
  const user = openFolder(dataDir);
  const binaries = await findBinaries(dataDir, user);
  await ensureCluster(dataDir, binaries, user);
  const folder = realFolder(dataDir);
  const log = { info() {}, warn: console.error, error: console.error };
  const { signal } = new AbortController();
  const context: ServerContext = { folder, binaries, user, log, port: undefined, signal };

  async function up(): Promise<Server> {
    const server = (await start(context, false))!;
    const client = await connect(folder, server, signal);
    if (!client) throw new Error(`PostgreSQL ended while it recovered; its log is ${folder.log}.`);
    await client.end();
    return server;
  }

  let server = await up();
  context.port = server.port;
  return {
    url: superuserUrl(folder, server.port),
    async crash() {
      process.kill(server.pid, "SIGQUIT");
      while (isServer(server.pid, folder)) await delay(5);
    },
    async resume() {
      server = await up();
    },
    async stop() {
      await shutDown(context);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
