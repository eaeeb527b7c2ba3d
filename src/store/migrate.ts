// Migrates the database to this version's schema: numbered SQL files, each applied once.
import { readdir, readFile } from "node:fs/promises";
import { CompiledQuery, Kysely, PostgresDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import type pg from "pg";
import { cancellable } from "./cancellable.ts";
import { noTimeouts, openPool } from "./connect.ts";
import { applyToCluster } from "./scale/migrating.ts";
import { isDistributed, type Session } from "./scale/nodes.ts";
import { UnfitDatabaseError } from "./unfit-database.ts";

/** The folder of the migrations of this version. */
export const migrations = new URL("./migrations/", import.meta.url);
// Any fixed number. Released versions take this lock and not the migrator's own, so that two versions that start
// together still take turns.
export const lockId = 4_826_170_391;
/** The oldest PostgreSQL that CI tests. An older one lacks `nulls not distinct`. */
const oldestServer = 15;

// Behind a pooler the settings of requests are the user's own, and would hold here too.
// On a cluster, what a transaction does to tables that refer to each other needs one connection to each node.
const options = `${noTimeouts} -c enable_seqscan=on -c enable_bitmapscan=on -c citus.multi_shard_modify_mode=sequential`;

type Tables = { migrations: { name: string } };

/**
 * Applies the missing migrations in order, all or none, and returns their names. Several processes may call it at the
 * same time, and again after being killed. Once aborted, its statement is cancelled, nothing is applied, and it throws. Throws
 * UnfitDatabaseError if the server is older than PostgreSQL 15, the encoding is not UTF8, or the schema is newer than this version.
 */
export async function migrate(url: string, folder = migrations, signal?: AbortSignal): Promise<string[]> {
  const pool = openPool(url, { max: 1, connectionTimeoutMillis: 5_000, options });
  try {
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    return await db.connection().execute(async connection => {
      const { rows } = await sql.raw<Server>(serverQuery).execute(connection);
      requireServer(rows[0]!);
      signal?.throwIfAborted();
      return await cancellable(applyMissing(connection, folder, signal), { url, pid: rows[0]!.pid, signal });
    });
  } finally {
    await pool.end();
  }
}

async function applyMissing(
  connection: Kysely<Tables>,
  folder: URL,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  await sql`select pg_advisory_lock(${lockId})`.execute(connection);
  const files = await filesIn(folder);
  await prepareTable(connection, files);
  const runFile = (await isDistributed(sessionOf(connection))) ? applyToCluster : applyToServer;
  const migrator = new Migrator({
    db: connection,
    migrationTableName: "migrations",
    migrationLockTableName: "migrations_lock",
    provider: {
      async getMigrations() {
        const texts = await Promise.all(files.map(name => readFile(new URL(name, folder), "utf8")));
        const up = (text: string) => async (db: Kysely<unknown>) => {
          signal?.throwIfAborted();
          await runFile(sessionOf(db), text);
        };
        return Object.fromEntries(files.map((name, at) => [name, { up: up(texts[at]!) }]));
      },
    },
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) throw error;
  return results.map(({ migrationName }) => migrationName);
}

type Server = { version: number; name: string; encoding: string; pid: number };

const serverQuery = `select pg_backend_pid() as pid, current_setting('server_version_num')::int as version,
  current_setting('server_version') as name, current_setting('server_encoding') as encoding`;

const tableQueries = [
  `create table if not exists migrations (
    name text primary key, applied_at timestamptz not null default now()
  )`,
  `alter table migrations add column if not exists "timestamp" text not null
    default to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
];

/** The names of the migrations of this version, in order. */
export function knownMigrations(): Promise<string[]> {
  return filesIn(migrations);
}

/** Throws UnfitDatabaseError if the server is older than PostgreSQL 15 or the encoding is not UTF8. */
export async function requireFit(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<Server>(serverQuery);
  requireServer(rows[0]!);
}

/**
 * In the transaction of the client, which must be on an empty database: the tables as they were after these migrations,
 * without the list of migrations itself. Throws UnfitDatabaseError if this version does not know one of them.
 */
export async function createSchema(client: pg.ClientBase, names: string[]): Promise<void> {
  const known = await knownMigrations();
  const unknown = names.filter(name => !known.includes(name));
  if (unknown.length > 0) {
    throw new UnfitDatabaseError(
      `The backup is of a newer version of Onlooker (migrations ${unknown.join(", ")}). Restore it with that version.`,
    );
  }
  for (const text of tableQueries) await client.query(text);
  for (const name of names) await client.query(await readFile(new URL(name, migrations), "utf8"));
}

function requireServer({ version, name, encoding }: Server): void {
  if (version < oldestServer * 10_000) {
    throw new UnfitDatabaseError(
      `The server at DATABASE_URL is PostgreSQL ${name}; Onlooker needs ${oldestServer} or newer. Upgrade the server, use another, or unset DATABASE_URL for the embedded PostgreSQL.`,
    );
  }
  // Debian's PostgreSQL has SQL_ASCII when it was installed without a locale, as in containers: texts would be cut within
  // a character.
  if (encoding !== "UTF8") {
    throw new UnfitDatabaseError(
      `The database at DATABASE_URL has the encoding ${encoding}; Onlooker needs UTF8. Create another with: createdb --template=template0 --encoding=UTF8 --locale=C.UTF-8 onlooker`,
    );
  }
}

/**
 * Versions before the migrator wrote `name` and `applied_at` and read the names alone: the column that the migrator adds
 * has a default, so that such a version can still start on this database, or stop at a migration that it does not know.
 */
async function prepareTable(db: Kysely<Tables>, files: string[]): Promise<void> {
  for (const text of tableQueries) await sql.raw(text).execute(db);
  const applied = await db.selectFrom("migrations").select("name").orderBy("name").execute();
  const unknown = applied.map(({ name }) => name).filter(name => !files.includes(name));
  if (unknown.length === 0) return;
  throw new UnfitDatabaseError(
    `The database was migrated by a newer version of Onlooker (${unknown.join(", ")}). Start that version, or use another database.`,
  );
}

async function filesIn(folder: URL): Promise<string[]> {
  return (await readdir(folder)).filter(name => name.endsWith(".sql")).sort();
}

async function applyToServer(session: Session, text: string): Promise<void> {
  await session.query(text);
}

// biome-ignore lint/suspicious/noExplicitAny: of whatever tables
function sessionOf(db: Kysely<any>): Session {
  return { query: (text, values = []) => db.executeQuery(CompiledQuery.raw(text, values)) };
}

/** For readiness: whether every migration of this version has been applied. */
export async function isMigrated(pool: pg.Pool): Promise<boolean> {
  const files = await filesIn(migrations);
  const { rows } = await pool.query<{ name: string }>("select name from migrations");
  const done = new Set(rows.map(row => row.name));
  return files.every(name => done.has(name));
}
