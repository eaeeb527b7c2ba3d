// A small disk of its own for PostgreSQL's data, so that it can be full without harm to others.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Disk = {
  folder: string;
  /** Leaves no room for another page of PostgreSQL. */
  fill(): void;
  empty(): void;
  close(): void;
};

/** Null, with the reason on standard error, where this user may not mount one. */
export function mountDisk(megabytes: number): Disk | null {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-torture-disk-"));
  const mount = (options: string, ...place: string[]) =>
    spawnSync("mount", ["-t", "tmpfs", "-o", options, ...place], { encoding: "utf8" });
  const { status, stderr, error } = mount(`size=${megabytes}m,mode=755`, "tmpfs", folder);
  if (status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    process.stderr.write(`The disk is never full in this run: ${error?.message ?? stderr.trim()}\n`);
    return null;
  }
  const resize = (bytes: number) => mount(`remount,size=${bytes}`, folder).status === 0;
  return {
    folder,
    fill() {
      // Rather than by a large file, which would take as much memory. It may have grown since it was measured.
      for (;;) {
        const { blocks, bfree, bsize } = statfsSync(folder);
        if (resize((blocks - bfree) * bsize)) return;
      }
    },
    empty() {
      if (!resize(megabytes * 1024 * 1024)) throw new Error(`${folder} could not be enlarged.`);
    },
    close() {
      spawnSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
