// Keeps CHANGELOG.md and the version in step: `npm version` turns Unreleased into the section of the new version.
//
//   npm version minor       runs it after changing package.json, then commits and tags
//   … --check               npm publish: only checks that the version has a dated section

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, "..");
  const path = join(root, "CHANGELOG.md");
  try {
    if (process.argv.includes("--check")) requireReleased(root);
    else release(root, path);
  } catch (error) {
    process.stderr.write(`release: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

function release(root: string, path: string): void {
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(path, released(readFileSync(path, "utf8"), versionOf(root), day));
  execFileSync("git", ["add", "CHANGELOG.md"], { cwd: root, stdio: "inherit" });
}

/**
 * The changelog with what was unreleased under the version and the day (YYYY-MM-DD), and an empty section Unreleased above.
 * One that already has a dated section for the version stays as it is. Throws if nothing is unreleased.
 */
export function released(changelog: string, version: string, day: string): string {
  if (datedSections(changelog).includes(version)) return changelog;
  const [whole, text = ""] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? [];
  if (whole === undefined) throw new Error("CHANGELOG.md has no section Unreleased");
  if (text.trim() === "") throw new Error(`CHANGELOG.md lists nothing under Unreleased for ${version}`);
  return changelog.replace(whole, () => `## Unreleased\n\n## ${version} - ${day}\n${text}`);
}

/** Throws unless CHANGELOG.md has a dated section for the version in package.json. */
export function requireReleased(root: string): void {
  const version = versionOf(root);
  if (datedSections(readFileSync(join(root, "CHANGELOG.md"), "utf8")).includes(version)) return;
  throw new Error(
    `CHANGELOG.md has no section "## ${version} - YYYY-MM-DD": set the version with "npm version"`,
  );
}

/** The versions with a date, newest first. */
export function datedSections(changelog: string): string[] {
  return [...changelog.matchAll(/^## (\d+\.\d+\.\d+(?:-[\w.]+)?) - \d{4}-\d{2}-\d{2}$/gm)].map(
    ([, found]) => found!,
  );
}

function versionOf(root: string): string {
  return (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
}
