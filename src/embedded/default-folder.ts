// Chooses the data folder when SVC_DATA_DIR is not set.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { folderIn } from "./folder.ts";
import { blockedAt, serverUser } from "./user.ts";

/**
 * `data` in the project. For root, if the user that PostgreSQL runs as cannot reach the project, such as a checkout in
 * /root (mode 700): a folder for this project in `shared`. Once that exists it is always used, so that a later chmod
 * never makes a database disappear. Creates nothing. Throws EmbeddedError if root finds no such user.
 */
export function defaultDataDir(project: string, shared = "/var/lib/onlooker"): string {
  const own = join(project, "data");
  if (process.getuid!() !== 0 || existsSync(folderIn(own).home)) return own;
  const apart = join(shared, folderName(project));
  const { home } = folderIn(apart);
  return existsSync(home) || blockedAt(own, serverUser([own])) !== undefined ? apart : own;
}

/** Readable and unique for each project: "root-onlooker-3f2a91c0". */
function folderName(project: string): string {
  const path = project.replace(/\/$/, "");
  const readable = path.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return `${readable}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
}
