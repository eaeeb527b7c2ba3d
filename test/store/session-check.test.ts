// The check of the database connection at start, without a pooler: test/wide/databases/pgbouncer.test.ts has those of poolers.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import pg from "pg";
import { UnfitDatabaseError } from "../../src/store/connection/unfit-database.ts";
import { openDatabase } from "../../src/store/db.ts";
import { takeTurn } from "../../src/store/runs/launches.ts";
import { checkSessions } from "../../src/store/session-check.ts";
import { freshDatabase } from "../support/postgres.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let other: Awaited<ReturnType<typeof freshDatabase>>;
before(async () => {
  [database, other] = [await freshDatabase(), await freshDatabase()];
});
after(async () => {
  await database.drop();
  await other.drop();
});

const warnings: string[] = [];
const log = { info() {}, warn: (message: unknown) => void warnings.push(String(message)) };
beforeEach(() => void warnings.splice(0));

const check = (directUrl: string, pooled = true) =>
  checkSessions({ url: database.url, directUrl, pooled }, log as never);

async function run(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("accepts a database without a pooler, and changes nothing", async () => {
  await check(database.url, false);
  assert.deepEqual(warnings, []);
  assert.deepEqual(await run(database.url, "show statement_timeout"), [{ statement_timeout: "0" }]);
});

test("keeps the settings of the URL beside Onlooker's own", async () => {
  const db = openDatabase(`${database.url}?options=-c%20work_mem%3D5MB`, 1);
  const { rows } = await db.pool.query(
    "select current_setting('work_mem') as memory, current_setting('lock_timeout') as timeout",
  );
  assert.deepEqual(rows, [{ memory: "5MB", timeout: "5s" }]);
  await db.close();
});

test("refuses sessions without Onlooker's settings behind a pooler, says what gives them, and changes nothing", async () => {
  const roles =
    "select from pg_db_role_setting where setdatabase in (select oid from pg_database where datname = current_database())";
  const error: Error = await check(database.url).then(
    () => assert.fail("It was accepted."),
    error => error,
  );
  assert.ok(error instanceof UnfitDatabaseError);
  assert.match(error.message, /has sessions without Onlooker's settings: \w+ is on instead of off\. /);
  assert.equal((await run(database.url, roles)).length, 0);
  assert.deepEqual(await run(database.url, "show lock_timeout"), [{ lock_timeout: "0" }]);
  await run(database.url, error.message.match(/alter role .*;/)![0]);
  warnings.splice(0);
  await check(database.url);
  assert.deepEqual(
    warnings.map(text => text.split(":")[0]),
    ["DATABASE_URL leads to no pooler of transactions"],
    "the variable is set without a pooler",
  );
  assert.deepEqual(await run(other.url, "show statement_timeout"), [{ statement_timeout: "0" }]);
});

test("waits for no process that claims manual runs", async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("begin");
  await takeTurn(client as never);
  await check(database.url);
  await client.end();
});

test("refuses a direct URL of another database, and leaves that one as it is", async () => {
  await assert.rejects(check(other.url), error => {
    assert.ok(error instanceof UnfitDatabaseError);
    assert.match(error.message, /lead to two databases \("onlooker_test_.*" and "onlooker_test_.*"\)/);
    return true;
  });
  assert.deepEqual(await run(other.url, "show lock_timeout"), [{ lock_timeout: "0" }]);
});

test("refuses a direct URL with another schema or another user", async () => {
  await assert.rejects(
    check(`${database.url}?options=-c%20search_path%3Dpg_catalog`),
    /has the schema "public" and SVC_DATABASE_DIRECT_URL the schema "pg_catalog"/,
  );
  const role = new URL(database.url).pathname.slice(1);
  await run(database.url, `create role ${role} login password 'x' in role pg_monitor`);
  const url = new URL(database.url);
  url.username = role;
  url.password = "x";
  try {
    await assert.rejects(check(url.href), /has the user "\w+" and SVC_DATABASE_DIRECT_URL the user/);
  } finally {
    await run(database.url, `drop role ${role}`);
  }
});

test("warns if commits are not flushed", async () => {
  const name = new URL(database.url).pathname.slice(1);
  await run(database.url, `alter database ${name} set synchronous_commit = off`);
  await check(database.url, false);
  assert.match(warnings.join("\n"), /^synchronous_commit is off/);
  await run(database.url, `alter database ${name} reset synchronous_commit`);
});

test("names statements only without a pooler", async () => {
  for (const pooled of [false, true]) {
    const db = openDatabase(database.url, 1, { pooled });
    await db.pool.query({ name: "one", text: "select $1::int as number", values: [1] });
    const { rows } = await db.pool.query("select name from pg_prepared_statements");
    assert.deepEqual(rows, pooled ? [] : [{ name: "one" }]);
    await db.close();
  }
});
