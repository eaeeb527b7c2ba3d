// Collecting the garbage of a thread on demand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collectGarbage } from "../../src/threads/collect.ts";

test("frees at once what is no longer used, and adds nothing to the global object", () => {
  const megabytes = () => process.memoryUsage().arrayBuffers / 1024 / 1024;
  const before = megabytes();
  const used = Array.from({ length: 16 }, () => new ArrayBuffer(1024 * 1024));
  assert.ok(megabytes() >= before + 16);
  used.length = 0;
  collectGarbage();
  assert.ok(megabytes() < before + 4);
  assert.equal("gc" in globalThis, false);
});
