// Databases for tests: each test file gets its own, cloned from a template that is migrated once.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { after } from "node:test";
import pg from "pg";
import { openStore } from "../../src/store/cluster/open.ts";
import type { Addresses, OpenDatabase } from "../../src/store/db.ts";
import { migrate, schema } from "../../src/store/migrate.ts";
import { distributedDatabase } from "./citus.ts";
import { startServer } from "./postgres-server.ts";

let own: ReturnType<typeof startServer> | undefined;
let template: Promise<string> | undefined;

// A file that runs alone has no test run around it, so it starts its own server.
let stopped = false;
after(async () => {
  await (await own)?.stop();
  stopped = own !== undefined;
});

/** The URL of a superuser on the database `postgres` of this test run's server. */
async function adminUrl(): Promise<string> {
  const given = process.env.SVC_TEST_DATABASE_URL;
  if (given) return given;
  own ??= startServer();
  return (await own).url;
}

export type TestDatabase = { url: string; drop(): Promise<void> };

/** Whether `freshDatabase` gives databases that are distributed over the cluster of SVC_TEST_CITUS_URL. */
export const onCitus = process.env.SVC_TEST_ON_CITUS !== undefined;

/** A new migrated database for one user. `drop` also ends its remaining connections. */
export async function freshDatabase(): Promise<TestDatabase> {
  if (onCitus) return distributedDatabase();
  template ??= migratedTemplate();
  return createDatabase(await template);
}

/** As a service finds one of `freshDatabase` when it starts. */
export function addressesOf(url: string): Addresses {
  return { url, directUrl: url, pooled: false, distributed: onCitus };
}

/** As a service opens one of `freshDatabase`. */
export function openFresh(url: string, connectionsMax?: number): OpenDatabase {
  return openStore(addressesOf(url), connectionsMax);
}

/** A database without any table. */
export function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase("template0");
}

async function createDatabase(from: string): Promise<TestDatabase> {
  const name = `onlooker_test_${randomBytes(6).toString("hex")}`;
  // Copied as files, not through the log: half the CPU time of creating and dropping it (0.03 s instead of 0.07 s).
  await administer(`create database ${name} template ${from} strategy file_copy`);
  return {
    url: await urlOf(name),
    // A file's own hooks run after the one above, which removed its databases with the server.
    drop: async () => {
      if (!stopped) await administer(`drop database if exists ${name} with (force)`);
    },
  };
}

/**
 * Variables of a service that uses this database: through the PgBouncer at SVC_TEST_POOLER, such as 127.0.0.1:6432, if
 * there is one.
 */
export function variablesOf(databaseUrl: string): Record<string, string> {
  const pooler = process.env.SVC_TEST_POOLER;
  if (!pooler) return { DATABASE_URL: databaseUrl };
  const url = new URL(databaseUrl);
  url.host = pooler;
  return {
    DATABASE_URL: url.href,
    SVC_DATABASE_POOLER: "transaction",
    SVC_DATABASE_DIRECT_URL: databaseUrl,
  };
}

/** Its name contains a hash of the schema, so a template of another one is never used. */
async function migratedTemplate(): Promise<string> {
  const hash = createHash("sha256");
  for (const file of readdirSync(schema).sort())
    hash.update(file).update(readFileSync(new URL(file, schema)));
  const name = `onlooker_template_${hash.digest("hex").slice(0, 12)}`;
  await withAdmin(async client => {
    await client.query("select pg_advisory_lock(hashtext($1))", [name]); // test files run side by side
    const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
    if (rowCount !== 0) return;
    await client.query(`drop database if exists ${name}_draft with (force)`);
    await client.query(`create database ${name}_draft`);
    await migrate(await urlOf(`${name}_draft`));
    await client.query(`alter database ${name}_draft rename to ${name}`);
  });
  return name;
}

async function urlOf(database: string): Promise<string> {
  const url = new URL(await adminUrl());
  url.pathname = `/${database}`;
  return url.href;
}

/**
 * One lasting connection of this process: a new one takes 0.06 s of a core until it has read what creating a database
 * needs. It keeps no process alive, and the server ends it when it stops.
 */
let admin: pg.Pool | undefined;

async function administer(sql: string): Promise<void> {
  if (admin === undefined) {
    admin = new pg.Pool({
      connectionString: await adminUrl(),
      max: 1,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true,
    });
    admin.on("error", () => {}); // the server stopped
  }
  await admin.query(sql);
}

async function withAdmin(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: await adminUrl() });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
