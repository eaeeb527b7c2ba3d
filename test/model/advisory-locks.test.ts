// Advisory locks: their ids differ, and stand in one file.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { advisoryLockSeeds, advisoryLocks } from "../../src/model/advisory-locks.ts";

const root = join(import.meta.dirname, "../../src");
const sources = globSync("**/*.{ts,sql}", { cwd: root }).map(file => ({
  file,
  text: readFileSync(join(root, file), "utf8"),
}));

test("no two kinds of advisory locks have the same id or seed", () => {
  for (const ids of [Object.values(advisoryLocks), Object.values(advisoryLockSeeds)] as number[][]) {
    assert.equal(new Set(ids).size, ids.length);
  }
});

/** One is given its seed, the other takes a random lock in the space of two numbers. */
const given = ["store/open-limit.ts", "store/session-check.ts"];

test("every file that takes an advisory lock has its id from the one list", () => {
  const taking = sources.filter(({ text }) => /\bpg_(?:try_)?advisory_(?:xact_)?lock\(/.test(text));
  assert.ok(taking.length > 5, "files were found");
  for (const { file, text } of taking) {
    assert.doesNotMatch(text, /\badvisory_(?:xact_)?lock\(\s*\d/, file);
    if (file.endsWith(".ts") && !given.includes(file)) assert.match(text, /\/advisory-locks\.ts"/, file);
    for (const [, seed] of text.matchAll(/\bhashtextextended\([^()]*,\s*(\d+)\)/g)) {
      assert.deepEqual([file, Number(seed)], ["store/cluster/groups.sql", advisoryLockSeeds.shardNames]);
    }
  }
});
