// The rows of a JSON tree: what is unfolded at first, what a search leaves, and that no value costs too much.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findRows, jsonRows } from "../../web/ui/json-rows.ts";
import { pathText, valueAt } from "../../web/value-path.ts";

const paths = (value: unknown, folds = new Map<string, boolean>()) =>
  jsonRows(value, folds).map(({ path }) => pathText(path));

test("small values are unfolded initially, large ones and JSON in text are not", () => {
  const value = { a: { b: 1 }, large: Array.from({ length: 100 }, () => 0), text: '{"c":1}' };
  assert.deepEqual(paths(value), ["a", "a.b", "large", "text"]);
});

test("JSON within text unfolds when asked", () => {
  assert.deepEqual(paths({ text: '{"c":1}' }, new Map([['["text"]', true]])), ["text", "text.c"]);
});

test("the text of a list is shown as the list", () => {
  assert.deepEqual(paths('[{"a":1}]'), ["[0]", "[0].a"]);
});

test("a search finds keys and values at any depth, with their parents and nothing else", () => {
  const value = { a: { deep: [{ x: "needle" }, { x: "hay" }] }, needle: 1, text: '{"in":"NEEDLE"}', b: 2 };
  const { rows, found } = findRows(value, "needle");
  assert.deepEqual(
    rows.map(({ path }) => pathText(path)),
    ["a", "a.deep", "a.deep[0]", "a.deep[0].x", "needle", "text", "text.in"],
  );
  assert.equal(found, 4);
});

test("every row's path leads to its value", () => {
  fc.assert(
    fc.property(fc.object(), value => {
      const given: unknown = JSON.parse(JSON.stringify(value));
      for (const row of jsonRows(given, new Map())) assert.deepEqual(valueAt(given, row.path), row.value);
    }),
  );
});
