// The list of failed tests at the end of a run: CI logs are cut in the middle, and a property is repeated by its seed.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { FailedTests } from "../../scripts/test/failed-tests.ts";
import { childEnv } from "../support/child-env.ts";

const root = join(import.meta.dirname, "../..");
const scratch = mkdtempSync(join(tmpdir(), "onlooker-failed-tests-"));
after(() => rmSync(scratch, { recursive: true }));

/** The lines that `npm test` prints for a file. It needs no database. */
async function linesOf(source: string): Promise<string[]> {
  const file = join(scratch, "some.test.mjs");
  writeFileSync(file, source);
  const script = join(root, "scripts/test.ts");
  const env = { ...childEnv, SVC_TEST_DATABASE_URL: "postgresql://unused" };
  return new Promise(resolve => {
    execFile(process.execPath, [script, relative(root, file)], { env }, (_, printed) => {
      resolve(printed.trimEnd().split("\n"));
    });
  });
}

test("a failed property is listed last, with its seed, its counterexample and what failed", async () => {
  const lines = await linesOf(`
    import assert from "node:assert/strict";
    import { describe, it } from "node:test";
    import fc from ${JSON.stringify(import.meta.resolve("fast-check"))};
    describe("numbers", () => {
      it("are small", () => {
        fc.assert(fc.property(fc.integer(), value => assert.ok(value < 100, "too large")), { seed: 7 });
      });
      it("are numbers", () => {});
      it("are infinite", { todo: true }, () => assert.fail());
    });
  `);
  assert.equal(lines.pop(), "1 passed, 1 failed");
  const listed = lines.slice(lines.findIndex(line => line.startsWith("failed: ")));
  assert.match(listed.shift()!, /^failed: .*some\.test\.mjs:6: are small$/);
  assert.ok(
    listed.every(line => line.startsWith("  | ")),
    listed.join("\n"),
  );
  const message = listed.join("\n");
  for (const part of ["{ seed: 7, path: ", "Counterexample: [100]", "  | caused by: too large"])
    assert.ok(message.includes(part), message);
});

test("a suite that breaks before its tests counts as failed", async () => {
  const lines = await linesOf(`
    import { describe, it } from "node:test";
    it("passes", () => {});
    describe("a file", async () => {
      await import("data:text/javascript,throw new Error('broken')");
      it("is never reached", () => {});
    });
  `);
  assert.equal(lines.pop(), "1 passed, 1 failed");
  assert.ok(lines.includes("  | broken"), lines.join("\n"));
});

test("a long message is cut, and only the first failures are listed", () => {
  const failures = new FailedTests("/project");
  for (let at = 0; at < 25; at++) {
    const error = Object.assign(new Error("the test failed"), { cause: new Error("x".repeat(5_000)) });
    failures.add({
      name: `test ${at}`,
      nesting: 0,
      parentId: undefined,
      tags: [],
      testId: at,
      testNumber: at,
      details: { duration_ms: 1, error },
      file: "/project/test/one.test.ts",
      line: at,
      column: 1,
    });
  }
  const lines = failures.lines();
  assert.equal(lines.length, 21);
  assert.deepEqual(lines.slice(0, 2), ["failed: test/one.test.ts:0: test 0", `  | ${"x".repeat(1_500)}…`]);
  assert.equal(lines.at(-1), "failed: 15 more, see above");
});
