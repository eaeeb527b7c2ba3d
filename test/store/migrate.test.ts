// The schema: its files are applied once, all or none, by whichever process is first; functions are replaced when they changed.
import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import { advisoryLocks } from "../../src/model/advisory-locks.ts";
import { UnfitDatabaseError } from "../../src/store/connection/unfit-database.ts";
import { createSchema, isMigrated, listMade, migrate, schema } from "../../src/store/migrate.ts";
import { freshDatabase } from "../support/postgres.ts";
import { makeScratch } from "../support/scratch.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

const names = readdirSync(schema).sort();
const functions = "functions.sql";

/** The files of the schema plus these, or with this text at their end. */
function folderWith(name: string, files: Record<string, string>): URL {
  const folder = join(scratch, name);
  mkdirSync(folder);
  cpSync(fileURLToPath(schema), folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) appendFileSync(join(folder, file), text);
  return pathToFileURL(`${folder}/`);
}

async function emptyDatabase(): Promise<{ url: string; client: pg.Client; drop(): Promise<void> }> {
  const database = await freshDatabase();
  const client = new pg.Client({ connectionString: database.url });
  client.on("error", () => {});
  await client.connect();
  await client.query("drop schema public cascade; create schema public");
  return {
    url: database.url,
    client,
    async drop() {
      await client.end();
      await database.drop();
    },
  };
}

async function appliedIn(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>("select name from migrations order by name");
  return rows.map(row => row.name);
}

test("of several processes that start at once on an empty database, one applies every migration", async () => {
  const { url, client, drop } = await emptyDatabase();
  const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  assert.deepEqual(applied.flat().sort(), names);
  assert.deepEqual(await appliedIn(client), names);
  assert.deepEqual(await migrate(url), []);
  await drop();
});

test("a new file is applied once and recorded, without repeating the others", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  const next = { "999_next.sql": "create table next (id int); insert into next values (1);" };
  const folder = folderWith("next", next);
  assert.deepEqual(await migrate(url, { folder }), ["999_next.sql"]);
  assert.deepEqual(await migrate(url, { folder }), []);
  assert.equal((await client.query("select from next")).rowCount, 1);
  assert.deepEqual(await appliedIn(client), [...names, "999_next.sql"].sort());
  await drop();
});

test("changed functions are replaced, and nothing else is done", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  const before = (await client.query("select minute_of('019b0000-0000-7000-8000-000000000000') as minute"))
    .rows;
  const changed = `
    create or replace function minute_of(id uuid) returns bigint language sql immutable parallel safe return 7;
    create function added() returns text language sql as $$ select name from accounts limit 1 $$;`;
  const folder = folderWith("functions", { [functions]: changed });
  assert.deepEqual(await migrate(url, { folder }), [functions]);
  assert.deepEqual(await migrate(url, { folder }), []);
  const read = "select minute_of('019b0000-0000-7000-8000-000000000000') as minute, added()";
  assert.deepEqual((await client.query(read)).rows, [{ minute: 7, added: null }]);
  assert.deepEqual(await appliedIn(client), names);
  assert.deepEqual(await migrate(url), [functions]);
  const { rows } = await client.query("select minute_of('019b0000-0000-7000-8000-000000000000') as minute");
  assert.deepEqual(rows, before);
  await drop();
});

test("a database made with other files is refused with how to begin with an empty one, and stays as it is", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  const changes = { "002_traces.sql": "create table more (id int);", [functions]: "select 1 / 0;" };
  const folder = folderWith("other", changes);
  for (const [home, todo] of [
    [undefined, "create an empty database and set DATABASE_URL to it"],
    ["/data/postgresql", "move or delete the folder /data/postgresql"],
  ] as const) {
    await assert.rejects(migrate(url, { folder, home }), (error: unknown) => {
      assert.ok(error instanceof UnfitDatabaseError);
      assert.equal(
        error.message,
        `The database was created with a different schema (002_traces.sql) and cannot be upgraded; to start over, ${todo}.`,
      );
      return true;
    });
  }
  assert.deepEqual(await migrate(url), []);
  // Of a version that kept no hashes.
  await client.query("alter table migrations drop column hash");
  await assert.rejects(migrate(url), /with a different schema \(001_accounts\.sql, /);
  await drop();
});

test("a database or backup made with other files is neither backed up nor restored", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  const made = await listMade(client);
  assert.deepEqual(new Set(made.map(({ name }) => name)), new Set(names));
  await client.query("update migrations set hash = 'other' where name = '003_work.sql'");
  await assert.rejects(
    listMade(client),
    /another version of Onlooker \(003_work\.sql\)\. Back it up with that/,
  );
  const others = made.map(file => ({ ...file, hash: "other" }));
  await assert.rejects(
    createSchema(client, [...others, { name: "999_newer.sql", hash: "newer" }]),
    /another version of Onlooker \(001_accounts\.sql, 002_traces\.sql, 003_work\.sql, 999_newer\.sql\)\. Restore/,
  );
  await drop();
});

