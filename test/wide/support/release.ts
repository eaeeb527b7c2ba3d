// The sources of an earlier release, from git, beside the packages of this checkout.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const checkout = join(import.meta.dirname, "../../..");

/** Returns its folder `src`. Throws if git does not know the commit. */
export function checkOutRelease(commit: string, folder: string): string {
  mkdirSync(folder);
  const tar = execFileSync("git", ["archive", commit, "src", "package.json"], {
    cwd: checkout,
    maxBuffer: 1e9,
  });
  execFileSync("tar", ["-x"], { cwd: folder, input: tar });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  return join(folder, "src");
}
