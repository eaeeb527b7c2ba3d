// Runs the tests of the store and of the flows on databases that are distributed over a Citus cluster.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { childEnv } from "../support/child-env.ts";
import { lastLines, runCommand } from "./support/command.ts";
import { leftOut } from "./support/needs.ts";

const root = join(import.meta.dirname, "../..");
const skip = await leftOut("citus");

const rooms: Record<string, string> = {
  "test/store": "test/store/{accounts,alerts,ingestion,judge,runs,traces}/*.test.ts",
  "test/flow": "test/flow/*.test.ts",
};

const own = "the test itself sends a statement that Citus refuses";
const untold = "not looked into";

/** Files that do not pass yet, each with its reason. docs/scaling.md says what that means for a service. */
const notYet = new Map(
  Object.entries({
    "test/store/traces/batch-agents.test.ts": "is about rows that no distributed database has",
    "test/store/traces/ranges.test.ts": "is about ranges that no distributed database has",
    "test/store/traces/writer.test.ts": "puts a proxy, or another database, in place of the one server",
    "test/flow/deletion.test.ts": "finds columns elsewhere than on one server",
    "test/flow/erasures.test.ts": own,
    "test/flow/forget-meanwhile.test.ts": own,
    "test/flow/forget.test.ts": "does not end",
    "test/flow/redaction-changes.test.ts": own,
    "test/flow/redaction-evidence.test.ts": untold,
    "test/flow/redaction-insights.test.ts": own,
    "test/flow/redaction.test.ts": own,
    "test/flow/two-processes.test.ts": own,
    "test/flow/upgrade.test.ts": "starts on the dump of one server",
  }),
);

describe("on databases that are distributed over a Citus cluster", { skip }, () => {
  for (const [room, pattern] of Object.entries(rooms)) {
    it(`the tests of ${room} that know of clusters pass`, async t => {
      const files = globSync(pattern, { cwd: root }).filter(file => !notYet.has(file));
      assert.ok(files.length > 0);
      const coordinator = new URL(process.env.SVC_TEST_CITUS_URL!);
      coordinator.pathname = "/postgres";
      const citus = { SVC_TEST_CITUS_URL: process.env.SVC_TEST_CITUS_URL!, SVC_TEST_ON_CITUS: "yes" };
      const env = { ...childEnv, ...citus, SVC_TEST_DATABASE_URL: coordinator.href };
      const { stdout, stderr } = await runCommand(process.execPath, ["scripts/test.ts", ...files], {
        cwd: root,
        env,
      });
      const sums = /\n(\d+) passed, 0 failed\n$/.exec(stdout);
      assert.ok(sums, stdout.split("failing tests:")[1] ?? lastLines(stdout + stderr));
      t.diagnostic(`${sums[1]} tests of ${files.length} files of ${room}`);
    });
  }
});
