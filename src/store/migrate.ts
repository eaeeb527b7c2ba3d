// Brings a database to this version's schema: numbered SQL files, each once, whoever else is starting.
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { isTransient } from "./db.ts";

const directory = new URL("./migrations/", import.meta.url);
// Any fixed number: two processes that start together take turns on it.
const lockId = 4_826_170_391;

/** This version cannot work on that database: an older server, or a schema made by a newer version of ours. */
export class UnfitDatabaseError extends Error {
  override name = "UnfitDatabaseError";
}

/**
 * Applies what is missing, in order, each file in a transaction of its own; returns the names applied. Safe to
 * run from several processes at once and to run again after being killed. Throws
 * UnfitDatabaseError where the server is older than PostgreSQL 18 or the schema is newer than this version.
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows: server } = await client.query<{ version: number; name: string }>(
      "select current_setting('server_version_num')::int as version, current_setting('server_version') as name",
    );
    if (server[0]!.version < 180_000) {
      throw new UnfitDatabaseError(
        `The server at DATABASE_URL is PostgreSQL ${server[0]!.name}: Onlooker needs 18 or newer.`,
      );
    }
    await client.query("select pg_advisory_lock($1)", [lockId]);
    const files = (await readdir(directory)).filter(name => name.endsWith(".sql")).sort();
    await client.query(
      "create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())",
    );
    const { rows } = await client.query<{ name: string }>("select name from migrations order by name");
    const done = new Set(rows.map(row => row.name));
    const unknown = [...done].filter(name => !files.includes(name));
    if (unknown.length > 0) {
      throw new UnfitDatabaseError(
        `The database holds migrations that this version does not know (${unknown.join(", ")}): start the newer version of Onlooker that made them, or use another database.`,
      );
    }
    const missing = files.filter(name => !done.has(name));
    for (const name of missing) {
      await client.query("begin");
      await client.query(await readFile(new URL(name, directory), "utf8"));
      await client.query("insert into migrations (name) values ($1)", [name]);
      await client.query("commit");
    }
    return missing;
  } finally {
    await client.end();
  }
}

/**
 * Migrates, waiting up to 30 s for a database that is only just starting. Throws UnfitDatabaseError where it cannot
 * be reached by then.
 */
export async function migratePatiently(url: string, log: Pick<Logger, "info" | "warn">): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    try {
      const applied = await migrate(url);
      if (applied.length > 0) log.info({ migrations: applied }, "Database migrated");
      return;
    } catch (error) {
      if (!isTransient(error)) throw error;
      const { host } = new URL(url);
      if (performance.now() > deadline) {
        throw new UnfitDatabaseError(
          `The database at ${host} cannot be reached (${(error as Error).message || (error as { code?: string }).code}). Start it, or correct DATABASE_URL.`,
        );
      }
      log.warn({ err: (error as Error).message }, `Waiting for the database at ${host}`);
      await sleep(1_000);
    }
  }
}

/** Whether every migration of this version has been applied: what readiness asks. */
export async function isMigrated(pool: pg.Pool): Promise<boolean> {
  const files = (await readdir(directory)).filter(name => name.endsWith(".sql"));
  const { rows } = await pool.query<{ name: string }>("select name from migrations");
  const done = new Set(rows.map(row => row.name));
  return files.every(name => done.has(name));
}
