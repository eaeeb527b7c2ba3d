// The embedded PostgreSQL's part of the data folder: creates it atomically, checks it, and reads its state.
import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import type { Binaries } from "./binaries.ts";
import { EmbeddedError, errorsIn } from "./error.ts";
import { faultOf } from "./make-folders.ts";
import { asUser, blockedAt, createFolder, nameOf, type ServerUser, serverUser, statIfAny } from "./user.ts";

/** The role of the service in an embedded server, and its database, which the role owns; it has no other privilege. */
export const serviceRole = "onlooker";
/** Makes that role and that database, and holds the owner's lock. */
export const superuser = "postgres";

export type Folder = {
  /** Contains the rest; closed to other users. */
  home: string;
  /** PostgreSQL's own folder. */
  cluster: string;
  /** The password of the service's role, as text. */
  password: string;
  /** That of the superuser. */
  superuserPassword: string;
  log: string;
};

/** The environment of PostgreSQL's programs, without inherited variables: PG* and locale variables would change them. */
export const serverEnvironment = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/** Paths only: touches nothing. */
export function folderIn(dataDir: string): Folder {
  const home = join(dataDir, "postgresql");
  return {
    home,
    cluster: join(home, "data"),
    password: join(home, "password"),
    superuserPassword: join(home, "superuser-password"),
    log: join(home, "server.log"),
  };
}

/**
 * Creates the data folder if needed and returns the user that the server runs as. Throws EmbeddedError if this process
 * may not use the folder, or that user cannot reach it.
 */
export function openFolder(dataDir: string): ServerUser {
  const { home, cluster } = folderIn(dataDir);
  try {
    createFolder(dataDir);
    if (!existsSync(home)) requireWritable(dataDir);
  } catch (error) {
    throw new EmbeddedError(
      `The data folder ${dataDir} cannot be created or written: ${(error as Error).message}.`,
      "Set SVC_DATA_DIR to a folder that this user owns.",
      { cause: error },
    );
  }
  refuseForeign(dataDir);
  const user = serverUser([cluster, home, dataDir]);
  const blocked = blockedAt(dataDir, user);
  if (blocked !== undefined) {
    const who = user.switched
      ? `PostgreSQL refuses to run as root and would run as ${user.name}, who`
      : `The user ${user.name}`;
    throw new EmbeddedError(
      `${who} may not enter ${blocked}, a parent of the data folder ${dataDir}.`,
      `Set SVC_DATA_DIR to a folder outside of it, such as SVC_DATA_DIR=/var/lib/onlooker, or open it: chmod o+x ${blocked}`,
    );
  }
  return user;
}

function requireWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(faultOf(error, folder), { cause: error });
  }
}

/** Throws EmbeddedError if the database belongs to another user and this process is not root. */
export function refuseForeign(dataDir: string): void {
  const { home } = folderIn(dataDir);
  const owner = statIfAny(home)?.uid;
  if (owner === undefined || process.getuid!() === 0 || owner === process.getuid!()) return;
  throw new EmbeddedError(
    `The database in ${home} belongs to another user, ${nameOf(owner)}.`,
    `Run this as root or as that user, or set SVC_DATA_DIR to another folder.`,
  );
}

/**
 * Creates the database files unless they exist: in a draft folder that is renamed, so that a start that is killed, or
 * slower than another one, leaves nothing incomplete. Throws EmbeddedError if PostgreSQL cannot create them, or another
 * major version or an earlier Onlooker did.
 */
export async function ensureCluster(dataDir: string, binaries: Binaries, user: ServerUser): Promise<void> {
  const { home, cluster, superuserPassword } = folderIn(dataDir);
  removeDrafts(dataDir);
  if (!existsSync(home)) await createCluster(home, binaries, user);
  const version = readIfAny(join(cluster, "PG_VERSION"))?.trim();
  if (version === undefined) {
    throw new EmbeddedError(
      `${home} exists, but contains no database.`,
      "Move it away to start with an empty database, or restore it from your backup.",
    );
  }
  if (!existsSync(superuserPassword)) {
    throw new EmbeddedError(
      `${home} has no superuser-password: an earlier version of Onlooker created the database, or the file was lost.`,
      "Restore that file, or back the database up with that version (svc backup) and restore it into another data folder.",
    );
  }
  if (version !== binaries.major) {
    throw new EmbeddedError(
      `The database in ${home} was written by PostgreSQL ${version}, but this version of Onlooker uses ${binaries.major}.`,
      `Dump it with pg_dump under PostgreSQL ${version} and restore it into a new folder, or set SVC_DATA_DIR to another folder.`,
    );
  }
}

