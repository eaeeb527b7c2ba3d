// What goes into one call: every question once, as few calls as their bound allows, checks whole where that is free.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evenly, together } from "../../src/judge/batches.ts";

const sizesOf = (calls: unknown[][]) => calls.map(call => call.length);
const numbered = (count: number) => Array.from({ length: count }, (_, at) => at);

test("scenarios are spread over as few calls as can be, nearly evenly and in order", () => {
  assert.deepEqual(sizesOf(evenly(numbered(16), 16)), [16]);
  assert.deepEqual(sizesOf(evenly(numbered(17), 16)), [9, 8]);
  assert.deepEqual(evenly([], 16), []);
  fc.assert(
    fc.property(fc.nat({ max: 200 }), fc.integer({ min: 1, max: 20 }), (count, max) => {
      const calls = evenly(numbered(count), max);
      assert.deepEqual(calls.flat(), numbered(count));
      assert.equal(calls.length, Math.ceil(count / max));
      const sizes = sizesOf(calls);
      assert.ok(count === 0 || (Math.max(...sizes) <= max && Math.max(...sizes) - Math.min(...sizes) <= 1));
    }),
  );
});

test("criteria of any checks take as few calls as can be, each once", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 30 }), sizes => {
      const groups = sizes.map((size, check) => numbered(size).map(at => `${check}.${at}`));
      const calls = together(groups, 8);
      assert.equal(calls.length, Math.ceil(groups.flat().length / 8));
      assert.ok(sizesOf(calls).every(size => size >= 1 && size <= 8));
      assert.deepEqual(calls.flat().sort(), groups.flat().sort());
    }),
  );
});

test("a check is parted only where keeping it whole would take another call", () => {
  const check = (name: string, size: number) => numbered(size).map(() => name);
  const wholeIn = (calls: string[][], name: string) => calls.filter(call => call.includes(name)).length === 1;
  const fitting = together([check("a", 3), check("b", 6), check("c", 5), check("d", 2)], 8);
  assert.equal(fitting.length, 2);
  for (const name of ["a", "b", "c", "d"]) assert.ok(wholeIn(fitting, name), name);
  assert.deepEqual(sizesOf(together([check("a", 5), check("b", 5), check("c", 5)], 8)), [8, 7]);
});
