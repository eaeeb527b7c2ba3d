// Migrations: applied once, all or none, by whichever process is first, also on a database of an earlier version.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import { backfillBatchAgents } from "../../src/load/backfill.ts";
import { insertKey } from "../../src/store/accounts/keys.ts";
import { openDatabase } from "../../src/store/db.ts";
import { isMigrated, migrate } from "../../src/store/migrate.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import { UnfitDatabaseError } from "../../src/store/unfit-database.ts";
import { freshDatabase } from "../support/postgres.ts";
import { makeScratch } from "../support/scratch.ts";
import { limits, otlpWrite } from "./traces/make-write.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

const released = fileURLToPath(new URL("../../src/store/migrations/", import.meta.url));
const names = readdirSync(released).sort();

/** The released migrations plus these. */
function folderWith(name: string, files: Record<string, string>): URL {
  const folder = join(scratch, name);
  mkdirSync(folder);
  cpSync(released, folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return pathToFileURL(`${folder}/`);
}

/** The released migrations before this one. */
function folderBefore(name: string): URL {
  const folder = join(scratch, `before-${name}`);
  mkdirSync(folder);
  for (const earlier of names.filter(one => one < name)) {
    cpSync(join(released, earlier), join(folder, earlier));
  }
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

test("a database from before the migrator continues without repeating a migration", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  await client.query(`drop table migrations_lock; alter table migrations drop column "timestamp"`);
  const folder = folderWith("next", {
    "999_next.sql": "create table next (id int); insert into next values (1);",
  });
  assert.deepEqual(await migrate(url, folder), ["999_next.sql"]);
  assert.deepEqual(await migrate(url, folder), []);
  assert.equal((await client.query("select from next")).rowCount, 1);
  await drop();
});

test("a version from before the migrator still records its migrations next to the migrator's", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  await client.query("insert into migrations (name) values ('999_earlier.sql')");
  const folder = folderWith("earlier", { "999_earlier.sql": "select 1 / 0" });
  assert.deepEqual(await migrate(url, folder), []);
  await drop();
});

test("a failed migration leaves nothing behind, not even the ones before it", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url);
  const folder = folderWith("failing", {
    "998_good.sql": "create table good (id int)",
    "999_bad.sql": "create table bad (id int); select 1 / 0",
  });
  await assert.rejects(migrate(url, folder), { code: "22012" });
  assert.deepEqual(await appliedIn(client), names);
  await assert.rejects(client.query("select from good"), { code: "42P01" });
  await drop();
});

test("a database that a newer version migrated is refused", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url, folderWith("newer", { "999_newer.sql": "create table newer (id int)" }));
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

test("a database whose ids were created by the server keeps none of its defaults", async () => {
  const { url, client, drop } = await emptyDatabase();
  const name = "021_ids_from_the_service.sql";
  await migrate(url, folderBefore(name));
  const tables = ["projects", "agents", "keys", "test_cases", "access_tokens"];
  for (const table of tables)
    await client.query(`alter table ${table} alter column id set default gen_random_uuid()`);
  assert.equal((await migrate(url))[0], name);
  const { rows } = await client.query(
    `select table_name from information_schema.columns
      where table_schema = 'public' and data_type = 'uuid' and column_default is not null`,
  );
  assert.deepEqual(rows, []);
  await drop();
});

test("batches from before they had an agent get it in the background, while traces are merged", async () => {
  const { url, client, drop } = await emptyDatabase();
  await migrate(url, folderBefore("036_retention.sql"));
  const [projectId, agentId] = [crypto.randomUUID(), crypto.randomUUID()];
  await client.query("insert into accounts (id, name, email) values ('a', 'Someone', 'a@example.com')");
  await client.query("insert into projects (id, account_id, name) values ($1, 'a', 'Shop')", [projectId]);
  await client.query(
    "insert into agents (id, project_id, name, type) values ($1, $2, 'Support', 'http_api')",
    [agentId, projectId],
  );
  const traces = 350;
  await client.query(
    `with made as (
       insert into traces (id, agent_id, external_id, kind, path, batch_spans, batch_bytes, derived_revision, name, failed,
         span_count)
       select id_at(now() - number * interval '1 hour', gen_random_uuid()), $1, number::text, 'live', 'otlp', 2, 20, 1,
         'chat', false, 2
       from generate_series(1, $2::int) as number returning id
     )
     insert into trace_batches (trace_id, seq, span_keys, raw_length, spans)
     select id, seq, '', 10, 'old' from made, generate_series(1, 2) as seq`,
    [agentId, traces],
  );
  await client.query("update traces set batch_count = 2");
  await migrate(url);
  const db = openDatabase(url);
  const key = { projectId, name: "CI", hash: Buffer.alloc(32), lastFour: "abcd", access: "full" as const };
  const { id: keyId } = await insertKey(db, { ...key, agentIds: [], expiresAt: null, createdBy: null });
  const writer = new TraceWriter(db, limits);
  const merges = Array.from({ length: traces / 10 }, (_, at) =>
    writer.write(otlpWrite({ projectId, agentId, keyId }, { externalId: String(at * 10 + 1), spans: ["b"] })),
  );
  let rounds = 0;
  while (await backfillBatchAgents(db)) rounds++;
  assert.ok(rounds > traces / 100, "a few traces at a time");
  for (const { state } of await Promise.all(merges)) assert.equal(state, "merged");
  const { rows } = await client.query(
    "select agent_id, count(*)::int as batches from trace_batches group by 1",
  );
  assert.deepEqual(rows, [{ agent_id: agentId, batches: 2 * traces + merges.length }]);
  await db.close();
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
  const migrating = migrate(url, folderWith("slow", files), stopping.signal);
  const sleeping = "select from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'";
  while ((await client.query(sleeping)).rowCount === 0);
  stopping.abort();
  await assert.rejects(migrating, { code: "57014" });
  assert.equal((await client.query(sleeping)).rowCount, 0);
  assert.deepEqual(await appliedIn(client), names);
  const folder = folderWith("quick", { "999_slow.sql": "create table slow (id int)" });
  assert.deepEqual(await migrate(url, folder), ["999_slow.sql"]);
  await assert.rejects(migrate(url, folder, AbortSignal.abort()));
  await drop();
});

test("a process waits for the lock of another process that is migrating", async () => {
  const { url, client, drop } = await emptyDatabase();
  await client.query("select pg_advisory_lock(4826170391)");
  const migrating = migrate(url);
  const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
  while ((await client.query(waiting)).rowCount === 0);
  assert.equal((await client.query("select to_regclass('accounts') as t")).rows[0].t, null);
  await client.query("select pg_advisory_unlock(4826170391)");
  assert.deepEqual(await migrating, names);
  await drop();
});
