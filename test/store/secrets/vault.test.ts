// The vault opens a secret only with the key that sealed it, and only for the row it was sealed for.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { MasterKeyError, masterKeyOf } from "../../../src/store/secrets/master-key.ts";
import { openVault } from "../../../src/store/secrets/vault.ts";

const home = mkdtempSync(join(tmpdir(), "onlooker-vault-"));
after(() => rmSync(home, { recursive: true }));

const vault = openVault(randomBytes(32));

for (const text of ["", "Bearer sk-1234", "kľúč 🔑 \u0000", "x".repeat(100_000)]) {
  test(`a sealed text can be opened: ${JSON.stringify(text.slice(0, 20))}`, () => {
    const sealed = vault.seal(text, "agent:1");
    assert.equal(vault.open(sealed, "agent:1"), text);
    if (text.length > 8) assert.equal(sealed.includes(text.slice(0, 8)), false);
  });
}

test("the same text is sealed differently each time", () => {
  assert.notDeepEqual(vault.seal("a secret", "agent:1"), vault.seal("a secret", "agent:1"));
});

test("a sealed text that was moved to another row cannot be opened", () => {
  assert.equal(vault.open(vault.seal("a secret", "agent:1"), "agent:2"), undefined);
});

test("another key opens nothing", () => {
  assert.equal(openVault(randomBytes(32)).open(vault.seal("a secret", "agent:1"), "agent:1"), undefined);
});

test("a changed or missing byte is detected", () => {
  const sealed = vault.seal("a secret", "agent:1");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    assert.equal(vault.open(changed, "agent:1"), undefined, `byte ${at}`);
    assert.equal(vault.open(sealed.subarray(0, at), "agent:1"), undefined, `${at} bytes`);
  }
});

test("a key of the wrong length is rejected", () => {
  assert.throws(() => openVault(Buffer.alloc(16)), RangeError);
});

test("the operator's key is used, and no file is created", async () => {
  const dataDir = join(home, "given");
  const key = await masterKeyOf({ secretKey: "0a".repeat(32), dataDir });
  assert.deepEqual(key, Buffer.alloc(32, 0x0a));
  assert.throws(() => statSync(dataDir), { code: "ENOENT" });
});

test("many processes that start at once all get the same key, from a file that only its owner can read", async () => {
  const dataDir = join(home, "new", "data");
  const keys = await Promise.all(
    Array.from({ length: 20 }, () => masterKeyOf({ secretKey: undefined, dataDir })),
  );
  for (const key of keys) assert.deepEqual(key, keys[0]);
  assert.equal(keys[0]!.length, 32);
  assert.deepEqual(readdirSync(dataDir), ["secret.key"]);
  assert.equal(statSync(join(dataDir, "secret.key")).mode & 0o777, 0o600);
  assert.deepEqual(await masterKeyOf({ secretKey: undefined, dataDir }), keys[0]);
});

test("a key that was restored by hand is the same key, with or without a final newline", async () => {
  const dataDir = mkdtempSync(join(home, "back-"));
  writeFileSync(join(dataDir, "secret.key"), "0A".repeat(32));
  assert.deepEqual(await masterKeyOf({ secretKey: undefined, dataDir }), Buffer.alloc(32, 0x0a));
});

test("a file without a key stops the start and is left unchanged", async () => {
  const path = join(home, "secret.key");
  writeFileSync(path, "not a key");
  await assert.rejects(masterKeyOf({ secretKey: undefined, dataDir: home }), (error: Error) => {
    assert.ok(error instanceof MasterKeyError);
    assert.match(error.message, /^[^\n]*secret\.key[^\n]*$/);
    assert.doesNotMatch(error.message, /not a key/);
    return true;
  });
  assert.equal(readFileSync(path, "utf8"), "not a key");
});

test("a data folder that cannot be created is reported in one line, with what to do", async () => {
  writeFileSync(join(home, "file"), "");
  const dataDirs = [join(home, "file", "data"), ...(process.platform === "linux" ? ["/proc/onlooker"] : [])];
  for (const dataDir of dataDirs) {
    await assert.rejects(masterKeyOf({ secretKey: undefined, dataDir }), (error: Error) => {
      assert.ok(error instanceof MasterKeyError);
      assert.match(error.message, /^[^\n]+ Fix that, set SVC_DATA_DIR to a folder that this user owns, or /);
      return true;
    });
  }
});
