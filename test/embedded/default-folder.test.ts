// The data folder without SVC_DATA_DIR: in the project, unless root runs a checkout that PostgreSQL cannot enter.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { defaultDataDir } from "../../src/embedded/default-folder.ts";
import { folderIn } from "../../src/embedded/folder.ts";
import { makeScratch } from "../support/scratch.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Without root, PostgreSQL runs as the current user, who can enter the checkout. */
const isRoot = process.getuid!() === 0;
const shared = join(scratch, "var");

function checkout(name: string, mode: number): string {
  const path = join(scratch, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

test("a checkout that PostgreSQL can enter keeps its data in the project", () => {
  const project = checkout("open", 0o755);
  assert.equal(defaultDataDir(join(project, "data"), shared), join(project, "data"));
});

test("root's data is outside a checkout that only root can enter, and stays there after a chmod", () => {
  const project = checkout("closed", 0o700);
  const chosen = defaultDataDir(join(project, "data"), shared);
  assert.equal(dirname(chosen), isRoot ? shared : project);
  mkdirSync(folderIn(chosen).home, { recursive: true });
  chmodSync(project, 0o755);
  assert.equal(defaultDataDir(join(project, "data"), shared), chosen);
});

test("a database that is already in the project is used where it is", () => {
  const project = checkout("older", 0o700);
  mkdirSync(folderIn(join(project, "data")).home, { recursive: true });
  assert.equal(defaultDataDir(join(project, "data"), shared), join(project, "data"));
});

test("two checkouts with similar paths have separate data folders", () => {
  const [one, two] = ["a b", "a-b"].map(name => defaultDataDir(join(checkout(name, 0o700), "data"), shared));
  assert.notEqual(one, two);
});
