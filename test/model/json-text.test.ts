// JSON text in attributes: parsed exactly, and rejected if it would take too much memory.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { keptValuesMax, parseJson, ValueAllowance } from "../../src/model/json-text.ts";
import { nestedJson } from "./make-trace.ts";

suite("parseJson", () => {
  test("reads 200 levels and rejects 201, whatever they are made of", () => {
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    for (const nested of [nestedJson, objects]) {
      assert.notEqual(parseJson(nested(200)), undefined);
      assert.equal(parseJson(nested(201)), undefined);
    }
  });
  test("counts levels, not brackets next to each other", () => {
    assert.deepEqual(
      parseJson(`[${"[{}],".repeat(300)}[{}]]`),
      Array.from({ length: 301 }, () => [{}]),
    );
  });
  test("rejects fifteen million open brackets", () =>
    assert.equal(parseJson("[".repeat(15_000_000)), undefined));
  test("reads a million values and rejects more", () => {
    const ones = (count: number) => `[${"1,".repeat(count - 1)}1]`;
    assert.notEqual(parseJson(ones(999_999)), undefined);
    assert.equal(parseJson(ones(1_000_001)), undefined);
  });
  test("ignores brackets and commas within strings", () => {
    const text = `${"[".repeat(300)}\\"\\${",".repeat(1_100_000)}"\\`;
    assert.equal(parseJson(JSON.stringify(text)), text);
    assert.deepEqual(parseJson(JSON.stringify({ [text]: [text, 1] })), { [text]: [text, 1] });
  });
  test("integers beyond 2^53 are decimal text, other numbers are numbers", () => {
    assert.deepEqual(parseJson('{"a":9007199254740993,"b":[-9007199254740992,9007199254740991]}'), {
      a: "9007199254740993",
      b: ["-9007199254740992", 9007199254740991],
    });
    assert.deepEqual(parseJson("[1e20,12345678901234567.0,1e3]"), [1e20, 12345678901234568, 1e3]);
  });
  test("returns undefined for text that is not JSON, long or short", () => {
    for (const text of ["", "{'a':1}", '"open', '"\\"', `"${"x".repeat(500)}`, `${"x".repeat(500)}`]) {
      assert.equal(parseJson(text), undefined, text.slice(0, 20));
    }
  });
  test("reads text of ordinary size as it was written", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5, stringUnit: "binary" }),
        fc.string({ unit: "binary" }),
        (value, text) => {
          const padded = JSON.stringify([value, text.padEnd(500, '\\"[,')]);
          fc.pre(!/(?<![\d.])\d{16}/.test(padded));
          assert.equal(JSON.stringify(parseJson(padded)), padded);
        },
      ),
      { numRuns: 500 },
    );
  });
  test("keeps escaped keys, whatever keys were parsed before", () => {
    // Without care this V8 reads the second as the first.
    assert.deepEqual(Object.keys(parseJson('{"id":1,"gr\\\\u0":0}') as object), ["id", "gr\\u0"]);
    assert.deepEqual(Object.keys(parseJson('{"id":1,"gr\\u00f6\\u00dfe":0}') as object), ["id", "größe"]);
  });
  test("subtracts a text's values from its allowance, and rejects a text for which too little is left", () => {
    const allowance = new ValueAllowance();
    const ones = `[${"1,".repeat(899_999)}1]`;
    assert.notEqual(parseJson(ones, allowance), undefined);
    assert.notEqual(parseJson(ones, allowance), undefined);
    assert.deepEqual([allowance.used, allowance.exceeded], [1_800_000, false]);
    assert.equal(parseJson(ones, allowance), undefined);
    assert.deepEqual([allowance.used, allowance.exceeded], [1_800_000, true]);
    assert.deepEqual(parseJson('{"a":[1]}', allowance), { a: [1] });
    assert.equal(allowance.left, keptValuesMax - 1_800_002);
  });
});
