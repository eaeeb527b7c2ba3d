// JSON as the dashboard reads and writes it: no digit lost, and no text that is not JSON taken for it.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { parseExact, parseTestJson, printExact } from "../../web/exact-json.ts";
import { pathText, valueAt } from "../../web/value-path.ts";
import { nestedJson } from "../model/make-trace.ts";

suite("what is read is written again as it was", () => {
  const texts = [
    '{"id":9007199254740993}',
    '{"list":[18446744073709551615,-9223372036854775808,1]}',
    '{"a":{"b":[]},"c":"9007199254740993","d":null,"e":1.5}',
    '{"__proto__":{"x":1},"constructor":2}',
    '["\\u0000","\\ud800"]',
  ];
  for (const text of texts) test(text, () => assert.equal(printExact(parseExact(text), 0), text));
  test("any JSON", () => {
    const structure = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(structure, value => {
        const text = JSON.stringify(value);
        assert.equal(printExact(parseExact(text), 0), text);
      }),
    );
  });
});

test("integers beyond 2^53 in a test case become text, other numbers stay", () => {
  const text = '{"id":9007199254740993,"max":[-9223372036854775808,9007199254740991],"n":1e20,"s":"\\u0031"}';
  assert.deepEqual(parseTestJson(text), {
    id: "9007199254740993",
    max: ["-9223372036854775808", 9007199254740991],
    n: 1e20,
    s: "1",
  });
});

test("digits in a test case are kept without the help of the browser's JSON.parse", t => {
  const parse = JSON.parse;
  t.mock.method(JSON, "parse", (text: string, reviver?: (key: string, value: unknown) => unknown) =>
    parse(text, reviver && ((key, value) => reviver(key, value))),
  );
  assert.deepEqual(parseTestJson('{"a\\"9007199254740993":[9007199254740993,"9007199254740993"]}'), {
    'a"9007199254740993': ["9007199254740993", "9007199254740993"],
  });
});

test("a test case with a long string, or any JSON beside a long integer, is parsed as by JSON.parse", () => {
  const long = `${"\\".repeat(1_000_001)}"`;
  assert.deepEqual(parseTestJson(JSON.stringify([long, 1e16])), [long, "10000000000000000"]);
  fc.assert(
    fc.property(fc.json(), json => {
      const text = `[${json},9007199254740993]`;
      const [value] = JSON.parse(text);
      const isKept = !/\d{16}|e\+?\d{3}/i.test(json);
      if (isKept) assert.deepEqual(parseTestJson(text), [value, "9007199254740993"]);
    }),
  );
});

suite("what is no list and no object is left as text", () => {
  for (const text of ["", "12", '"a"', "null", "{", "[1,]", "{a:1}", "[", nestedJson(100_000).slice(1)]) {
    test(text.slice(0, 20), () => assert.equal(parseExact(text), undefined));
  }
});

suite("a value is found by its path, through JSON text", () => {
  const span = {
    attributes: { messages: '[{"parts":[{"args":"{\\"n\\":9007199254740993}"}]}]', plain: "x" },
  };
  const cases: [(string | number)[], unknown][] = [
    [["attributes", "plain"], "x"],
    [["attributes", "messages", 0, "parts", 0, "args", "n"], 9007199254740993n],
    [["attributes", "messages", 1], undefined],
    [["attributes", "plain", 0], undefined],
    [["attributes", "constructor"], undefined],
    [[], span],
  ];
  for (const [path, expected] of cases)
    test(pathText(path), () => assert.deepEqual(valueAt(span, path), expected));
});

test("a path is written as in JavaScript", () => {
  assert.equal(pathText(["a", 0, "b c", "d"]), 'a[0]["b c"].d');
});
