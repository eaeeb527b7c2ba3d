// `svc backup` where there is nothing to back up, or with another key than the service's: it says so and leaves nothing behind.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { checkBackup } from "../../src/backup.ts";
import { isOtherMasterKey } from "../../src/store/secrets/key-check.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { freshDatabase, openFresh } from "../support/postgres.ts";
import { makeScratch } from "../support/scratch.ts";
import { svc } from "../wide/support/svc.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

test("a data folder without a database is refused in one line that names it, and stays as it was", async () => {
  const empty = join(scratch, "empty");
  mkdirSync(empty);
  for (const dataDir of [join(scratch, "mistyped"), empty]) {
    const file = join(scratch, "file.backup");
    const { code, stdout, stderr } = await svc(["backup", file], { SVC_DATA_DIR: dataDir });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^[^\n]*no database in [^\n]*SVC_DATA_DIR[^\n]*\n$/);
    assert.ok(stderr.includes(dataDir), stderr);
  }
  assert.deepEqual(readdirSync(scratch), ["empty"]);
  assert.deepEqual(readdirSync(empty), []);
});

test("a missing folder or file, and a folder as a file, are refused with what to do", async () => {
  const missing = join(scratch, "missing");
  const database = await freshDatabase();
  const env = { DATABASE_URL: database.url, SVC_DATA_DIR: scratch };
  try {
    for (const [args, expected] of [
      [
        ["backup", join(missing, "file.backup")],
        `The folder ${missing} does not exist. Create it, or choose another.\n`,
      ],
      [["restore", missing], `${missing} does not exist. Check the path.\n`],
      [["restore", "--check", scratch], `${scratch} is a folder. Pass the file of a backup.\n`],
    ] as const) {
      const { code, stderr } = await svc([...args], env);
      assert.deepEqual([code, stderr], [2, expected]);
    }
  } finally {
    await database.drop();
  }
});

test("a database that cannot be reached is refused in one line", async () => {
  const env = { DATABASE_URL: "postgresql://127.0.0.1:1/x", SVC_DATA_DIR: scratch };
  const { code, stderr } = await svc(["backup", join(scratch, "file.backup")], env);
  assert.equal(code, 2);
  assert.match(stderr, /^The database cannot be reached \([^\n]*\)\. [^\n]*DATABASE_URL\.\n$/);
});

test("another key than the service's is refused, or left out on request, and the service is not told of it", async () => {
  const database = await freshDatabase();
  const db = openFresh(database.url);
  try {
    const own = openVault(Buffer.alloc(32, 1));
    await isOtherMasterKey(db, own);
    const file = join(scratch, "other.backup");
    const env = { DATABASE_URL: database.url, SVC_DATA_DIR: scratch, SVC_SECRET_KEY: "02".repeat(32) };
    const { code, stderr } = await svc(["backup", file], env);
    assert.deepEqual([code, existsSync(file)], [2, false]);
    assert.match(
      stderr,
      /^The secrets in this database were last encrypted with another key than [^\n]*--without-key\.\n$/,
    );
    const without = await svc(["backup", "--without-key", file], env);
    assert.equal(without.code, 0, without.stderr);
    assert.match(without.stderr, /another key than SVC_SECRET_KEY: keep a copy of the service's key/);
    const { manifest, hasKey } = await checkBackup(file, undefined);
    assert.deepEqual([manifest.keySum, hasKey], [null, false]);
    assert.equal(await isOtherMasterKey(db, own), false);
  } finally {
    await db.close();
    await database.drop();
  }
});
