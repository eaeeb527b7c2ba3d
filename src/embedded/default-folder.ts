// Chooses the data folder when SVC_DATA_DIR is not set.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { folderIn } from "./folder.ts";
import { blockedAt, serverUser } from "./user.ts";

/**
 * `own`. For root, if the user that PostgreSQL runs as cannot reach it, such as in a checkout in /root (mode 700): a folder
 * in `shared` named after the parent of `own`. Once that exists it is always used, so that a later chmod never makes a
 * database disappear. Creates nothing. Throws EmbeddedError if root finds no such user.
 */
export function defaultDataDir(own: string, shared = "/var/lib/onlooker"): string {
  if (process.getuid!() !== 0 || existsSync(folderIn(own).home)) return own;
  const apart = join(shared, folderName(dirname(own)));
  const { home } = folderIn(apart);
  return existsSync(home) || blockedAt(own, serverUser([own])) !== undefined ? apart : own;
}

/** Readable and unique for each parent folder: "root-onlooker-3f2a91c0". */
function folderName(path: string): string {
  const readable = path.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return `${readable}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
}
