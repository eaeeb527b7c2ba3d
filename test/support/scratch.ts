// Temporary folders for the data of servers and for whole machines: in memory, where there is room.
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

/** The names of scratch folders begin with this and the id of the process that made them. */
export const scratchPrefix = "onlooker-test-";

const memory = "/dev/shm";
/** `npm test` was seen to use 0.5 GB. Wide tests keep three machines at a time there as well, each with its packages and its database. */
const neededBytes = 8 * 2 ** 30;

/**
 * Where scratch folders are made unless told otherwise. A disk is slow at making files: a millisecond each on ext4, so that
 * copying a database over three nodes of Citus took 1.3 s, and 0.06 s in memory.
 */
export const scratchParent = memoryHasRoom() ? memory : tmpdir();

/** Containers often have 64 MB there, or run no programs from it. */
function memoryHasRoom(): boolean {
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    if (Math.min(bavail * bsize, freemem()) < neededBytes) return false;
    const [options = "noexec"] = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map(line => line.split(" "))
      .filter(([, folder]) => folder === memory)
      .map(([, , , options]) => options);
    return !options.split(",").includes("noexec");
  } catch {
    return false; // not Linux
  }
}

/** A temporary folder that is removed by a later run if this one is killed, with the servers whose data it holds. */
export function makeScratch(parent = scratchParent): string {
  const folder = mkdtempSync(join(parent, `${scratchPrefix}${process.pid}-`));
  chmodSync(folder, 0o755); // for the user that PostgreSQL runs as when the tests run as root
  return folder;
}
