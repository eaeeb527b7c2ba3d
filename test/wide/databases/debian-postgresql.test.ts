// Runs the tests of the store and of the flows on Debian's PostgreSQL, the oldest that Onlooker supports: 15 on Debian 12.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { childEnv } from "../../support/child-env.ts";
import { lastLines, runCommand } from "../support/command.ts";
import { debianPostgresql, startDebianPostgresql } from "../support/debian-postgresql.ts";
import { leftOut } from "../support/needs.ts";

const root = join(import.meta.dirname, "../../..");
const version = debianPostgresql();
const skip = await leftOut("postgresql");

// The nodes of a cluster are Debian's PostgreSQL as well, and run the flows, except those that start from a server's dump.
const flows = process.env.SVC_TEST_CITUS_URL === undefined ? "test/flow" : "test/flow/upgrade.test.ts";

test(`every test of test/store and ${flows} passes on Debian's PostgreSQL ${version ?? ""}`.trim(), {
  skip,
}, async t => {
  const server = await startDebianPostgresql(version!);
  t.after(() => server.stop());
  const { stdout, stderr } = await runCommand(process.execPath, ["scripts/test.ts", "test/store", flows], {
    cwd: root,
    env: { ...childEnv, SVC_TEST_DATABASE_URL: server.url },
  });
  const sums = /\n(\d+) passed, 0 failed\n$/.exec(stdout);
  assert.ok(sums, stdout.split("failing tests:")[1] ?? lastLines(stdout + stderr));
  assert.ok(Number(sums[1]) > 100, "the tests were found");
  t.diagnostic(`PostgreSQL ${version}: ${sums[1]} tests`);
});
