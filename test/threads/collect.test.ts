// Collecting the garbage of a thread on demand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collectGarbage } from "../../src/threads/collect.ts";

test("frees what is no longer used, and adds nothing to the global object", () => {
  const megabytes = () => process.memoryUsage().heapUsed / 1024 / 1024;
  collectGarbage();
  const before = megabytes();
  const used = Array.from({ length: 16 }, () => new Array(128 * 1024).fill({}));
  assert.ok(megabytes() >= before + 16);
  used.length = 0;
  collectGarbage();
  assert.ok(megabytes() < before + 4);
  assert.equal("gc" in globalThis, false);
});
