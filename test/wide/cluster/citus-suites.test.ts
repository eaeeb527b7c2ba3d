// Runs the tests of the store and of the flows on databases that are distributed over a Citus cluster.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { childEnv } from "../../support/child-env.ts";
import { lastLines, runCommand } from "../support/command.ts";
import { leftOut } from "../support/needs.ts";

const root = join(import.meta.dirname, "../../..");
const skip = await leftOut("citus");

const patterns = [
  "test/store/{accounts,alerts,ingestion,judge,runs,traces}/*.test.ts",
  "test/flow/*.test.ts",
  // What is answered from other statements than on one server.
  "test/http/{access,accounts/verification,alerts/*,ingestion/log,judge/labels,projects/*,public-traces/503,test-cases/*}.test.ts",
];

/** Files about what no distributed database has. */
const notThere = new Set([
  // Ranges of time.
  "test/store/traces/ranges.test.ts",
]);

test("the tests that know of clusters pass on databases that are distributed over one", { skip }, async t => {
  const found = patterns.map(pattern => globSync(pattern, { cwd: root }));
  for (const [at, some] of found.entries()) assert.ok(some.length > 0, patterns[at]);
  const files = found.flat().filter(file => !notThere.has(file));
  const coordinator = new URL(process.env.SVC_TEST_CITUS_URL!);
  coordinator.pathname = "/postgres";
  const citus = { SVC_TEST_CITUS_URL: process.env.SVC_TEST_CITUS_URL!, SVC_TEST_ON_CITUS: "yes" };
  const env = { ...childEnv, ...citus, SVC_TEST_DATABASE_URL: coordinator.href };
  // In one run, so that the last files of a room run beside those of the next.
  const { stdout, stderr } = await runCommand(process.execPath, ["scripts/test.ts", ...files], {
    cwd: root,
    env,
  });
  const sums = /\n(\d+) passed, 0 failed\n$/.exec(stdout);
  assert.ok(sums, stdout.split("failing tests:")[1] ?? lastLines(stdout + stderr));
  t.diagnostic(`${sums[1]} tests of ${files.length} files`);
});
