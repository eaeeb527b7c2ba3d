// Keys that anyone may have chosen: set as they are, and never at the price of thousands of empty slots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setOwn } from "../../src/model/set-own.ts";

test("a key is an own property, whatever it is called", () => {
  const target: Record<string, unknown> = {};
  for (const key of ["b", "__proto__", "10", "1", "01", "4294967296", "constructor", ""])
    setOwn(target, key, key);
  assert.deepEqual(
    new Set(Object.keys(target)),
    new Set(["b", "__proto__", "10", "1", "01", "4294967296", "constructor", ""]),
  );
  for (const key of Object.keys(target)) assert.equal(target[key], key);
  assert.equal(Object.getPrototypeOf(target), Object.prototype);
});

test("a key that is set again has its latest value, an index too, and can be changed afterwards", () => {
  const target: Record<string, unknown> = {};
  for (const value of [1, 2]) for (const key of ["a", "7", "__proto__"]) setOwn(target, key, value);
  assert.deepEqual(Object.entries(target), [
    ["7", 2],
    ["a", 2],
    ["__proto__", 2],
  ]);
  target["7"] = 3;
  assert.equal(target["7"], 3);
});

test("an object whose one key is an index takes bytes, not kilobytes", () => {
  const before = process.memoryUsage().heapUsed;
  const objects = Array.from({ length: 20_000 }, () => {
    const target = {};
    setOwn(target, "1000", 0);
    return target;
  });
  const bytes = (process.memoryUsage().heapUsed - before) / objects.length;
  // Plain assignment takes 12,000.
  assert.ok(bytes < 2_000, `${bytes} bytes`);
});
