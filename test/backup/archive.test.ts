// The file of a backup: its members come back as they were, and writing many of them leaves no listeners behind.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { readArchive, writeArchive } from "../../src/backup/archive.ts";

const folder = mkdtempSync(join(tmpdir(), "onlooker-archive-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("many large members are written without a warning, and read as they were", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => void warnings.push(warning.name);
  process.on("warning", listen);
  after(() => process.off("warning", listen));
  const file = join(folder, "many.backup");
  const archive = await writeArchive(file, new Date());
  const members = Array.from({ length: 20 }, (_, at) => ({
    name: `tables/traces/${at}.copy`,
    content: Buffer.alloc(300_000, at),
  }));
  for (const member of members) await archive.add(member);
  await archive.finish();
  const read = [];
  for await (const { name, content } of readArchive(file)) read.push({ name, content: Buffer.from(content) });
  assert.deepEqual(read, members);
  const tar = zstdDecompressSync(readFileSync(file));
  assert.equal(tar.toString("latin1", 257, 265), "ustar\u000000", "other tools know the format by it");
  await new Promise(resolve => setImmediate(resolve));
  assert.deepEqual(warnings, []);
  assert.deepEqual(readdirSync(folder), ["many.backup"]);
});

test("two processes with the same ID write the same backup without disturbing each other", async () => {
  const file = join(folder, "shared.backup");
  const [first, second] = [await writeArchive(file, new Date()), await writeArchive(file, new Date())];
  await second.discard();
  await first.finish();
  assert.ok(readdirSync(folder).includes("shared.backup"));
});
