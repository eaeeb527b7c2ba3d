// Chooses the user that PostgreSQL runs as (it refuses to run as root), and checks which folders that user may enter.
import { chmodSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { EmbeddedError } from "./error.ts";
import { makeFolders } from "./make-folders.ts";

/** `switched`: not the user of this process, so the server's processes and files must be given to that user. */
export type ServerUser = { name: string; uid: number; gid: number; switched: boolean };

/**
 * The user of this process. For root: the owner of the first of these folders that exists and is not root's, else
 * `postgres`, else `nobody`. Throws EmbeddedError if root finds none of them.
 */
export function serverUser(folders: string[]): ServerUser {
  const uid = process.getuid!();
  if (uid !== 0) return { name: nameOf(uid), uid, gid: process.getgid!(), switched: false };
  for (const folder of folders) {
    const owner = statIfAny(folder);
    if (owner && owner.uid !== 0) return switchTo(nameOf(owner.uid), owner.uid, owner.gid);
  }
  for (const wanted of ["postgres", "nobody"]) {
    const found = users().find(([name]) => name === wanted);
    if (found) return switchTo(wanted, Number(found[2]), Number(found[3]));
  }
  throw new EmbeddedError(
    "PostgreSQL refuses to run as root, and this machine has neither a user postgres nor nobody.",
    "Start Onlooker as an ordinary user, or set DATABASE_URL.",
  );
}

function switchTo(name: string, uid: number, gid: number): ServerUser {
  const primary = users().find(([, , id]) => Number(id) === uid)?.[3];
  return { name, uid, gid: primary === undefined ? gid : Number(primary), switched: true };
}

/** The lines of /etc/passwd: name, password, uid, gid, and what follows. */
function users(): string[][] {
  try {
    return readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map(line => line.split(":"));
  } catch {
    return [];
  }
}

/** The name of a user, or `uid 1234` for one that /etc/passwd does not list. */
export function nameOf(uid: number): string {
  return users().find(([, , id]) => id === String(uid))?.[0] ?? `uid ${uid}`;
}

/** Options of `spawn` that start a process as this user. */
export function asUser(user: ServerUser): { uid?: number; gid?: number } {
  return user.switched ? { uid: user.uid, gid: user.gid } : {};
}

/**
 * The first folder on the path, or the file itself, whose mode does not let this user in; undefined if there is none.
 * Folders that do not exist yet are ignored.
 */
export function blockedAt(path: string, user: Pick<ServerUser, "uid" | "gid">): string | undefined {
  const target = realPathOf(resolve(path));
  let at: string = sep;
  for (const name of ["", ...target.split(sep).filter(Boolean)]) {
    at = join(at, name);
    const stat = statIfAny(at);
    if (stat === undefined) return undefined;
    if (!mayEnter(stat, user)) return at;
  }
  return undefined;
}

function mayEnter(stat: Stats, user: Pick<ServerUser, "uid" | "gid">): boolean {
  if (user.uid === 0) return true;
  const bit = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
  return (stat.mode & bit) !== 0;
}

/** Resolves the symbolic links of the part that exists. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), path.slice(parent.length));
  }
}

export function statIfAny(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a folder on the path cannot be entered
  }
}

/** Creates a folder and its parents. Those that root creates can be entered by the server's user, whatever the umask. */
export function createFolder(path: string): void {
  const first = makeFolders(path);
  if (first === undefined || process.getuid!() !== 0) return;
  let at = first;
  chmodSync(at, 0o755);
  for (const name of relative(first, path).split(sep).filter(Boolean)) {
    at = join(at, name);
    chmodSync(at, 0o755);
  }
}
