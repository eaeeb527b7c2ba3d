// `svc backup` and `svc restore`, as an operator runs them beside a service under load: everything that was acknowledged
// before the backup is in it and continues after the restore, and a file that is not whole restores nothing.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { openDatabase } from "../../../src/store/db.ts";
import { startLoad } from "../../flow/load.ts";
import { bootstrapped, signedIn, startProcess, stopProcess, stopProcesses } from "../../flow/processes.ts";
import { membersOf, writeMembers } from "../../support/backup-members.ts";
import { childEnv } from "../../support/child-env.ts";
import { emptyDatabase, freshDatabase } from "../../support/postgres.ts";
import { fillRestorable } from "../../support/restorable.ts";
import { makeScratch } from "../../support/scratch.ts";
import { svc } from "../support/svc.ts";

const scratch = makeScratch();
after(async () => {
  await stopProcesses();
  rmSync(scratch, { recursive: true, force: true });
});

const cli = join(import.meta.dirname, "../../../src/cli.ts");

const succeed = async (...given: Parameters<typeof svc>) => {
  const output = await svc(...given);
  assert.equal(output.code, 0, output.stderr);
  return output;
};

const envOf = (name: string) => ({
  SVC_DATA_DIR: join(scratch, name),
  SVC_DEBOUNCE_MS: "0",
  SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.1",
});

/** Changes a member and its checksum, as somebody would who means it. */
async function edit(path: string, name: string, change: (text: string) => string): Promise<void> {
  const members = await membersOf(path);
  const member = members.find(one => one.name === name)!;
  const text = member.content.toString();
  member.content = Buffer.from(change(text));
  assert.notEqual(member.content.toString(), text, name);
  writeMembers(path, members, "0".repeat(64));
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 0xff;
  writeFileSync(path, bytes);
}

/** The rows of each table, in COPY's format. Their order is the server's. */
async function rowsOf(path: string): Promise<Map<string, string[]>> {
  const rows = new Map<string, string[]>();
  for (const { name, content } of await membersOf(path)) {
    const table = /^tables\/(.+)\//.exec(name)?.[1];
    if (table)
      rows.set(table, [...(rows.get(table) ?? []), ...content.toString("latin1").split("\n")].sort());
  }
  return rows;
}

/** With tar, as an operator without Onlooker would. */
function unpack(path: string): string {
  const folder = join(scratch, "unpacked");
  mkdirSync(folder);
  const tar = zstdDecompressSync(readFileSync(path));
  execFileSync("tar", ["-xf", "-", "-C", folder], { input: tar });
  return folder;
}

async function idsIn(dataDir: string): Promise<Set<string>> {
  const port = readFileSync(join(dataDir, "postgresql/data/postmaster.pid"), "utf8").split("\n")[3];
  const password = readFileSync(join(dataDir, "postgresql/password"), "utf8").trim();
  const db = openDatabase(`postgres://onlooker:${password}@127.0.0.1:${port}/onlooker`, 1);
  const { rows } = await db.pool.query<{ id: string }>("select external_id as id from traces");
  await db.close();
  return new Set(rows.map(({ id }) => id));
}

const file = join(scratch, "first.backup");
const backups = () => readdirSync(scratch).filter(name => name.includes("backup"));

