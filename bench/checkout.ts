// A checkout of another commit, in which this checkout's benchmarks run: only what they measure is of that commit.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..");

/** Its packages are those of this checkout where the lockfiles are the same. Throws if git does not know the commit. */
export function checkOut(commit: string): { root: string; name: string; remove(): void } {
  const name = run("git", ["rev-parse", "--verify", "--short", `${commit}^{commit}`], root).trim();
  const folder = mkdtempSync(join(process.env["BENCH_DIR"] ?? "/var/tmp", `onlooker-${name}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, "checkout.tar");
    run("git", ["archive", "--output", archive, name], root);
    run("tar", ["-xf", archive, "-C", folder], root);
    rmSync(archive);
    const isSame =
      spawnSync("git", ["diff", "--quiet", name, "--", "package-lock.json"], { cwd: root }).status === 0;
    if (isSame) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    else run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder);
    rmSync(join(folder, "bench"), { recursive: true, force: true });
    cpSync(join(root, "bench"), join(folder, "bench"), { recursive: true });
  } catch (error) {
    remove();
    throw error;
  }
  return { root: folder, name, remove };
}

function run(program: string, args: string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
