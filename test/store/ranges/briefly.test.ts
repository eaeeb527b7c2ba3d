// Changes of tables in use ask for their locks again, and end with their client.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newClient } from "../../../src/store/connection/connect.ts";
import { briefly } from "../../../src/store/ranges/briefly.ts";
import { eventually } from "../../support/eventually.ts";
import { freshDatabase } from "../../support/postgres.ts";

const { url, drop } = await freshDatabase();
const holder = newClient(url);
await holder.connect();
after(async () => {
  await holder.end();
  await drop();
});

async function withLock(use: () => Promise<void>): Promise<void> {
  await holder.query("begin; lock table leases in access share mode");
  await use();
  await holder.query("rollback");
}

const change = ["alter table leases add column more int"];

test("a change whose lock is taken rejects at once when its client is ended", async () => {
  const client = newClient(url);
  await client.connect();
  const { rows } = await client.query("select pg_backend_pid() as pid");
  await withLock(async () => {
    const changing = briefly(client, change, { first: 600_000, most: 600_000 });
    await eventually(async () => {
      await holder.query("select pg_stat_clear_snapshot()");
      const sessions = await holder.query("select query from pg_stat_activity where pid = $1", [rows[0].pid]);
      assert.equal(sessions.rows[0].query, "rollback");
    });
    const rejected = assert.rejects(changing);
    await client.end();
    await rejected;
  });
});

test("and is made once the lock is free", async () => {
  const client = newClient(url);
  await client.connect();
  let changing: Promise<void> | undefined;
  await withLock(async () => {
    changing = briefly(client, change, { first: 10, most: 10 });
  });
  await changing;
  await client.end();
});
