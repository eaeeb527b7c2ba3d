// Keeps CHANGELOG.md and the version in step: `npm version` turns Unreleased into the section of the new version.
//
//   npm version minor       runs it after changing package.json, then commits and tags
//   … --ready               npm version, before it changes anything: the image names its base by digest, and the audit passes
//   … --check               npm publish: the same, and the version has a dated section

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, "..");
  const path = join(root, "CHANGELOG.md");
  try {
    const [isCheck, isReady] = ["--check", "--ready"].map(option => process.argv.includes(option));
    if (isCheck) requireReleased(root);
    if (isCheck || isReady) requireReady(root);
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

/** Throws unless the image can be built again as it is now, and the registry knows of no advisory that is not allowed. */
function requireReady(root: string): void {
  requireDigest(readFileSync(join(root, "Dockerfile"), "utf8"));
  const audit = [join(root, "scripts/audit.ts"), "--required"];
  const { status } = spawnSync(process.execPath, audit, { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error("a release needs an audit of its dependencies without a problem");
}

/** Throws unless every stage begins with one image, whose content a digest fixes: a tag may be another image tomorrow. */
export function requireDigest(dockerfile: string): void {
  const [, image = ""] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
  const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base!);
  const isFixed =
    /@sha256:[0-9a-f]{64}$/.test(image) && stages.every(base => /^\$\{NODE_IMAGE\}$/.test(base));
  if (isFixed) return;
  throw new Error(
    `the Dockerfile does not name its base by digest: set NODE_IMAGE to ${image.split("@")[0]}@sha256:…, as "docker buildx imagetools inspect" prints it`,
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