test("a failed migration leaves nothing behind, not even the ones before it", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  const folder = folderWith("failing", {
    "998_good.sql": "create table good (id int)",
    "999_bad.sql": "create table bad (id int); select 1 / 0",
  });
  await assert.rejects(migrate(url, { folder }), { code: "22012" });
  assert.deepEqual(await appliedIn(client), names);
  await assert.rejects(client.query("select from good"), { code: "42P01" });
  await drop();
});

test("a database that a newer version migrated is refused", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url, { folder: folderWith("newer", { "999_newer.sql": "create table newer (id int)" }) });
  await assert.rejects(migrate(url), (error: unknown) => {
    assert.ok(error instanceof UnfitDatabaseError);
    assert.match(error.message, /newer version of Onlooker \(999_newer\.sql\)/);
    return true;
  });
  const pool = new pg.Pool({ connectionString: url });
  assert.equal(await isMigrated(pool), true);
  await client.query("delete from migrations where name = $1", [names[0]]);
  assert.equal(await isMigrated(pool), false);
  await pool.end();
  await drop();
});

test("a server older than PostgreSQL 15 is refused before anything is created, with what to do", async () => {
  const { url, client, drop } = await emptyDatabase();
  // A server says its version by this function; a schema that is searched before the system's can have another.
  await client.query(`create schema older; create function older.current_setting(name text) returns text language sql
    return case name when 'server_version_num' then '140019' else '14.19' end`);
  await client.query(
    `alter database ${new URL(url).pathname.slice(1)} set search_path = older, pg_catalog, public`,
  );
  await assert.rejects(migrate(url), (error: unknown) => {
    assert.ok(error instanceof UnfitDatabaseError);
    assert.match(
      error.message,
      /PostgreSQL 14\.19; Onlooker needs 15 or newer\. Upgrade the server, use another, or unset DATABASE_URL/,
    );
    return true;
  });
  assert.equal((await client.query("select from pg_class where relname = 'migrations'")).rowCount, 0);
  await drop();
});

test("a database with another encoding than UTF8 is refused before anything is created, with what to do", async () => {
  const { url, client, drop } = await emptyDatabase();
  const name = `${new URL(url).pathname.slice(1)}_ascii`;
  await client.query(
    `create database ${name} template template0 encoding SQL_ASCII locale 'C' locale_provider libc`,
  );
  const ascii = new URL(url);
  ascii.pathname = `/${name}`;
  await assert.rejects(migrate(ascii.href), (error: unknown) => {
    assert.ok(error instanceof UnfitDatabaseError);
    assert.match(error.message, /encoding SQL_ASCII; Onlooker needs UTF8\. Create another with: createdb /);
    return true;
  });
  const other = new pg.Client({ connectionString: ascii.href });
  await other.connect();
  assert.equal((await other.query("select from pg_class where relname = 'migrations'")).rowCount, 0);
  await other.end();
  await client.query(`drop database ${name}`);
  await drop();
});

test("a migration that is aborted ends its statement, leaves nothing behind, and is applied the next time", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  const files = { "999_slow.sql": "create table slow (id int); select pg_sleep(3600)" };
  const stopping = new AbortController();
  const migrating = migrate(url, { folder: folderWith("slow", files), signal: stopping.signal });
  const sleeping = "select from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'";
  while ((await client.query(sleeping)).rowCount === 0);
  stopping.abort();
  await assert.rejects(migrating, { code: "57014" });
  assert.equal((await client.query(sleeping)).rowCount, 0);
  assert.deepEqual(await appliedIn(client), names);
  const folder = folderWith("quick", { "999_slow.sql": "create table slow (id int)" });
  assert.deepEqual(await migrate(url, { folder }), ["999_slow.sql"]);
  await assert.rejects(migrate(url, { folder, signal: AbortSignal.abort() }));
  await drop();
});

test("a process waits for the lock of another process that is migrating", async () => {
  const { url, client, drop } = await emptyDatabase();
  await client.query("select pg_advisory_lock($1)", [advisoryLocks.schema]);
  const migrating = migrate(url);
  const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
  while ((await client.query(waiting)).rowCount === 0);
  assert.equal((await client.query("select to_regclass('accounts') as t")).rows[0].t, null);
  await client.query("select pg_advisory_unlock($1)", [advisoryLocks.schema]);
  assert.deepEqual(new Set(await migrating), new Set(names));
  await drop();
});
