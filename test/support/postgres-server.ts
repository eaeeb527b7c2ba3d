// One embedded PostgreSQL for a test run, in a temporary folder that is removed with it.
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { openEmbedded } from "../../src/embedded/database.ts";
import {
  type Folder,
  folderIn,
  isAlive,
  isServer,
  realFolder,
  runningServer,
} from "../../src/embedded/folder.ts";
import { superuserUrl } from "../../src/embedded/server.ts";
import { makeScratch, scratchParent, scratchPrefix } from "./scratch.ts";

const log = { info() {}, warn: console.error, error: console.error };

/** Every test file uses this server: one that starts several services has 70 connections alone. */
const maxConnections = 400;

/** `url` is that of a superuser on the database `postgres`. */
export async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  await removeLeftovers();
  const folder = makeScratch();
  const dataDir = join(folder, "data");
  const server = await openEmbedded({ dataDir, log, maxConnections });
  // Without its settings: tests add their own.
  const url = superuserUrl(realFolder(dataDir), Number(new URL(server.url).port)).replace(/\?.*/, "");
  await withoutSync(url);
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop };
}

/** Removes servers and folders of runs that were killed, except those of another user. */
async function removeLeftovers(): Promise<void> {
  const parents = new Set([tmpdir(), scratchParent]);
  const folders = [...parents].flatMap(parent => readdirSync(parent).map(name => join(parent, name)));
  for (const folder of folders) {
    const name = basename(folder);
    if (!name.startsWith(scratchPrefix)) continue;
    if (isAlive(Number.parseInt(name.slice(scratchPrefix.length), 10))) continue;
    try {
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

/** Test data need not survive a crash: half the time of creating a database is spent on fsync. */
async function withoutSync(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("alter system set fsync = off");
  await client.query("select pg_reload_conf()");
  await client.end();
}
