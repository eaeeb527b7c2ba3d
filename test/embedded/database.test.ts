// The embedded PostgreSQL: real servers in temporary folders, killed in every way that happens in practice.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { connectEmbedded, type EmbeddedDatabase, openEmbedded } from "../../src/embedded/database.ts";
import { EmbeddedError } from "../../src/embedded/error.ts";
import { folderIn, isAlive, runningServer } from "../../src/embedded/folder.ts";
import { blockedAt } from "../../src/embedded/user.ts";
import { makeScratch } from "../support/scratch.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

const quiet = { info() {}, warn() {}, error() {} };
const open = (dataDir: string) => openEmbedded({ dataDir, log: quiet });
const dataDir = join(scratch, "data");
const folder = folderIn(dataDir);

async function ask(database: EmbeddedDatabase, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: database.url });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows[0] && Object.values(rows[0])[0];
  } finally {
    await client.end();
  }
}

/** A separate process that opens the folder and then waits. */
async function otherOwner(): Promise<{ pid: number; kill(): Promise<void> }> {
  const code = `
    import { openEmbedded } from ${JSON.stringify(import.meta.resolve("../../src/embedded/database.ts"))};
    await openEmbedded({ dataDir: process.argv[1], log: console });
    setInterval(() => {}, 1000);
    process.stdout.write("open");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    pid: child.pid!,
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

function refusal(expected: RegExp): (error: unknown) => boolean {
  return error => {
    assert.ok(error instanceof EmbeddedError, String(error));
    assert.match(error.message, expected);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  };
}

/** A server that was told to stop is gone only when its process is. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(5);
}

test("a first start creates a durable PostgreSQL 18 on this machine only, and the next start finds the stored data", async () => {
  const first = await open(dataDir);
  assert.match(String(await ask(first, "show server_version")), /^18\./);
  assert.equal(await ask(first, "show fsync"), "on");
  assert.equal(await ask(first, "show synchronous_commit"), "on");
  assert.equal(await ask(first, "show server_encoding"), "UTF8");
  assert.equal(await ask(first, "show listen_addresses"), "127.0.0.1");
  assert.equal(await ask(first, "select 'B' < 'a'"), true, "sorted by code point");
  await ask(first, "create table kept as select 42 as answer");
  await first.stop();
  assert.equal(runningServer(folder), undefined);

  const second = await open(dataDir);
  assert.equal(await ask(second, "select answer from kept"), 42);
  await second.stop();
});

test("the password is required, and stored where only its owner can read it", async () => {
  const database = await open(dataDir);
  const other = { ...database, url: database.url.replace(/:[^:@]+@/, ":wrong@") };
  await assert.rejects(ask(other, "select 1"), { code: "28P01" });
  await database.stop();
  assert.ok(readFileSync(folder.password, "utf8").trim().length >= 32);
});

test("the service's role owns its database, and reaches no program, no file and no setting of the server", async () => {
  const database = await open(dataDir);
  const role =
    "select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls from pg_roles where rolname = current_user";
  assert.equal(await ask(database, role), false);
  for (const statement of [
    "copy (select 1) to program 'true'",
    `copy kept to '${join(scratch, "kept.copy")}'`,
    "select pg_read_file('PG_VERSION')",
    "alter system set fsync = off",
    "alter role postgres password 'x'",
  ])
    await assert.rejects(ask(database, statement), { code: "42501" }, statement);
  const roles =
    "select count(*)::int from pg_auth_members m join pg_roles r on r.oid = m.member where rolname = current_user";
  assert.equal(await ask(database, roles), 0);
  await ask(database, "vacuum analyze kept");
  await database.stop();
});

test("the folder of a version whose role was the superuser is refused with what to do", async () => {
  const old = join(scratch, "superuser");
  cpSync(dataDir, old, { recursive: true });
  rmSync(folderIn(old).superuserPassword);
  await assert.rejects(
    open(old),
    refusal(/has no superuser-password: .* restore it into another data folder/),
  );
});

test("PGSSLMODE of the environment is for other databases", async () => {
  process.env["PGSSLMODE"] = "require";
  try {
    const database = await open(dataDir);
    assert.equal(await ask(database, "select 1"), 1);
    await database.stop();
  } finally {
    delete process.env["PGSSLMODE"];
  }
});

test("a second start on a folder in use is refused and names the process that uses it; connecting to it is allowed", async () => {
  const database = await open(dataDir);
  await assert.rejects(
    open(dataDir),
    refusal(new RegExp(`in use by another Onlooker, process ${process.pid}`)),
  );
  const beside = await connectEmbedded(dataDir);
  assert.equal(beside?.owner, false);
  await beside.stop();
  assert.equal(await ask(database, "select 1"), 1);
  await database.stop();
});

test("of two first starts at once, one gets the folder and the other is refused", async () => {
  const shared = join(scratch, "shared");
  const outcomes = await Promise.allSettled([open(shared), open(shared)]);
  const [owner, ...others] = outcomes.filter(outcome => outcome.status === "fulfilled");
  assert.equal(others.length, 0);
  assert.equal(await ask(owner!.value, "select 1"), 1);
  await owner!.value.stop();
  const refused = outcomes.find(outcome => outcome.status === "rejected");
  assert.ok(refusal(/in use by another Onlooker/)(refused?.reason));
});

test("without a running server there is nothing to connect to", async () => {
  assert.equal(await connectEmbedded(dataDir), undefined);
  assert.equal(await connectEmbedded(join(scratch, "nowhere")), undefined);
});

test("the server of a killed owner is taken over, and stopped by its new owner", async () => {
  const killed = await otherOwner();
  const server = runningServer(folder)!;
  await killed.kill();
  assert.deepEqual(runningServer(folder), server);
  const database = await open(dataDir);
  assert.deepEqual(runningServer(folder), server);
  await database.stop();
  assert.equal(runningServer(folder), undefined);
});

test("after owner and server were killed, the next start recovers the stored data", async () => {
  const killed = await otherOwner();
  const server = runningServer(folder)!;
  await killed.kill();
  process.kill(server.pid, "SIGKILL");
  await gone(server.pid);
  const database = await open(dataDir);
  assert.equal(await ask(database, "select answer from kept"), 42);
  await database.stop();
});

test("a server that dies while its owner runs is restarted at the same URL", async () => {
  const back = Promise.withResolvers<void>();
  const log = { ...quiet, info: (message: string) => /running again/.test(message) && back.resolve() };
  const database = await openEmbedded({ dataDir, log });
  process.kill(runningServer(folder)!.pid, "SIGKILL");
  await back.promise;
  assert.equal(await ask(database, "select answer from kept"), 42);
  await assert.rejects(open(dataDir), refusal(/in use by another Onlooker/));
  await database.stop();
});

test("stopping while a dead server is being restarted leaves no server behind", async () => {
  const away = Promise.withResolvers<void>();
  const database = await openEmbedded({ dataDir, log: { ...quiet, warn: () => away.resolve() } });
  process.kill(runningServer(folder)!.pid, "SIGKILL");
  await away.promise;
  await database.stop();
  assert.equal(runningServer(folder), undefined);
});

test("a postmaster.pid whose number now belongs to another program does not block the start", async () => {
  const path = join(folder.cluster, "postmaster.pid");
  writeFileSync(path, `${process.pid}\n${folder.cluster}\n1700000000\n5432\n\n127.0.0.1\n\nready   \n`);
  const database = await open(dataDir);
  assert.equal(await ask(database, "select 1"), 1);
  await database.stop();
});

test("an empty postmaster.pid that a crash of the machine left does not block the start", async () => {
  const path = join(folder.cluster, "postmaster.pid");
  writeFileSync(path, "");
  const minuteAgo = Date.now() / 1_000 - 60;
  utimesSync(path, minuteAgo, minuteAgo);
  const database = await open(dataDir);
  assert.equal(await ask(database, "select 1"), 1);
  await database.stop();
});

test("files that a killed first start left behind are removed", async () => {
  const [old, young] = [`${folder.home}.new-old`, `${folder.home}.new-young`];
  for (const draft of [old, young]) mkdirSync(join(draft, "data"), { recursive: true });
  utimesSync(old, 0, 0);
  const database = await open(dataDir);
  await database.stop();
  assert.deepEqual(
    [existsSync(old), existsSync(young)],
    [false, true],
    "a young one may still be in the making",
  );
});

test("a database of another major version is refused, and its files are left unchanged", async () => {
  const old = join(scratch, "old");
  cpSync(dataDir, old, { recursive: true });
  const version = join(folderIn(old).cluster, "PG_VERSION");
  for (const major of ["17", "19"]) {
    writeFileSync(version, `${major}\n`);
    await assert.rejects(open(old), refusal(new RegExp(`written by PostgreSQL ${major}, .* uses 18`)));
  }
  assert.equal(readFileSync(version, "utf8"), "19\n");
});

test("a database that PostgreSQL cannot start is refused with PostgreSQL's own message", async () => {
  const broken = join(scratch, "broken");
  const first = await open(broken);
  await first.stop();
  rmSync(join(folderIn(broken).cluster, "global", "pg_control"));
  await assert.rejects(open(broken), refusal(/ended while it started: .*pg_control.*server\.log/));
});

test("a data folder may have any characters in its path", async () => {
  const odd = join(scratch, `spaces, "quotes", it's, $HOME, \`ls\`, \\ and é`);
  const database = await open(odd);
  try {
    assert.equal(await ask(database, "select inet_server_port()"), runningServer(folderIn(odd))?.port);
  } finally {
    await database.stop();
  }
  assert.equal(runningServer(folderIn(odd)), undefined);
});

test("a data folder that is a file is refused by name", async () => {
  const file = join(scratch, "file");
  writeFileSync(file, "");
  await assert.rejects(open(file), refusal(/The data folder .*file cannot be created or written/));
});

test("of the folders that a user cannot enter, the outermost one is named", () => {
  const stranger = { uid: 54_321, gid: 54_321 };
  const inner = join(scratch, "open", "closed", "inner");
  mkdirSync(inner, { recursive: true });
  chmodSync(join(scratch, "open"), 0o755);
  chmodSync(join(scratch, "open", "closed"), 0o700);
  assert.equal(blockedAt(join(scratch, "open"), stranger), undefined);
  assert.equal(blockedAt(join(inner, "not", "yet"), stranger), join(scratch, "open", "closed"));
});
