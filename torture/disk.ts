// A small disk of its own for PostgreSQL's data, so that it can be filled without harm to others.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Disk = {
  folder: string;
  fill(): void;
  empty(): void;
  close(): void;
};

/** Null, with the reason on standard error, where this user may not mount one. */
export function mountDisk(megabytes: number): Disk | null {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-torture-disk-"));
  const options = ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", folder];
  const { status, stderr, error } = spawnSync("mount", options, { encoding: "utf8" });
  if (status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    process.stderr.write(`The disk is never full in this run: ${error?.message ?? stderr.trim()}\n`);
    return null;
  }
  const ballast = join(folder, "ballast");
  const chunk = Buffer.alloc(1024 * 1024);
  return {
    folder,
    fill() {
      const file = openSync(ballast, "w");
      try {
        // Down to the last block: what is left is less than a page of PostgreSQL.
        for (const bytes of [chunk, chunk.subarray(0, 4096)]) {
          try {
            for (;;) writeSync(file, bytes);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    close() {
      spawnSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
