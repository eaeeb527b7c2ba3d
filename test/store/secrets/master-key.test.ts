// The file of the key that encrypts stored secrets.
import assert from "node:assert/strict";
import { chownSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { masterKeyOf, placeMasterKey } from "../../../src/store/secrets/master-key.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
after(() => rmSync(scratch, { recursive: true, force: true }));

const skip = process.getuid!() === 0 ? false : "needs root, who gives files to others";

test("a key that root creates or restores belongs to the owner of the data folder, who alone can read it", {
  skip,
}, async () => {
  const create = {
    created: (dataDir: string) => masterKeyOf({ dataDir, secretKey: undefined }),
    restored: (dataDir: string) => placeMasterKey(dataDir, Buffer.alloc(32, 1)),
  };
  for (const [name, run] of Object.entries(create)) {
    const dataDir = join(scratch, name);
    mkdirSync(dataDir);
    chownSync(dataDir, 65_534, 65_533);
    await run(dataDir);
    const { uid, gid, mode } = statSync(join(dataDir, "secret.key"));
    assert.deepEqual([uid, gid, mode & 0o777], [65_534, 65_533, 0o600]);
  }
});
