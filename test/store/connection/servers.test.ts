// Several servers in a database URL: connections go to the one that accepts writes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, before, test } from "node:test";
import type { ServiceEvent } from "../../../src/model/event.ts";
import { type Database, isTransient, openDatabase, transaction } from "../../../src/store/db.ts";
import { subscribe } from "../../../src/store/events.ts";
import { eventually } from "../../support/eventually.ts";
import { freshDatabase } from "../../support/postgres.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let name: string;
before(async () => {
  database = await freshDatabase();
  name = new URL(database.url).pathname.slice(1);
});
/** Closed at the end too: after a failed test, an open one would keep the process alive. */
const lines: { close(): void }[] = [];
after(async () => {
  for (const line of lines) line.close();
  await database.drop();
});

/** A way to the test's server, or to nowhere: then it accepts connections and says nothing. */
async function startLine(open = true) {
  const target = new URL(database.url);
  const clients = new Set<Socket>();
  const left = Promise.withResolvers<void>();
  const server = createServer(client => {
    clients.add(client);
    line.accepted++;
    client.on("error", () => {});
    client.on("close", () => {
      clients.delete(client);
      left.resolve();
    });
    if (!open) return void client.resume(); // or its end would not be seen
    const upstream = connect(Number(target.port), target.hostname);
    upstream.on("error", () => {});
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const line = {
    port,
    clients,
    /** Connections so far. */
    accepted: 0,
    /** Resolves when the first client has gone. */
    left: left.promise,
    /** No new connection is accepted; those that there are stay. */
    closeToOthers: () => server.close(),
    close() {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
  lines.push(line);
  return line;
}

async function closedPort(): Promise<number> {
  const line = await startLine();
  line.close();
  return line.port;
}

/** The test's database at these ports. */
function urlAt(...ports: number[]): string {
  const url = new URL(database.url);
  return url.href.replace(url.host, ports.map(port => `127.0.0.1:${port}`).join(","));
}

const pidOf = async (db: Database) => (await db.pool.query("select pg_backend_pid() as pid")).rows[0].pid;

/** New sessions of the database are read-only until `work` ends, as those of a standby are. */
async function readOnly(work: () => Promise<void>): Promise<void> {
  const admin = openDatabase(database.url, 1);
  await admin.pool.query(`alter database ${name} set default_transaction_read_only = on`);
  try {
    await work();
  } finally {
    await transaction(admin, async client => {
      await client.query("set transaction read write");
      await client.query(`alter database ${name} reset default_transaction_read_only`);
    });
    await admin.close();
  }
}

test("servers that are down or do not answer hold up no connection", async () => {
  // Asked which server accepts writes, the silent one is given up after 1.5 s, and the pool connects before. A busy machine
  // may take longer, so one attempt of several suffices: a pool that waits for the silent server has none.
  await eventually(async () => {
    const silent = await startLine(false);
    const line = await startLine();
    const db = openDatabase(urlAt(await closedPort(), silent.port, line.port), 2);
    const [acceptedByThen] = await Promise.all([
      silent.left.then(() => line.accepted),
      db.pool.query("select"),
    ]);
    await db.close();
    silent.close();
    line.close();
    assert.equal(acceptedByThen, 2);
  });
});

test("while no server accepts writes, the error is transient and says why", async () => {
  const line = await startLine();
  const db = openDatabase(urlAt(await closedPort(), line.port), 1);
  await readOnly(async () => {
    await assert.rejects(db.pool.query("select"), (error: Error) => {
      assert.match(
        error.message,
        /^No server accepts writes: .*ECONNREFUSED.*, 127\.0\.0\.1:\d+ \(read-only\)$/,
      );
      return isTransient(error);
    });
  });
  await db.pool.query("select");
  await db.close();
  line.close();
});

test("while all servers are full, the error says that they have no free connections", async () => {
  const fields = "SFATAL\0C53300\0Msorry, too many clients already\0";
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length + 5);
  const response = Buffer.concat([Buffer.from("E"), length, Buffer.from(`${fields}\0`)]);
  const full = createServer(client => {
    client.on("error", () => {});
    client.once("data", () => client.end(response));
  });
  full.listen(0, "127.0.0.1");
  await once(full, "listening");
  lines.push(full);
  const { port } = full.address() as AddressInfo;
  const db = openDatabase(urlAt(port, port), 1);
  await assert.rejects(db.pool.query("select"), { code: "53300" });
  await db.close();
  full.close();
});

test("a single server is asked too, where target_session_attrs wants it", async () => {
  const line = await startLine();
  const db = openDatabase(`${urlAt(line.port)}?target_session_attrs=read-write`, 1);
  await readOnly(async () => {
    await assert.rejects(db.pool.query("select"), /^Error: No server accepts writes/);
  });
  await db.pool.query("select");
  await db.close();
  line.close();
});

test("a wrong password is told as such, and does not keep a running service from asking again", async () => {
  const line = await startLine();
  const url = urlAt(line.port, await closedPort()).replace(/:[^:@/]*@/, ":wrong@");
  const db = openDatabase(url, 1);
  await assert.rejects(db.pool.query("select"), (error: { code?: string }) => {
    assert.equal(error.code, "28P01");
    return isTransient(error);
  });
  await db.close();
  line.close();
});

test("a connection whose server has become read-only is replaced", async () => {
  const db = openDatabase(database.url, 1);
  const before = await pidOf(db);
  await db.pool.query("set session characteristics as transaction read only");
  const write = transaction(db, client => client.query("update accounts set name = name"));
  await assert.rejects(write, { code: "25006" });
  assert.notEqual(await pidOf(db), before);
  await db.close();
});

test("once another server is the primary, connections to the former one are closed", async () => {
  const [former, next] = [await startLine(), await startLine()];
  const url = urlAt(former.port, next.port);
  const db = openDatabase(url, 2);
  const events: ServiceEvent[] = [];
  const subscription = subscribe(url, event => events.push(event));
  const [one, two] = [await db.pool.connect(), await db.pool.connect()];
  one.release();
  two.release();
  await eventually(() => assert.equal(former.clients.size, 3));
  assert.equal(next.clients.size, 0);

  former.closeToOthers();
  const [broken] = former.clients;
  broken!.destroy();
  await eventually(async () => {
    await db.pool.query("select");
    assert.equal(former.clients.size, 0);
  });
  // Live updates continue, and everything is read again.
  await eventually(() => assert.deepEqual(events, [{ type: "refresh", agentId: null }]));
  await eventually(() => assert.equal(next.clients.size, 2));
  await subscription.close();
  await db.close();
  next.close();
  former.close();
});
