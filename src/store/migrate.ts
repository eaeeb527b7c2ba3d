// Brings the database to this version's schema: numbered SQL files, each applied once, and functions, replaced when they changed.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";
import { advisoryLocks } from "../model/advisory-locks.ts";
import { distributeMissing } from "./cluster/distribute.ts";
import { isDistributed } from "./cluster/nodes.ts";
import { cancellable } from "./connection/cancellable.ts";
import { newClient, noTimeouts } from "./connection/connect.ts";
import { UnfitDatabaseError } from "./connection/unfit-database.ts";
import type { Session } from "./db.ts";

/** The folder of the schema of this version. */
export const schema = new URL("./schema/", import.meta.url);
/** Replaced as a whole when it changed; the other files are applied once. */
const functions = "functions.sql";
/** The oldest PostgreSQL that CI tests. An older one has no `nulls not distinct`. */
const oldestServer = 15;

// Behind a pooler the settings of requests are the user's own, and would hold here too. The bodies of functions name tables that
// come after them.
// On a cluster, what a transaction does to tables that refer to each other needs one connection to each node.
const options = `${noTimeouts} -c enable_seqscan=on -c enable_bitmapscan=on -c check_function_bodies=off -c citus.multi_shard_modify_mode=sequential`;

/** A file that a database was made with: a row of `migrations`. */
export type SchemaFile = { name: string; hash: string };

export type MigrateOptions = {
  folder?: URL;
  /** Once aborted, the statement is cancelled, nothing is applied, and `migrate` throws. */
  signal?: AbortSignal | undefined;
  /** The folder of the embedded database, for the user; absent: it is that of DATABASE_URL. */
  home?: string | undefined;
};

/**
 * Applies the missing files in order, all or none, and returns their names; the functions are replaced first if they changed.
 * Several processes may call it at the same time, and again after being killed. Throws UnfitDatabaseError if the server is older
 * than PostgreSQL 15, the encoding is not UTF8, or the database was made with other files.
 */
export async function migrate(
  url: string,
  { folder = schema, signal, home }: MigrateOptions = {},
): Promise<string[]> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options });
  await client.connect();
  try {
    const { pid } = await requireFit(client);
    signal?.throwIfAborted();
    return await cancellable(applyMissing(client, { folder, signal, home }), { url, pid, signal });
  } finally {
    await client.end();
  }
}

/** In one transaction, which ends with the connection unless it is committed. */
async function applyMissing(
  client: pg.Client,
  { folder, signal, home }: MigrateOptions & { folder: URL },
): Promise<string[]> {
  await client.query("begin");
  await client.query("select pg_advisory_xact_lock($1)", [advisoryLocks.schema]);
  await client.query(table);
  const applied = await listApplied(client);
  const files = await filesIn(folder);
  requireSame(applied, files, home);
  const missing = files.filter(file => applied.get(file.name) !== file.hash);
  const onCluster = missing.length > 0 && (await isDistributed(client));
  for (const { name, hash, text } of missing) {
    signal?.throwIfAborted();
    await client.query(text);
    if (onCluster) await distributeMissing(client);
    await client.query(
      `insert into migrations (name, hash) values ($1, $2)
       on conflict (name) do update set hash = excluded.hash, applied_at = excluded.applied_at`,
      [name, hash],
    );
  }
  await client.query("commit");
  return missing.map(({ name }) => name);
}

const table = `create table if not exists migrations (
  name text primary key,
  hash text not null,
  applied_at timestamptz not null default now()
)`;

type Server = { version: number; name: string; encoding: string; pid: number };

/** Throws UnfitDatabaseError if the server is older than PostgreSQL 15 or the encoding is not UTF8. */
export async function requireFit(client: pg.ClientBase): Promise<Pick<Server, "pid">> {
  const { rows } = await client.query<Server>(
    `select pg_backend_pid() as pid, current_setting('server_version_num')::int as version,
       current_setting('server_version') as name, current_setting('server_encoding') as encoding`,
  );
  const { version, name, encoding, pid } = rows[0]!;
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
  return { pid };
}

