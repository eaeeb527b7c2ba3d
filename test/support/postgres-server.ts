// One embedded PostgreSQL for a test run, in a temporary folder that is removed with it.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { openEmbedded } from "../../src/embedded/database.ts";
import { type Folder, folderIn, isAlive, isServer, runningServer } from "../../src/embedded/folder.ts";

const prefix = "onlooker-test-";
const log = { info() {}, warn: console.error, error: console.error };

/** Every test file uses this server: one that starts several services has 70 connections alone. */
const maxConnections = 400;

/** `url` is that of a superuser on the database `postgres`. */
export async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  await removeLeftovers();
  const folder = makeScratch();
  const server = await openEmbedded({ dataDir: join(folder, "data"), log, maxConnections });
  const url = server.url.replace(/[^/]*$/, "postgres");
  await withoutSync(url);
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop };
}

/** Removes servers and folders of runs that were killed, except those of another user. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter(name => name.startsWith(prefix))) {
    if (isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue;
    try {
      const folder = join(tmpdir(), name);
      for (const dataDir of readdirSync(folder)) await end(folderIn(join(folder, dataDir)));
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Belongs to another user, or another run cleaned up first.
    }
  }
}

async function end(folder: Folder): Promise<void> {
  const server = runningServer(folder);
  if (server === undefined) return;
  process.kill(server.pid, "SIGQUIT");
  while (isServer(server.pid, folder)) await delay(10);
}

/** A temporary folder that is removed by a later run if this one is killed, with the servers whose data it holds. */
export function makeScratch(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  chmodSync(folder, 0o755); // for the user that PostgreSQL runs as when the tests run as root
  return folder;
}

/** Test data need not survive a crash: half the time of creating a database is spent on fsync. */
async function withoutSync(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("alter system set fsync = off");
  await client.query("select pg_reload_conf()");
  await client.end();
}
