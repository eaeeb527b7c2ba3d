// Which JSON has escaped keys, and so is not left to JSON.parse.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hasEscapedKey } from "../../src/model/json-exact.ts";

test("escapes in keys are told from escapes in values", () => {
  const cases = [
    ['{"a\\n":1}', true],
    ['{"a\\"":1}', true],
    ['{"\\u00e4" \t\r\n:1}', true],
    ['[{"a":"\\n"},{"b\\\\":[]}]', true],
    ['{"a":"\\n"}', false],
    ['{"a":"\\\\"}', false],
    ['{"a":"\\":1"}', false],
    ['"\\n"', false],
    ['{"a":1}', false],
    ["1", false],
  ] as const;
  for (const [text, expected] of cases) assert.equal(hasEscapedKey(text), expected, text);
});

test("any key that JSON escapes is found, and nothing else", () => {
  const isEscaped = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([key, inner]) => JSON.stringify(key).includes("\\") || isEscaped(inner));
  let found = 0;
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
      const expected = isEscaped(value);
      assert.equal(hasEscapedKey(JSON.stringify(value, null, indent)), expected);
      found += Number(expected);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(found > 0);
});

test("a text of a million escapes is read once", () => {
  assert.equal(hasEscapedKey(JSON.stringify(['"\n'.repeat(500_000)])), false);
});