async function createCluster(home: string, binaries: Binaries, user: ServerUser): Promise<void> {
  let draft: string | undefined;
  try {
    draft = mkdtempSync(`${home}.new-`);
    const [password, superuserPassword] = [join(draft, "password"), join(draft, "superuser-password")];
    for (const path of [password, superuserPassword])
      writeFileSync(path, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
    if (user.switched)
      for (const path of [draft, password, superuserPassword]) chownSync(path, user.uid, user.gid);
    // This collation sorts by code point, like C, but classifies and folds the letters of every language.
    const shape = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const access = [`--username=${superuser}`, "--auth=scram-sha-256", `--pwfile=${superuserPassword}`];
    const where = ["-D", join(draft, "data"), "--no-instructions"];
    await promisify(execFile)(binaries.initdb, [...where, ...shape, ...access], {
      cwd: draft,
      env: serverEnvironment,
      ...asUser(user),
    });
    renameSync(draft, home);
    syncFolder(dirname(home));
  } catch (error) {
    if (draft !== undefined) rmSync(draft, { recursive: true, force: true });
    if (existsSync(home)) return; // another start was faster
    const why = errorsIn((error as { stderr?: string }).stderr ?? "");
    throw new EmbeddedError(
      `PostgreSQL cannot create its files in ${home}: ${why || (error as Error).message}.`,
      "Fix that, or set SVC_DATA_DIR to another folder.",
      { cause: error },
    );
  }
}

function syncFolder(path: string): void {
  const handle = openSync(path, "r");
  fsyncSync(handle);
  closeSync(handle);
}

/** Removes drafts of killed starts. A draft younger than an hour may belong to a start that is still running. */
function removeDrafts(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter(name => /^postgresql.*\.new-/.test(name))) {
    const path = join(dataDir, name);
    if (Date.now() - (statIfAny(path)?.mtimeMs ?? Date.now()) < 3_600_000) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

/** The server of this folder, from its postmaster.pid; undefined when none runs. */
export function runningServer(folder: Folder): { pid: number; port: number } | undefined {
  const lines = readIfAny(join(folder.cluster, "postmaster.pid"))?.split("\n") ?? [];
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  // A server that has just started has written only its pid.
  if (!pid || !port || !isServer(pid, folder)) return undefined;
  return { pid, port };
}

/** A server that starts writes its pid at once. */
const emptyPidMs = 10_000;

/**
 * Removes the postmaster.pid of a killed server if its pid now belongs to another program, or if it is empty, as a crash of the
 * machine may leave it: PostgreSQL and pg_ctl take any process with that pid for the server, and refuse to start.
 */
export function removeStalePid(folder: Folder): void {
  const path = join(folder.cluster, "postmaster.pid");
  const text = readIfAny(path);
  const pid = Number(text?.split("\n")[0]);
  const isForeign = pid > 0 && isAlive(pid) && !isServer(pid, folder);
  const isLeft = text === "" && Date.now() - (statIfAny(path)?.mtimeMs ?? Date.now()) > emptyPidMs;
  if (isForeign || isLeft) rmSync(path, { force: true });
}

/** Whether this process is the server of this folder: a running postgres that was started with its path. */
export function isServer(pid: number, folder: Folder): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== "linux") {
    const ps = spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
    return ps.stdout.includes(`-D ${folder.cluster}`);
  }
  const words = readIfAny(`/proc/${pid}/cmdline`)?.split("\0") ?? [];
  const path = words[words.indexOf("-D") + 1];
  if (basename(words[0] ?? "") !== "postgres" || !words.includes("-D") || path === undefined) return false;
  // Started by hand with a relative path, which cannot be resolved here: assume it is ours.
  return !isAbsolute(path) || sameFolder(path, folder.cluster);
}

function sameFolder(a: string, b: string): boolean {
  const [one, other] = [a, b].map(path => statSync(path, { throwIfNoEntry: false }));
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

export function readIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Resolved once, because PostgreSQL gets its folder as a path that must stay valid. */
export function realFolder(dataDir: string): Folder {
  return folderIn(realpathSync(dataDir));
}

const logBytesMax = 8_000_000;

/** Limits the server's log to two files of 8 MB. The server appends, so its file may be truncated while it runs. */
export function boundLog({ log }: Folder): void {
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) < logBytesMax) return;
  copyFileSync(log, `${log}.1`);
  truncateSync(log);
}
