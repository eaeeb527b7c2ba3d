// Databases on every node of the Citus cluster whose coordinator SVC_TEST_CITUS_URL names: migrated, and distributed or not.
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { distribute } from "../../src/store/cluster/distribute.ts";
import { Shards } from "../../src/store/cluster/groups.ts";
import { workerSettings } from "../../src/store/cluster/nodes.ts";
import { openDatabase } from "../../src/store/db.ts";
import { migrate } from "../../src/store/migrate.ts";

export type CitusDatabase = {
  /** Of the coordinator, which has no shards of agents. */
  url: string;
  /** The same database on each worker. */
  workers: Worker[];
  drop(): Promise<void>;
};

export type Worker = { host: string; port: number; url: string };

/** Its tables are not distributed yet; with `migrated: false`, it has none. */
export async function freshCitusDatabase({ migrated = true } = {}): Promise<CitusDatabase> {
  const database = databaseOf(await listNodes(), `onlooker_test_${randomBytes(6).toString("hex")}`);
  await create(database);
  if (migrated) await migrate(database.url);
  return database;
}

let template: Promise<string> | undefined;

/** Distributed already: a copy, on every node, of one that is made once. */
export async function distributedDatabase(): Promise<CitusDatabase> {
  template ??= distributedTemplate();
  const nodes = await listNodes();
  const copy = databaseOf(nodes, `onlooker_test_${randomBytes(6).toString("hex")}`);
  const from = await template;
  await Promise.all(
    nodes.map(node => run(node.admin, `create database ${copy.name} template ${from} strategy file_copy`)),
  );
  await giveSettings(copy);
  return copy;
}

/** As its operator does: to sessions of this user in this database, on every worker. */
export async function giveSettings({ workers }: CitusDatabase): Promise<void> {
  for (const { url } of workers) {
    const of = `alter role current_user in database ${new URL(url).pathname.slice(1)}`;
    const statements = Object.entries(workerSettings).map(
      ([name, value]) => `${of} set ${name} = '${value}'`,
    );
    await run(url, "set citus.enable_ddl_propagation = off", ...statements);
  }
}

/** Few, since each has a schema and connections of its own; more than workers, so that one of them has two. */
const groups = 3;

/** Its name contains a hash of what makes it. */
async function distributedTemplate(): Promise<string> {
  const hash = createHash("sha256");
  for (const folder of ["schema", "cluster"]) {
    const url = new URL(`../../src/store/${folder}/`, import.meta.url);
    for (const file of readdirSync(url).sort()) hash.update(file).update(readFileSync(new URL(file, url)));
  }
  const nodes = await listNodes();
  const made = databaseOf(nodes, `onlooker_citus_${hash.digest("hex").slice(0, 12)}`);
  const [{ admin }] = nodes as [Server];
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext($1))", [made.name]); // test files run side by side
    // Nobody may connect to one that is whole: it could not be copied then.
    const { rows } = await client.query("select from pg_database where datname = $1 and not datallowconn", [
      made.name,
    ]);
    if (rows.length > 0) return made.name;
    await made.drop();
    await create(made);
    await migrate(made.url);
    await distribute(made.url, { shards: groups });
    await enterAll(made.url);
    for (const node of nodes.toReversed()) {
      await run(
        node.admin,
        `alter database ${made.name} allow_connections false`,
        `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${made.name}'`,
      );
    }
    return made.name;
  } finally {
    await client.end();
  }
}

/** The first transaction in a group makes its schema. */
async function enterAll(url: string): Promise<void> {
  const db = openDatabase(url, 2);
  const shards = new Shards({ db, url, connectionsMax: 2 });
  try {
    for (const group of (await shards.groups()).values())
      await group.pool.query("select from traces limit 0");
  } finally {
    await Promise.all([shards.close(), db.close()]);
  }
}

type Server = { host: string; port: number; leads: boolean; admin: string };

/** The coordinator first. `admin`: the URL of its database `postgres`. */
async function listNodes(): Promise<Server[]> {
  const given = process.env.SVC_TEST_CITUS_URL!;
  const [nodes] = await run(
    given,
    "select nodename as host, nodeport as port, groupid = 0 as leads from pg_dist_node order by groupid",
  );
  return nodes!.map(node => ({ ...node, admin: urlOf(node, "postgres") }));
}

function urlOf({ host, port }: { host: string; port: number }, database: string): string {
  const url = new URL(process.env.SVC_TEST_CITUS_URL!);
  url.host = `${host}:${port}`;
  url.pathname = `/${database}`;
  return url.href;
}

function databaseOf(nodes: Server[], name: string): CitusDatabase & { name: string } {
  const [leader, ...others] = nodes as [Server, ...Server[]];
  return {
    name,
    url: urlOf(leader, name),
    workers: others.map(node => ({ ...node, url: urlOf(node, name) })),
    async drop() {
      await Promise.all(nodes.map(({ admin }) => dropAt(admin, name)));
    },
  };
}

const objectInUse = "55006";

const dropsMax = 20;

/** Retried while sessions outlast the 5 s that PostgreSQL waits for them, such as one that Citus reopens when it is ended. */
async function dropAt(admin: string, name: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await run(admin, `drop database if exists ${name} with (force)`);
      return;
    } catch (error) {
      if (tries === dropsMax || (error as pg.DatabaseError).code !== objectInUse) throw error;
    }
  }
}

/** Without tables, its workers registered. */
async function create({ url, workers }: CitusDatabase): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  for (const node of [{ url }, ...workers]) {
    const admin = new URL(node.url);
    admin.pathname = "/postgres";
    await run(
      admin.href,
      `create database ${pathname.slice(1)} template template0 encoding 'UTF8' locale 'C.UTF-8'`,
    );
    await run(node.url, "create extension citus");
  }
  await run(
    url,
    `select citus_set_coordinator_host('${hostname}', ${port})`,
    ...workers.map(worker => `select citus_add_node('${worker.host}', ${worker.port})`),
  );
}

/** The rows of each statement. */
// biome-ignore lint/suspicious/noExplicitAny: rows have the columns that the statement names
async function run(url: string, ...texts: string[]): Promise<any[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results = [];
    for (const text of texts) results.push((await client.query(text)).rows);
    return results;
  } finally {
    await client.end();
  }
}
