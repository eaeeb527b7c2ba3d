// `svc backup` where there is nothing to back up: it says so and leaves nothing behind.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeScratch } from "../support/scratch.ts";
import { svc } from "../wide/support/svc.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

test("a data folder without a database is refused in one line that names it, and stays as it was", async () => {
  const empty = join(scratch, "empty");
  mkdirSync(empty);
  for (const dataDir of [join(scratch, "mistyped"), empty]) {
    const file = join(scratch, "file.backup");
    const { code, stdout, stderr } = await svc(["backup", file], { SVC_DATA_DIR: dataDir });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^[^\n]*no database in [^\n]*SVC_DATA_DIR[^\n]*\n$/);
    assert.ok(stderr.includes(dataDir), stderr);
  }
  assert.deepEqual(readdirSync(scratch), ["empty"]);
  assert.deepEqual(readdirSync(empty), []);
});
