// Backs a database up into one file, and restores it: everything that was acknowledged before the backup began.
import { createHash } from "node:crypto";
import { z } from "zod";
import { ArchiveError, readArchive, writeArchive } from "./backup/archive.ts";
import type { Table } from "./store/backup/catalog.ts";
import { openRefill } from "./store/backup/refill.ts";
import { openSnapshot } from "./store/backup/snapshot.ts";
import type { Member } from "./wire/tar.ts";

export { ArchiveError } from "./backup/archive.ts";

/** Of what follows it; raised when an older version could not read it. */
const format = 1;

const Manifest = z.object({
  format: z.number(),
  /** The version that made it. */
  onlooker: z.string(),
  takenAt: z.iso.datetime(),
  /** The version of PostgreSQL. */
  server: z.string(),
  /** The files that made the tables, with their hashes. */
  migrations: z.array(z.object({ name: z.string(), hash: z.string() })),
  tables: z.array(
    z.object({
      name: z.string(),
      columns: z.array(z.string()),
      partitions: z.array(z.object({ name: z.string(), parent: z.string(), bound: z.string() })),
      sequences: z.array(z.object({ column: z.string(), value: z.string(), isCalled: z.boolean() })),
    }),
  ),
  /** SHA-256 of the key that encrypts stored secrets; null if it was not known. */
  keySum: z.string().nullable(),
});

export type Manifest = z.infer<typeof Manifest>;

/** The rows of each table, written when all are. */
const Counts = z.record(z.string(), z.number());

const names = { manifest: "manifest.json", key: "secret.key", counts: "rows.json" };

export type Progress = { table: string; rows: number; rowCount: number; bytes: number };

export type BackupOptions = {
  url: string;
  file: string;
  version: string;
  /** The key that encrypts stored secrets, as 32 bytes; undefined: not known. */
  key: Buffer | undefined;
  /** Whether the key goes into the file. */
  withKey: boolean;
  /** Whether the database may have secrets of another key: then the file has neither the key nor its sum. */
  mayBeOther: boolean;
  onProgress(progress: Progress): void;
};

/** `isOtherKey`: whether the secrets were last encrypted with another key. */
export type Done = { takenAt: Date; rows: number; bytes: number; others: string[]; isOtherKey: boolean };

/** Throws ArchiveError or UnfitDatabaseError; no file is left then. */
export async function backUp(options: BackupOptions): Promise<Done> {
  const snapshot = await openSnapshot(options.url);
  try {
    const isOtherKey = options.key !== undefined && (await snapshot.isOtherKey(options.key));
    if (isOtherKey && !options.mayBeOther) {
      throw new ArchiveError(
        "The secrets in this database were last encrypted with another key than that of SVC_SECRET_KEY or secret.key. Back up with the key of the service, or leave it out with --without-key.",
      );
    }
    const key = isOtherKey ? undefined : options.key;
    const archive = await writeArchive(options.file, snapshot.takenAt);
    try {
      const { takenAt, server, migrations, tables, others, rowCount } = snapshot;
      const manifest: Manifest = {
        ...{ format, onlooker: options.version, takenAt: takenAt.toISOString(), server, migrations, tables },
        keySum: key ? keySum(key) : null,
      };
      await archive.add({ name: names.manifest, content: json(manifest) });
      if (key && options.withKey) {
        await archive.add({ name: names.key, content: Buffer.from(`${key.toString("hex")}\n`) });
      }
      const counts: Record<string, number> = {};
      let rows = 0;
      for (const table of tables) {
        let parts = 0;
        const report = () =>
          options.onProgress({ table: table.name, rows, rowCount, bytes: archive.bytes() });
        report();
        counts[table.name] = await snapshot.read(table, async content => {
          await archive.add({
            name: `tables/${table.name}/${String(++parts).padStart(6, "0")}.copy`,
            content,
          });
          report();
        });
        rows += counts[table.name]!;
      }
      await archive.add({ name: names.counts, content: json(counts) });
      await archive.finish();
      return { takenAt, rows, bytes: archive.bytes(), others, isOtherKey };
    } catch (error) {
      await archive.discard();
      throw error;
    }
  } finally {
    await snapshot.close();
  }
}

