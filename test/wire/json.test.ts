// JSON bodies: limits, UTF-8, and numbers without a lost digit.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { parseExactly } from "../../src/model/json-exact.ts";
import { decodeBody } from "../../src/wire/body.ts";
import { parseJson } from "../../src/wire/json.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import { canonicalSpans, decodeJson, otlpRequest, otlpSpan, refusalOf } from "./make-body.ts";

const parse = (text: string) => parseJson(Buffer.from(text), decodeLimits).value;
const attributesOf = (text: string) =>
  canonicalSpans(`{"spans":[{"span_id":"a","name":"b","attributes":${text}}]}`)[0]!.attributes;

suite("a body that is not a trace", () => {
  const notJson = ["", " ", "{", "{]", '{"spans":[}', "{'spans':[]}", '{"a":1}x', '"open', "NaN", "[1,]"];
  for (const body of notJson) {
    test(`is refused as no JSON: ${JSON.stringify(body)}`, () => {
      const refusal = refusalOf("VALIDATION_ERROR", () => decodeJson(body));
      assert.match(refusal.message, /not valid JSON/);
    });
  }

  test("is never quoted in the answer", () => {
    const { message } = refusalOf("VALIDATION_ERROR", () => decodeJson('{"spans": secret-token}'));
    assert.doesNotMatch(message, /secret/);
  });

  test("is chosen by the one format that is not null", () => {
    assert.equal(decodeJson({ spans: [{ span_id: "a", name: "b" }], resourceSpans: null }).path, "canonical");
    assert.equal(decodeJson({ ...otlpRequest([otlpSpan()]), spans: null }).path, "otlp");
  });
});

suite("text", () => {
  const valid = '{"spans":[{"span_id":"a","name":"b"}]}';
  const bodies: Record<string, Buffer> = {
    "invalid UTF-8": Buffer.concat([
      Buffer.from('{"spans":[{"span_id":"'),
      Buffer.from([0xff]),
      Buffer.from('","name":"b"}]}'),
    ]),
    "an encoded surrogate": Buffer.concat([
      Buffer.from('{"spans":[{"span_id":"'),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from('","name":"b"}]}'),
    ]),
    "two byte order marks": Buffer.from(`\ufeff\ufeff${valid}`),
    "a byte order mark at its end": Buffer.from(`${valid}\ufeff`),
    "UTF-16": Buffer.from(valid, "utf16le"),
  };
  for (const [name, bytes] of Object.entries(bodies)) {
    test(`with ${name} is refused`, () => {
      refusalOf("VALIDATION_ERROR", () => decodeBody(bytes, "json", decodeLimits));
    });
  }

  test("may begin with a byte order mark, which is not kept, whatever follows it", () => {
    const exact = valid.replace('"b"', '"b","attributes":{"n":12345678901234567890}');
    for (const text of [valid, exact, JSON.stringify(otlpRequest([otlpSpan()]))]) {
      const [marked, plain] = [`\ufeff${text}`, text].map(one =>
        decodeBody(Buffer.from(one), "json", decodeLimits),
      );
      assert.deepEqual(marked, plain);
    }
  });
});

suite("numbers", () => {
  const kept: [written: string, read: unknown][] = [
    ["0", 0],
    ["9007199254740991", 9007199254740991],
    ["-9007199254740991", -9007199254740991],
    ["9007199254740992", "9007199254740992"],
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993", "-9007199254740993"],
    ["18446744073709551615", "18446744073709551615"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
    ["1e3", 1000],
    ["1e21", 1e21],
    ["0.1", 0.1],
    ["0.0016762820000000146", 0.0016762820000000146],
    ["1234567890123456.5", 1234567890123456.5],
    ["1e-400", 0],
    ["1e400", "Infinity"],
    ["-1E+400", "-Infinity"],
    [`1${"0".repeat(400)}`, `1${"0".repeat(400)}`],
    [`-${"9".repeat(5000)}`, `-${"9".repeat(5000)}`],
    ['"9007199254740993"', "9007199254740993"],
    ['["1e400",{"a":12345678901234567890}]', ["1e400", { a: "12345678901234567890" }]],
  ];
  for (const [written, read] of kept) {
    test(`lose no digit: ${written.slice(0, 40)}`, () => {
      assert.deepEqual(attributesOf(`{"a":${written},"b":1.5,"c":"x"}`), { a: read, b: 1.5, c: "x" });
    });
  }

  test("are kept in metadata and events too", () => {
    const body = decodeJson(
      '{"spans":[{"span_id":"a","name":"b","events":[{"n":12345678901234567890}]}],"metadata":{"n":12345678901234567890}}',
    );
    assert.ok(body.path === "canonical");
    assert.deepEqual(body.batch.metadata, { n: "12345678901234567890" });
    assert.deepEqual(body.batch.spans[0]!.events, [{ n: "12345678901234567890" }]);
  });

  test("do not become strings where a string is asked for", () => {
    const long = "12345678901234567890";
    const refusal = refusalOf("VALIDATION_ERROR", () =>
      decodeJson(`{"spans":[{"span_id":${long},"name":${long},"parent_span_id":${long}}]}`),
    );
    assert.deepEqual(
      refusal.issues!.map(issue => issue.path),
      ["spans[0].span_id", "spans[0].parent_span_id", "spans[0].name"],
    );
  });

  test("are parsed the slow way only when one of them needs it", () => {
    const exact = (text: string) => parseJson(Buffer.from(text), decodeLimits).exact;
    for (const text of [
      '{"a":"1234567890123456789"}',
      '{"a":"\\"1234567890123456789"}',
      "[0.12345678901234567]",
      "[123456789012345]",
      "[1.7e14,123456.789e9]",
      "[1.234e-17,123456789012345e-400]",
    ])
      assert.equal(exact(text), false, text);
    for (const text of [
      "[1234567890123456]",
      "[-1234567890123456]",
      "[1,[1e400]]",
      '{"a":1234567890123456}',
      "[1.7e15]",
      "[-1234567.8E+009]",
    ])
      assert.equal(exact(text), true, text);
  });

  test("with a fraction or an exponent are doubles", () => {
    for (const written of ["1.7e18", "1.5e1", "9007199254740993.0", "-9.007199254740993e15", "1e22"])
      assert.deepEqual(attributesOf(`{"a":${written}}`), { a: Number(written) }, written);
  });

  test("of integer fields keep every digit, wherever their point is", () => {
    const written = fc.record({
      integer: fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).filter(integer => integer !== 0n),
      point: fc.integer({ min: -25, max: 25 }),
      e: fc.constantFrom("e", "E", "e+0"),
    });
    fc.assert(
      fc.property(written, ({ integer, point, e }) => {
        const sign = integer < 0n ? "-" : "";
        const digits = (integer < 0n ? -integer : integer).toString();
        // The digits with their point moved to the left, or with zeros, and the exponent that undoes it.
        const padded = digits.padStart(point + 1, "0");
        const number =
          point > 0
            ? `${sign}${padded.slice(0, -point)}.${padded.slice(-point)}${e}${point}`
            : `${sign}${digits}${"0".repeat(-point)}e${point}`;
        const { intValue } = parse(`{"intValue":${number}}`) as { intValue: number | bigint };
        assert.equal(BigInt(intValue), integer, number);
      }),
    );
  });

  test("of integer fields that denote no integer are read as doubles", () => {
    for (const number of ["1.5", "9007199254740993.5", "123456789012345678901e-2", "1e-400"])
      assert.deepEqual(parse(`{"intValue":${number}}`), { intValue: Number(number) }, number);
  });
});

