// Backs a database up into one file, and restores it: everything that was acknowledged before the backup began.
import { ArchiveError, writeArchive } from "./backup/archive.ts";
import {
  keySum,
  names,
  openContents,
  partName,
  requireCount,
  type Signature,
  sign,
} from "./backup/contents.ts";
import { format, type Manifest } from "./backup/manifest.ts";
import { openRefill } from "./store/backup/refill.ts";
import { openSnapshot } from "./store/backup/snapshot.ts";

export { ArchiveError } from "./backup/archive.ts";
export { keySum, type Signature } from "./backup/contents.ts";
export type { Manifest } from "./backup/manifest.ts";

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
      const { takenAt, server, migrations, tables, ranges, others, rowCount } = snapshot;
      const manifest: Manifest = {
        ...{ format, onlooker: options.version, takenAt: takenAt.toISOString(), server, migrations, tables },
        ...{ ranges, keySum: key ? keySum(key) : null },
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
          await archive.add({ name: partName(table.name, ++parts), content });
          report();
        });
        rows += counts[table.name]!;
      }
      await archive.add({ name: names.counts, content: json(counts) });
      await archive.finish(key && (sums => sign(key, sums)));
      return { takenAt, rows, bytes: archive.bytes(), others, isOtherKey };
    } catch (error) {
      await archive.discard();
      throw error;
    }
  } finally {
    await snapshot.close();
  }
}

export type Checked = { manifest: Manifest; rows: number; hasKey: boolean; signature: Signature };

/**
 * Reads the whole file and compares all that a restore does, without a database. `ownKey`: that of this machine. Throws ArchiveError
 * or UnfitDatabaseError.
 */
export async function checkBackup(file: string, ownKey: Buffer | undefined): Promise<Checked> {
  const { manifest, parts } = await openContents(file, ownKey);
  for (;;) {
    const { done, value } = await parts.next();
    if (!done) continue;
    const { counts, key, signature } = value;
    return { manifest, rows: sum(counts), hasKey: key !== undefined, signature };
  }
}

export type RestoreOptions = {
  url: string;
  file: string;
  /** That of this machine. */
  ownKey: Buffer | undefined;
  onProgress(progress: Progress): void;
  /** Called with the key in the file, before the database is changed for good. What it throws undoes everything. */
  keepKey(key: Buffer): Promise<void>;
};

/**
 * Into an empty database, in one transaction. Throws ArchiveError or UnfitDatabaseError; the database is then as empty as
 * before.
 */
export async function restore(options: RestoreOptions): Promise<{ manifest: Manifest; rows: number }> {
  const { url, file, ownKey } = options;
  const { manifest, parts } = await openContents(file, ownKey);
  const refill = await openRefill(url, manifest);
  try {
    const copied = new Map<string, number>();
    let bytes = 0;
    let next = await parts.next();
    while (!next.done) {
      const { table } = next.value;
      async function* rowsOf(): AsyncGenerator<Buffer> {
        while (!next.done && next.value.table === table) {
          yield next.value.content;
          bytes += next.value.content.length;
          next = await parts.next();
          options.onProgress({ table: table.name, rows: sum(copied), rowCount: 0, bytes });
        }
      }
      copied.set(table.name, await refill.fill(table, rowsOf()));
    }
    const { counts, key } = next.value;
    for (const [name, rows] of counts) requireCount(file, name, copied.get(name) ?? 0, rows);
    if (key) await options.keepKey(key);
    await refill.commit();
    return { manifest, rows: sum(counts) };
  } finally {
    await refill.close();
  }
}

function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}

function sum(counts: Map<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
