// Truncating values to what a page can show: small values stay whole, and truncated ones are marked.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { truncateValue } from "../../src/model/truncate.ts";

const bytesMax = 32 * 1024;
const valueAt = (value: unknown, path: (string | number)[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], value);

test("a value that fits is the same object, with nothing left out", () => {
  const value = { text: "a".repeat(4_000), list: [1, null, true, { deep: ["x"] }], none: {} };
  assert.deepEqual(truncateValue(value, bytesMax), { value, cuts: [], omissions: [] });
});

test("a long text is cut after 4,000 characters, never within one, with its full length", () => {
  const text = `${"a".repeat(3_999)}\u{1F600}${"b".repeat(100)}`;
  const { value, cuts } = truncateValue({ short: "s", long: text }, bytesMax);
  assert.deepEqual(value, { short: "s", long: "a".repeat(3_999) });
  assert.deepEqual(cuts, [{ path: ["long"], length: text.length }]);
});

test("a huge list does not shorten the texts next to it", () => {
  const list = Array.from({ length: 100_000 }, (_, at) => ({ at, text: "x".repeat(500) }));
  const value = { list, before: "b".repeat(3_000), after: "a".repeat(3_000) };
  const cut = truncateValue(value, bytesMax);
  assert.equal(cut.value.before, value.before);
  assert.equal(cut.value.after, value.after);
  assert.ok(cut.value.list.length > 10);
  assert.deepEqual(cut.omissions, [{ path: ["list"], entries: 100_000 }]);
});

test("any value stays near its limit of bytes, and every path leads to a cut value", () => {
  const hostile = [
    "\u0000".repeat(1_000_000),
    Array.from({ length: 50_000 }, () => "long enough to count"),
    Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`key.${at}`, "y".repeat(50)])),
    { [`${"k".repeat(100_000)}`]: 1, rest: "€".repeat(50_000) },
    Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => "z".repeat(300))),
    JSON.parse('{"__proto__":{"a":["b"]},"constructor":"c"}') as unknown,
  ];
  for (const given of hostile) {
    const { value, cuts, omissions } = truncateValue(given, bytesMax);
    assert.ok(Buffer.byteLength(JSON.stringify({ value, cuts, omissions })) < 2 * bytesMax);
    for (const { path, length } of cuts) {
      const left = valueAt(value, path) as string;
      assert.ok(left.length < length);
      assert.ok((valueAt(given, path) as string).startsWith(left));
    }
    for (const { path, entries } of omissions) {
      assert.equal(Object.keys(valueAt(given, path) as object).length, entries);
    }
  }
});

test("any small JSON is unchanged, including key order and unusual names", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), given => {
      const { value, cuts, omissions } = truncateValue(given, 1_000_000);
      assert.equal(JSON.stringify(value), JSON.stringify(given));
      assert.deepEqual([cuts, omissions], [[], []]);
    }),
  );
});
