// A migrated database on every node of the Citus cluster whose coordinator SVC_TEST_CITUS_URL names, distributed by agent.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { migrate } from "../../../src/store/migrate.ts";

export type CitusDatabase = {
  /** Of the coordinator, which has no shards of agents. */
  url: string;
  /** The same database on each worker. */
  workers: Worker[];
  drop(): Promise<void>;
};

export type Worker = { host: string; port: number; url: string };

/** Its tables are not distributed yet. */
export async function freshCitusDatabase(): Promise<CitusDatabase> {
  const given = new URL(process.env.SVC_TEST_CITUS_URL!);
  const [nodes] = await run(
    given.href,
    "select nodename as host, nodeport as port, groupid = 0 as leads from pg_dist_node order by groupid",
  );
  const name = `onlooker_test_${randomBytes(6).toString("hex")}`;
  const urlOf = ({ host, port }: { host: string; port: number }, database: string) => {
    const url = new URL(given);
    url.host = `${host}:${port}`;
    url.pathname = `/${database}`;
    return url.href;
  };
  for (const node of nodes!) {
    await run(
      urlOf(node, "postgres"),
      `create database ${name} template template0 encoding 'UTF8' locale 'C.UTF-8'`,
    );
    await run(urlOf(node, name), "create extension citus");
  }
  const leader = nodes!.find(node => node.leads)!;
  const workers = nodes!.filter(node => !node.leads).map(node => ({ ...node, url: urlOf(node, name) }));
  const url = urlOf(leader, name);
  await run(
    url,
    `select citus_set_coordinator_host('${leader.host}', ${leader.port})`,
    ...workers.map(({ host, port }) => `select citus_add_node('${host}', ${port})`),
  );
  await migrate(url);
  return {
    url,
    workers,
    async drop() {
      for (const node of nodes!) {
        await run(urlOf(node, "postgres"), `drop database ${name} with (force)`);
      }
    },
  };
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
