// Reads a backup: its manifest, then the rows of each table in the manifest's order, and nothing that `svc backup` does not write.
import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Table } from "../store/backup/catalog.ts";
import type { Member } from "../wire/tar.ts";
import { ArchiveError, type Ending, foreign, readArchive } from "./archive.ts";
import { type Manifest, parsed, readManifest, validated } from "./manifest.ts";

export const names = { manifest: "manifest.json", key: "secret.key", counts: "rows.json" };

export function partName(table: string, part: number): string {
  return `tables/${table}/${String(part).padStart(6, "0")}.copy`;
}

/** The rows of each table, written when all are. */
const Counts = z.record(z.string(), z.int().nonnegative());

export type Part = { table: Table; content: Buffer };

/**
 * What is known of who wrote the file. `none`: it was written without a key. `unchecked`: there is no key here.
 * `other`: it was made beside another key.
 */
export type Signature = "valid" | "none" | "unchecked" | "other";

/** What is known when all was read, and nothing was damaged. */
export type Read = { counts: Map<string, number>; key: Buffer | undefined; signature: Signature };

export type Contents = { manifest: Manifest; parts: AsyncGenerator<Part, Read> };

/**
 * `ownKey`: that of this machine, which the signature is checked with. Throws ArchiveError, as does reading the parts, or
 * UnfitDatabaseError if its schema is another version's.
 */
export async function openContents(file: string, ownKey: Buffer | undefined): Promise<Contents> {
  const members = readArchive(file);
  const first = await members.next();
  const manifest = await readManifest(file, first.done ? undefined : first.value);
  return { manifest, parts: readParts(file, { manifest, members, ownKey }) };
}

type Opened = { manifest: Manifest; members: AsyncGenerator<Member, Ending>; ownKey: Buffer | undefined };

async function* readParts(file: string, { manifest, members, ownKey }: Opened): AsyncGenerator<Part, Read> {
  let next = await members.next();
  let key: Buffer | undefined;
  if (!next.done && next.value.name === names.key) {
    key = readKey(file, next.value.content, manifest);
    next = await members.next();
  }
  const counts = new Map<string, number>();
  for (const table of manifest.tables) {
    let rows = 0;
    for (let part = 1; !next.done && next.value.name === partName(table.name, part); part++) {
      const { content } = next.value;
      rows += countRows(file, table, content);
      yield { table, content };
      next = await members.next();
    }
    counts.set(table.name, rows);
  }
  if (next.done) throw new ArchiveError(`${file} is damaged: it has no ${names.counts}.`);
  if (next.value.name !== names.counts) throw foreign(file, `it contains ${next.value.name}`);
  requireCounts(file, counts, validated(file, names.counts, Counts, parsed(file, next.value)));
  next = await members.next();
  if (!next.done) throw foreign(file, `it contains ${next.value.name} behind ${names.counts}`);
  return { counts, key, signature: checkSignature(file, manifest, next.value, ownKey) };
}

/** In COPY's text format each row is one line. A line of `\\.` would end them: what follows would be passed over. */
function countRows(file: string, { name }: Table, content: Buffer): number {
  let rows = 0;
  for (let from = 0; from < content.length; rows++) {
    const end = content.indexOf("\n", from);
    if (end === -1 || (end === from + 2 && content.toString("latin1", from, end) === "\\."))
      throw foreign(file, `the rows of the table ${name} end before their end`);
    from = end + 1;
  }
  return rows;
}

function requireCounts(file: string, counts: Map<string, number>, expected: Record<string, number>): void {
  const foreignName = Object.keys(expected).find(name => !counts.has(name));
  if (foreignName !== undefined) throw foreign(file, `its ${names.counts} names the table ${foreignName}`);
  for (const [name, rows] of counts) requireCount(file, name, rows, expected[name]);
}

export function requireCount(file: string, table: string, rows: number, expected: number | undefined): void {
  if (rows === expected) return;
  throw new ArchiveError(`${file} is damaged: the table ${table} has another number of rows.`);
}

function readKey(file: string, content: Buffer, { keySum: expected }: Manifest): Buffer {
  const key = Buffer.from(content.toString().trim(), "hex");
  if (keySum(key) === expected) return key;
  throw new ArchiveError(`${file} is damaged: its secret.key is not the one that it names.`);
}

/** Recognizes a key without telling it: a key is 32 random bytes. */
export function keySum(key: Buffer): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Of the sums of all members, with a key made from that of stored secrets. */
export function sign(key: Buffer, sums: Buffer): string {
  const own = hkdfSync("sha256", key, "", "onlooker backup signature", 32);
  return createHmac("sha256", Buffer.from(own)).update(sums).digest("hex");
}

/** What names the key here must be signed with it. Throws ArchiveError otherwise. */
function checkSignature(
  file: string,
  manifest: Manifest,
  { sums, signature }: Ending,
  ownKey: Buffer | undefined,
): Signature {
  const isNamed = manifest.keySum !== null;
  if (isNamed !== (signature !== undefined))
    throw foreign(
      file,
      isNamed ? "its signature is missing" : "it is signed with a key that it does not name",
    );
  if (signature === undefined) return "none";
  if (ownKey === undefined) return "unchecked";
  if (manifest.keySum !== keySum(ownKey)) return "other";
  const [given, own] = [signature, sign(ownKey, sums)].map(text => Buffer.from(text));
  if (given!.length === own!.length && timingSafeEqual(given!, own!)) return "valid";
  throw new ArchiveError(
    `The signature of ${file} is wrong: it was changed after it was written, or written without the key. Restore another backup.`,
  );
}