/** Reads the whole file and compares its checksums. Throws ArchiveError. */
export async function checkBackup(
  file: string,
): Promise<{ manifest: Manifest; rows: number; hasKey: boolean }> {
  const members = readArchive(file);
  const manifest = await readManifest(file, members);
  let hasKey = false;
  let counts: Record<string, number> | undefined;
  for await (const member of members) {
    if (member.name === names.key) hasKey = true;
    if (member.name === names.counts) counts = parse(file, Counts, member);
  }
  return { manifest, rows: sum(counts ?? {}), hasKey };
}

export type RestoreOptions = {
  url: string;
  file: string;
  onProgress(progress: Progress): void;
  /** Called with the key in the file, before the database is changed for good. What it throws undoes everything. */
  keepKey(key: Buffer): Promise<void>;
};

/**
 * Into an empty database, in one transaction. Throws ArchiveError or UnfitDatabaseError; the database is then as empty as
 * before.
 */
export async function restore(options: RestoreOptions): Promise<{ manifest: Manifest; rows: number }> {
  const members = readArchive(options.file);
  const manifest = await readManifest(options.file, members);
  const refill = await openRefill(options.url, manifest);
  try {
    const counts: Record<string, number> = {};
    let key: Buffer | undefined;
    let expected: Record<string, number> | undefined;
    let bytes = 0;
    let rows = 0;
    let next = await members.next();
    const advance = async () => {
      bytes += next.value?.content.length ?? 0;
      next = await members.next();
    };
    async function* partsOf(table: Table): AsyncGenerator<Buffer> {
      while (!next.done && next.value.name.startsWith(`tables/${table.name}/`)) {
        yield next.value.content;
        await advance();
        options.onProgress({ table: table.name, rows, rowCount: 0, bytes });
      }
    }
    while (!next.done) {
      const { name, content }: Member = next.value;
      const table = manifest.tables.find(one => name.startsWith(`tables/${one.name}/`));
      if (table) {
        counts[table.name] = await refill.fill(table, partsOf(table));
        rows += counts[table.name]!;
        continue;
      }
      if (name === names.key) key = readKey(options.file, content, manifest);
      if (name === names.counts) expected = parse(options.file, Counts, next.value);
      await advance();
    }
    for (const { name } of manifest.tables) {
      if (expected?.[name] === (counts[name] ?? 0)) continue;
      throw new ArchiveError(`${options.file} is damaged: the table ${name} has another number of rows.`);
    }
    if (key) await options.keepKey(key);
    await refill.commit();
    return { manifest, rows };
  } finally {
    await refill.close();
  }
}

async function readManifest(file: string, members: AsyncGenerator<Member>): Promise<Manifest> {
  const { value: first } = await members.next();
  if (first?.name !== names.manifest) throw new ArchiveError(`${file} is no backup of Onlooker.`);
  const content = parse(file, z.unknown(), first);
  const newer = z.object({ format: z.number().gt(format), onlooker: z.string() }).safeParse(content);
  if (newer.success) {
    throw new ArchiveError(
      `${file} was made by a newer version of Onlooker, ${newer.data.onlooker}. Use that version.`,
    );
  }
  return parse(file, Manifest, first);
}

/** Throws ArchiveError if it is not what the schema says: the checksums of what is read are compared at the end only. */
function parse<T>(file: string, schema: z.ZodType<T>, { name, content }: Member): T {
  try {
    return schema.parse(JSON.parse(content.toString()));
  } catch (error) {
    throw new ArchiveError(`${file} is damaged: its ${name} cannot be read.`, { cause: error });
  }
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

function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