suite("a backup of the running embedded database", async () => {
  let filled: Awaited<ReturnType<typeof fillRestorable>>;
  let acknowledged: string[];
  after(() => filled.close());

  test("has everything that was acknowledged before it, is checked, and is readable by its owner alone", async () => {
    const first = await startProcess(envOf("first"));
    const made = await bootstrapped(envOf("first"));
    filled = await fillRestorable({ url: first.url, ...made, owner: await signedIn(first, made) });
    const load = startLoad({ url: first.url, ...made }, { retries: false });
    while (load.acknowledged.size < 100) await new Promise(resolve => setImmediate(resolve));
    acknowledged = [...load.acknowledged.keys()];
    const { stdout, stderr } = await succeed(["backup", file], envOf("first"));
    assert.match(
      stdout,
      /^Backed up \d+ rows, as of \d{4}-.+Z, to .+first\.backup \(\d+\.\d MB\), and checked them\.\n$/,
    );
    assert.match(stderr, /contains secret\.key: keep it as safe as a password/);
    const before = load.acknowledged.size;
    while (load.acknowledged.size < before + 20) await new Promise(resolve => setImmediate(resolve));
    await load.stop();
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(backups(), ["first.backup"]);
    assert.equal(await stopProcess(first), 0);
  });

  test("is never written over an existing file", async () => {
    const bytes = readFileSync(file);
    const { code, stderr } = await svc(["backup", file], envOf("first"));
    assert.equal(code, 2);
    assert.match(stderr, /first\.backup exists already/);
    assert.deepEqual(readFileSync(file), bytes);
  });

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    test(`that ${signal} ends leaves a whole file or none`, async () => {
      const path = join(scratch, "ended.copy");
      const child = spawn(process.execPath, [cli, "backup", path], {
        env: { ...childEnv, ...envOf("first") },
        stdio: "ignore",
      });
      const watcher = watch(scratch, (_event, name) => {
        if (name?.includes("ended.copy.partial")) child.kill(signal);
      });
      await once(child, "close");
      watcher.close();
      if (existsSync(path)) await succeed(["restore", "--check", path], {});
      const drafts = readdirSync(scratch).filter(name => name.includes("partial"));
      if (signal === "SIGTERM") assert.deepEqual(drafts, []);
      for (const name of [...drafts, "ended.copy"]) rmSync(join(scratch, name), { force: true });
    });
  }

  test("restores into an empty data folder: everything is readable and continues", async () => {
    const { stdout } = await succeed(["restore", file], envOf("second"));
    assert.match(stdout, /^Restored \d+ rows, as of /);
    assert.deepEqual(
      readFileSync(join(scratch, "second/secret.key")),
      readFileSync(join(scratch, "first/secret.key")),
    );
    assert.equal(statSync(join(scratch, "second/secret.key")).mode & 0o777, 0o600);
    const second = await startProcess(envOf("second"));
    assert.doesNotMatch(second.logs.join("\n"), /another key/);
    await filled.check(second.url);
    const found = await idsIn(join(scratch, "second"));
    for (const id of acknowledged) assert.ok(found.has(id), `${id} was acknowledged before the backup`);
    const again = await svc(["restore", file], envOf("second"));
    assert.equal(again.code, 2);
    assert.match(
      again.stderr,
      /^The database is not empty: it has the tables .+ Restore into an empty database/,
    );
    assert.equal(await stopProcess(second), 0);
  });

  test("restores into a PostgreSQL of one's own, and from there into the embedded one, with equal rows", async () => {
    const database = await emptyDatabase();
    try {
      const env = { ...envOf("third"), DATABASE_URL: database.url };
      await succeed(["restore", file], env);
      const between = join(scratch, "between.tar");
      await succeed(["backup", "--without-key", between], env);
      const { stderr } = await succeed(["restore", between], envOf("fourth"));
      assert.match(stderr, /does not contain the key of stored secrets/);
      assert.equal(existsSync(join(scratch, "fourth/secret.key")), false);
      const [one, other] = await Promise.all([rowsOf(file), rowsOf(between)]);
      assert.deepEqual(other, one);
      rmSync(between);
    } finally {
      await database.drop();
    }
  });

  test("without its key, or beside another one, says so before anything is restored", async () => {
    const other = { ...envOf("fifth"), SVC_SECRET_KEY: "ab".repeat(32) };
    const { code, stderr } = await svc(["restore", file], other);
    assert.equal(code, 2);
    assert.match(stderr, /encrypted with another key than SVC_SECRET_KEY/);
    assert.equal(existsSync(join(scratch, "fifth")), false);
  });

  test("that is damaged, cut off or of a newer version restores nothing", async () => {
    const newer = JSON.stringify({ name: "999_x.sql", hash: "0".repeat(64) });
    const damages: [name: string, damage: (path: string) => Promise<void> | void, expected: RegExp][] = [
      ["flipped", path => flip(path, Math.floor(statSync(path).size / 2)), /is (?:no whole backup|damaged)/],
      ["cut", path => truncateSync(path, statSync(path).size - 100), /is no whole backup/],
      ["halved", path => truncateSync(path, Math.floor(statSync(path).size / 2)), /is no whole backup/],
      ["other", path => writeFileSync(path, "no backup"), /is no whole backup/],
      [
        "format",
        path => edit(path, "manifest.json", text => text.replace('"format": 1', '"format": 2')),
        /newer version of Onlooker/,
      ],
      [
        "newer",
        path => edit(path, "manifest.json", text => text.replace(/("migrations": \[)/, `$1${newer},`)),
        /the schema of another version of Onlooker \(999_x\.sql\)\. Restore it with that version/,
      ],
      [
        "key",
        path => edit(path, "secret.key", text => `${text.startsWith("0") ? "1" : "0"}${text.slice(1)}`),
        /its secret\.key is not the one/,
      ],
      [
        "rows",
        path => edit(path, "rows.json", text => text.replace(/("traces": )\d+/, "$17")),
        /the table traces has another number of rows/,
      ],
    ];
    for (const [name, damage, expected] of damages) {
      const path = join(scratch, `${name}.copy`);
      copyFileSync(file, path);
      await damage(path);
      const { code, stderr } = await svc(["restore", path], envOf("sixth"));
      assert.equal(code, 2, name);
      assert.match(stderr, expected, name);
      assert.equal(existsSync(join(scratch, "sixth/secret.key")), false, name);
    }
    // Nothing of them is left: the next one finds an empty database.
    await succeed(["restore", file], envOf("sixth"));
  });

  test("--check reads the whole file, and standard tools do too", async () => {
    const { stdout } = await succeed(["restore", "--check", file], envOf("keyless"));
    assert.match(
      stdout,
      /^Undamaged: \d+ rows, as of .+, of Onlooker \d+\.\d+\.\d+, with secret\.key\.\nSignature not checked, without a key here: .+\n$/,
    );
    const damaged = join(scratch, "damaged.copy");
    copyFileSync(file, damaged);
    flip(damaged, Math.floor(statSync(damaged).size / 2));
    assert.equal((await svc(["restore", "--check", damaged], {})).code, 2);
    const folder = unpack(file);
    execFileSync("sha256sum", ["--check", "--quiet", "--strict", "SHA256SUMS"], { cwd: folder });
  });
});

test("a database that is not Onlooker's, or of a newer version, is not backed up", async () => {
  const database = await freshDatabase();
  const db = openDatabase(database.url, 1);
  const env = { ...envOf("seventh"), DATABASE_URL: database.url };
  const path = join(scratch, "seventh.backup");
  try {
    await db.pool.query("create table somebodys (id int)");
    const { stderr } = await succeed(["backup", path], env);
    assert.match(stderr, /Left out, because these tables are not Onlooker's: somebodys\./);
    rmSync(path);
    await db.pool.query("insert into migrations (name, hash) values ('999_newer.sql', 'of another file')");
    const newer = await svc(["backup", path], env);
    assert.match(
      newer.stderr,
      /the schema of another version of Onlooker \(999_newer\.sql\)\. Back it up with that version/,
    );
    await db.pool.query("drop schema public cascade; create schema public");
    const empty = await svc(["backup", path], env);
    assert.match(empty.stderr, /contains nothing of Onlooker/);
    assert.equal(existsSync(path), false);
  } finally {
    await db.close();
    await database.drop();
  }
});