/** Throws UnfitDatabaseError if the database was made with files that this version does not have, or has otherwise. */
function requireSame(
  applied: Map<string, string | null>,
  files: SchemaFile[],
  home: string | undefined,
): void {
  const { changed, unknown } = compareFiles(applied, files);
  if (changed.length > 0) {
    const empty =
      home === undefined
        ? "create an empty database and set DATABASE_URL to it"
        : `move or delete the folder ${home}`;
    throw new UnfitDatabaseError(
      `The database was created with a different schema (${changed.join(", ")}) and cannot be upgraded; to start over, ${empty}.`,
    );
  }
  if (unknown.length > 0) {
    throw new UnfitDatabaseError(
      `The database was migrated by a newer version of Onlooker (${unknown.join(", ")}). Start that version, or use another database.`,
    );
  }
}

/** Names of the files that a database or backup was made with: those that differ here, and those missing here. */
function compareFiles(
  made: Iterable<[name: string, hash: string | null]>,
  files: SchemaFile[],
): { changed: string[]; unknown: string[] } {
  const known = new Map(files.map(({ name, hash }) => [name, hash]));
  const others = [...made].filter(([name, hash]) => name !== functions && known.get(name) !== hash);
  return {
    changed: others.flatMap(([name]) => (known.has(name) ? [name] : [])),
    unknown: others.flatMap(([name]) => (known.has(name) ? [] : [name])),
  };
}

/** The hashes by name; null in a table that has none. */
async function listApplied(client: pg.ClientBase): Promise<Map<string, string | null>> {
  const { rows } = await client.query<{ name: string; hash: string | null }>(
    "select name, to_jsonb(migrations) ->> 'hash' as hash from migrations order by name",
  );
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

/** The functions, then the numbered files in order. */
async function filesIn(folder: URL): Promise<(SchemaFile & { text: string })[]> {
  const names = (await readdir(folder)).filter(name => name.endsWith(".sql") && name !== functions).sort();
  return Promise.all(
    [functions, ...names].map(async name => {
      const text = await readFile(new URL(name, folder), "utf8");
      return { name, text, hash: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/**
 * The files that the database was made with, for its backup. Throws UnfitDatabaseError if this version does not have all of them
 * as they were.
 */
export async function listMade(client: pg.ClientBase): Promise<SchemaFile[]> {
  const applied = await listApplied(client);
  const { changed, unknown } = compareFiles(applied, await filesIn(schema));
  if (changed.length + unknown.length > 0) {
    throw new UnfitDatabaseError(
      `The database has the schema of another version of Onlooker (${[...changed, ...unknown].join(", ")}). Back it up with that version.`,
    );
  }
  return [...applied].map(([name, hash]) => ({ name, hash: hash! }));
}

/** Throws UnfitDatabaseError if this version does not have all files that a backup was made with, as they were. */
export async function requireMade(made: SchemaFile[]): Promise<void> {
  const files = await filesIn(schema);
  const { changed, unknown } = compareFiles(
    made.map(({ name, hash }) => [name, hash]),
    files,
  );
  if (changed.length + unknown.length > 0) {
    throw new UnfitDatabaseError(
      `The backup has the schema of another version of Onlooker (${[...changed, ...unknown].join(", ")}). Restore it with that version.`,
    );
  }
  const names = made.map(({ name }) => name);
  const missing = files.slice(0, Math.max(1, made.length)).find(({ name }) => !names.includes(name));
  if (missing)
    throw new UnfitDatabaseError(
      `The backup has a schema without ${missing.name}, as no version of Onlooker makes one.`,
    );
}

/** In the transaction of the client, which must be on an empty database: the tables as these files made them. */
export async function createSchema(client: pg.ClientBase, made: SchemaFile[]): Promise<void> {
  await requireMade(made);
  await client.query("set local check_function_bodies = off");
  await client.query(table);
  for (const { name, text } of await filesIn(schema)) {
    if (made.some(file => file.name === name)) await client.query(text);
  }
}

/** For readiness: whether every file of this version has been applied. */
export async function isMigrated(pool: Session): Promise<boolean> {
  const files = await readdir(schema);
  const { rows } = await pool.query<{ name: string }>("select name from migrations");
  const done = new Set(rows.map(row => row.name));
  return files.every(name => done.has(name));
}
