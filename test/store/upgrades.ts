// Databases of earlier versions, and copies of databases by a backup.
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openRefill } from "../../src/store/backup/refill.ts";
import { openSnapshot } from "../../src/store/backup/snapshot.ts";

/** A folder of the migrations before the one with this number, such as "042". */
export function migrationsBefore(number: string, scratch: string): URL {
  const folder = fileURLToPath(new URL("../../src/store/migrations/", import.meta.url));
  const copy = join(scratch, `before-${number}`);
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(folder).filter(one => one < number))
    cpSync(join(folder, name), join(copy, name));
  return pathToFileURL(`${copy}/`);
}

/** Fills an empty database with a backup of another. */
export async function restore(from: string, into: string): Promise<void> {
  const snapshot = await openSnapshot(from);
  const refill = await openRefill(into, snapshot);
  for (const table of snapshot.tables) {
    const rows: Buffer[] = [];
    await snapshot.read(table, async some => void rows.push(some));
    await refill.fill(
      table,
      (async function* () {
        yield* rows;
      })(),
    );
  }
  await refill.commit();
  await Promise.all([snapshot.close(), refill.close()]);
}
