// Tells whether the files of this copy of Onlooker are those that the service was started from.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, sources } from "../config/package.ts";

/**
 * A hash of the code and of package.json, which names the dependencies. By content: npm gives the files of every release
 * the same times. About 20 ms. Throws while files are missing.
 */
export function codeOnDisk(): string {
  const hash = createHash("sha256");
  for (const entry of readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()) {
    hash.update(`${entry.slice(sources.length)}\n`).update(readFileSync(entry));
  }
  return hash.update(readFileSync(join(root, "package.json"))).digest("hex");
}

/** What keeps an HTTP process from serving beside others that were started from other files. */
export const otherCode = "OTHER_CODE";
