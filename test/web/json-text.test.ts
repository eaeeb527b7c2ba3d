// Places in JSON text: found exactly where JSON.parse agrees that there is a document, or a fault.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseTestJson } from "../../web/exact-json.ts";
import { placeOf, readText } from "../../web/pages/test/json-text.ts";

test("an error is reported exactly when the text does not parse", () => {
  const damaged = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom("", ",", "}", "]", '"', ":", "\\", "\n", "0", "\u007f", "\u2028", "𝄞"),
    )
    .map(([text, at, put]) => {
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + put + text.slice(cut + (at % 2));
    });
  fc.assert(
    fc.property(damaged, text => {
      const read = readText(text);
      let value: unknown;
      try {
        value = parseTestJson(text);
      } catch {
        assert.equal(read.ok, false);
        assert.ok(!read.ok && read.fault.offset <= text.length);
        assert.ok(!read.ok && read.fault.message !== "Nested too deeply.");
        return;
      }
      assert.deepEqual(read, { ok: true, value });
      const { start, end } = placeOf(text, "");
      assert.deepEqual(parseTestJson(text.slice(start, end)), value);
    }),
    { numRuns: 2_000 },
  );
});

test("an error is located by line and column", () => {
  for (const [text, line, column] of [
    ['{\n  "a": [,]\n}', 2, 9],
    ["", 1, 1],
    ['{"a": 1}\n}', 2, 1],
    ['{"a" 1}', 1, 6],
    ['{"a": "\t"}', 1, 7],
    ["[1, 2", 1, 6],
    ["[01]", 1, 3],
    ['["1e999",\n 1e999]', 2, 2],
    ["[1, -1e400]", 1, 5],
  ] as const) {
    const read = readText(text);
    assert.ok(!read.ok, text);
    assert.deepEqual([read.fault.line, read.fault.column], [line, column], text);
  }
});

test("a path leads to its value, or to its nearest existing parent", () => {
  const text = '{ "assertions": [ { "id": "a" }, { "schema": { "a b": [1, {"$x": 2}] } } ] }';
  for (const [path, place] of [
    ["assertions[0].id", '"a"'],
    ['assertions[1].schema["a b"][1].$x', "2"],
    ["assertions[1].pattern", '{ "schema": { "a b": [1, {"$x": 2}] } }'],
    ["turns", text],
  ] as const) {
    const { start, end } = placeOf(text, path);
    assert.equal(text.slice(start, end), place, path);
  }
});
