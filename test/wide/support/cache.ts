// Caches folders that take long to make (Debian root file systems, npm packages) between runs of the wide tests.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** After this a folder is made again, so that no run tests the packages of last year. */
const maxAgeMs = 30 * 24 * 3_600_000;
/** No recipe takes this long: an older draft was left by a run that was killed. */
const draftAgeMs = 6 * 3_600_000;

const cacheDir = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "onlooker-test");

/**
 * Returns the folder that `make` filled for this recipe, at most 30 days ago. The recipe is part of the folder's name,
 * and the folder gets its name only once it is complete, so a stale or half-made one is never used.
 */
export async function cached(
  name: string,
  recipe: unknown,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  mkdirSync(cacheDir, { recursive: true });
  const key = createHash("sha256").update(JSON.stringify(recipe)).digest("hex").slice(0, 12);
  const folder = join(cacheDir, `${name}-${key}`);
  removeOld(name);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.new-${randomUUID()}`;
  mkdirSync(draft);
  try {
    await make(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // otherwise another run was faster
  }
  return folder;
}

/** A folder that only ever grows and checks its own contents, such as npm's cache. */
export function lastingFolder(name: string): string {
  const folder = join(cacheDir, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function removeOld(name: string): void {
  for (const found of readdirSync(cacheDir).filter(found => found.startsWith(`${name}-`))) {
    const path = join(cacheDir, found);
    const madeMs = statSync(path, { throwIfNoEntry: false })?.birthtimeMs ?? Date.now();
    const limitMs = found.includes(".new-") ? draftAgeMs : maxAgeMs;
    if (Date.now() - madeMs > limitMs) rmSync(path, { recursive: true, force: true });
  }
}