suite("nesting", () => {
  const limits = { ...decodeLimits, nestingMax: 200 };
  const nested = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels);

  test("of 200 levels is read, of 201 is refused, in lists and in objects", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":[', "]}"],
    ] as const) {
      const levels = 200 / open.replace(/[^[{]/g, "").length;
      assert.ok(parseJson(Buffer.from(nested(levels, open, close)), limits).value);
      const refusal = refusalOf("VALIDATION_ERROR", () =>
        parseJson(Buffer.from(`[${nested(levels, open, close)}]`), limits),
      );
      assert.match(refusal.message, /200 levels/);
    }
  });

  test("counts what is open, not what was opened", () => {
    const wide = `[${Array.from({ length: 500 }, () => "[[]]").join(",")}]`;
    assert.equal((parse(wide) as unknown[]).length, 500);
  });

  test("inside a string is text", () => {
    const text = `\\"${"[{".repeat(500)}`;
    assert.deepEqual(parse(`{"a":"${text}"}`), { a: `"${"[{".repeat(500)}` });
  });
});

suite("elements", () => {
  const limits = { ...decodeLimits, elementsMax: 1_000 };

  test("up to the limit are read, one more is 413", () => {
    const list = (length: number) => Buffer.from(JSON.stringify(Array(length).fill(0)));
    assert.ok(parseJson(list(1_000), limits).value);
    assert.equal(refusalOf("PAYLOAD_TOO_LARGE", () => parseJson(list(1_001), limits)).status, 413);
  });

  test("are counted before anything is built, whatever follows", () => {
    const hostile = Buffer.from(`{"spans":[${"{},".repeat(2_000)}not JSON`);
    refusalOf("PAYLOAD_TOO_LARGE", () => parseJson(hostile, limits));
  });

  test("inside strings are not counted", () => {
    assert.ok(parseJson(Buffer.from(JSON.stringify([",".repeat(2_000), '{["'.repeat(2_000)])), limits).value);
  });
});

suite("keys with escapes", () => {
  test("keep their name, whatever keys were parsed before", () => {
    // Without care this V8 reads the second of each pair as the first.
    const pairs = [
      ["\\", "\n"],
      ["ab\\", 'ab"'],
      ["\\u", "日本"],
    ] as const;
    for (const [before, key] of pairs) {
      const escaped = JSON.stringify(key).replace(/[^ -~]/g, char => `\\u${char.charCodeAt(0).toString(16)}`);
      for (const blank of ["", " \t\r\n"]) {
        assert.deepEqual(Object.keys(parse(`{"x":1,${JSON.stringify(before)}:0}`) as object), ["x", before]);
        const [, read] = Object.keys(parse(`{"x":1,${escaped}${blank}:1}`) as object);
        assert.equal(read, key);
      }
    }
  });

  test("are read among everything else that JSON can hold", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
        const sent = { "\n": value, list: [value, 1e20, ""] };
        const read = parseExactly(JSON.stringify(sent, null, indent), Number);
        assert.equal(JSON.stringify(read), JSON.stringify(sent));
      }),
      { numRuns: 1_000 },
    );
  });
});

suite("keys that mean something to JavaScript", () => {
  test("are plain data, and pollute nothing", () => {
    const text =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"n":12345678901234567890}';
    for (const attributes of [attributesOf(text), attributesOf(text.replace("12345678901234567890", "1"))]) {
      assert.deepEqual(Object.keys(attributes), ["__proto__", "constructor", "toString", "n"]);
      assert.deepEqual(Object.getOwnPropertyDescriptor(attributes, "__proto__")!.value, { polluted: 1 });
    }
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  });

  test("count once when sent twice: the last", () => {
    assert.deepEqual(attributesOf('{"a":1,"a":2}'), { a: 2 });
    assert.equal(canonicalSpans('{"spans":[],"spans":[{"span_id":"a","name":"b"}]}').length, 1);
  });
});
