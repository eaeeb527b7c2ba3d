// The proxy before PostgreSQL breaks the one connection that gets to a point, and leaves the others alone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { PostgresProxy } from "../../torture/postgres-proxy.ts";
import { emptyDatabase } from "../support/postgres.ts";

const database = await emptyDatabase();
const url = new URL(database.url);
const proxy = await PostgresProxy.open({ host: url.hostname, port: Number(url.port) });
after(async () => {
  await proxy.close();
  await database.drop();
});

async function connected(): Promise<pg.Client> {
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String(proxy.port);
  const client = new pg.Client({ connectionString: through.href });
  client.on("error", () => {}); // the query rejects as well
  await client.connect();
  return client;
}

test("of two connections whose statements are done, one is broken and the other gets its answer", async () => {
  const clients = [await connected(), await connected()];
  let reached = 0;
  proxy.waitFor({ name: "a pause", statement: /pg_sleep/, moment: "done" }, () => void reached++);
  const ends = await Promise.allSettled(clients.map(client => client.query("select pg_sleep(0.2)")));
  assert.deepEqual(ends.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  assert.equal(reached, 1);
  await Promise.all(clients.map(client => client.end()));
});
