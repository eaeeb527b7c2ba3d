// What `npm test` and `npm run test:wide` run for their arguments, and that each file with tests is found by them.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findFiles, groupOf, groups, needsBrowser, root } from "../../scripts/test/files.ts";
import { inRooms, removeGenerated } from "../../scripts/test/rooms.ts";
import { childEnv } from "../support/child-env.ts";

type Ran = { code: number; stdout: string; stderr: string };

/** None of the tests that these run needs a database. */
function runTests(...args: string[]): Promise<Ran> {
  const env = { ...childEnv, SVC_TEST_DATABASE_URL: "postgresql://unused" };
  return new Promise(resolve => {
    execFile(process.execPath, [join(root, "scripts/test.ts"), ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr });
    });
  });
}

test("every file that calls test() is one that npm test finds, and none calls it() or describe()", () => {
  const files = globSync(["test/**/*.{ts,tsx}", "web/**/*.{ts,tsx}"], { cwd: root });
  const sources = files.map(file => [file, readFileSync(join(root, file), "utf8")] as const);
  const calling = (call: RegExp) => sources.filter(([, source]) => call.test(source)).map(([file]) => file);
  assert.deepEqual(calling(/^import \{[^}]*\b(?:it|describe)\b[^}]*\} from "node:test"/m), []);
  const withTests = calling(/^\s*(?:test|suite)\(\s*["'`]/m);
  assert.ok(withTests.length > 300, "tests were found");
  const found = new Set([...findFiles([]), ...findFiles([], { wide: true })]);
  assert.deepEqual(
    withTests.filter(file => !found.has(file)),
    [],
  );
});

test("--quick leaves out what needs a browser, and nothing else", () => {
  const all = findFiles([]);
  const quick = findFiles([], { quick: true });
  assert.deepEqual(
    quick,
    all.filter(file => !file.startsWith("test/e2e/") && !file.includes(".component.test.ts")),
  );
  assert.ok(quick.length < all.length);
  for (const file of quick) {
    const source = readFileSync(join(root, file), "utf8");
    assert.doesNotMatch(source, /^import .*(?:support\/browser\.ts|playwright-core)"/m, file);
  }
});

test("each wide test is in one group, which runs by its name", () => {
  const all = findFiles([], { wide: true });
  assert.deepEqual(
    all.filter(file => !groups.includes(groupOf(file))),
    [],
  );
  assert.equal(groups.flatMap(group => findFiles([group], { wide: true })).length, all.length);
  assert.deepEqual(findFiles(["proxies", "test/wide/machines/image.test.ts"], { wide: true }).map(groupOf), [
    "machines",
    "proxies",
  ]);
});

test("every test file that a wide test names is there", () => {
  const named = globSync("test/wide/**/*.ts", { cwd: root }).flatMap(file =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\btest\/[\w/-]+\.test\.tsx?\b/g)].map(
      ([path]) => path,
    ),
  );
  assert.ok(named.length > 5, "paths were found");
  assert.deepEqual(
    named.filter(path => !existsSync(join(root, path))),
    [],
  );
});

test("an unknown group or file is said, with the groups that there are", async () => {
  const group = await runTests("--wide", "nonsense");
  assert.equal(group.code, 1);
  assert.match(group.stderr, /^No such wide test: nonsense\. The groups are browsers, .*stress\.\n$/);
  const file = await runTests("test/nonsense.test.ts");
  assert.equal(file.code, 1);
  assert.equal(file.stderr, "No such test file: test/nonsense.test.ts\n");
});

test("-t runs only the tests that have the text in their name, in the files that may have some", async () => {
  const { code, stdout } = await runTests("-t", "a suite that breaks before", "--times");
  assert.equal(code, 0, stdout);
  assert.equal(stdout.match(/^✔ /gm)?.length, 1);
  assert.match(stdout, /✔ a suite that breaks before its tests counts as failed/);
  assert.match(stdout, /\d\.\d test\/scripts\/failed-tests\.test\.ts: a suite that breaks/);
  assert.match(stdout, /\n1 passed, 0 failed\n$/);
});

test("-t says when no test has the text, even if a file has it elsewhere", async () => {
  const nowhere = await runTests("-t", "no such words as these".toUpperCase());
  const elsewhere = await runTests("test/scripts", "-t", "execFile");
  for (const { code, stderr } of [nowhere, elsewhere]) {
    assert.equal(code, 1);
    assert.match(stderr, /^No test's name contains "[^"]+"\.\n$/);
  }
});

test("the files of a room are dealt to its processes, each to one", t => {
  t.after(removeGenerated);
  const files = findFiles(["test/flow"]);
  const processes = inRooms(files);
  assert.ok(processes.length > 1 && processes.length < files.length);
  const sources = processes.map(file => readFileSync(join(root, file), "utf8"));
  for (const file of files)
    assert.equal(sources.filter(source => source.includes(`${file}"`)).length, 1, file);
});

test("a browser test counts as one", () => {
  assert.ok(needsBrowser("test/e2e/shell/keys.test.ts"));
  assert.ok(needsBrowser("test/web/table.component.test.tsx"));
  assert.ok(!needsBrowser("test/web/table.test.ts"));
});
