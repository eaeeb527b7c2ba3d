// libfaketime, which moves the clock of one process.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const libraries = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/faketime/libfaketime.so.1",
];

/** Where it is installed. */
export const clockLibrary = libraries.find(existsSync);

const memory = "/dev/shm";

/** The files that processes with the library left in shared memory when they were killed. */
export function filesOfMovedClocks(): string[] {
  if (!existsSync(memory)) return [];
  return readdirSync(memory)
    .filter(name => {
      const [, pid] = /^(?:sem\.faketime_sem|faketime_shm)_(\d+)$/.exec(name) ?? [];
      return pid !== undefined && !existsSync(`/proc/${pid}`);
    })
    .map(name => join(memory, name));
}

export function removeFilesOfMovedClocks(): void {
  for (const file of filesOfMovedClocks()) rmSync(file, { force: true });
}
