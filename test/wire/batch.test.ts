// Stored batches: every string and key exactly as received.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { Attributes, Batch } from "../../src/model/trace/trace.ts";
import { encodeBatch } from "../../src/wire/batch.ts";
import { decodeBatch } from "../support/decode-batch.ts";

const batchOf = (attributes: Attributes): Batch => ({
  spans: [
    {
      span_id: "a",
      parent_span_id: null,
      name: "b",
      attributes,
      start_time_unix_nano: "18446744073709551615",
      end_time_unix_nano: null,
      status: null,
      events: [attributes],
    },
  ],
  resource: attributes,
  metadata: null,
});
const roundTrip = (batch: Batch) => decodeBatch(encodeBatch(batch).bytes);

suite("a batch at rest", () => {
  test("comes back as it was, whatever strings, keys and values it holds", () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom("\u0000", "\ud800", "\udfff", '"', "\\"), fc.string()),
    });
    const value = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { depthSize: "small" },
        text,
        fc.boolean(),
        fc.constant(null),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => number + 0),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.oneof(text, fc.constantFrom("__proto__", "constructor", "toString")), tie("value"), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(text, value, { noNullPrototype: true }), attributes => {
        const batch = batchOf(attributes);
        assert.deepEqual(roundTrip(batch), batch);
      }),
      { numRuns: 1_000 },
    );
  });

  test("keeps the order of keys, and __proto__ as a key", () => {
    const attributes = JSON.parse('{"z":1,"__proto__":{"polluted":1},"a":2}') as Attributes;
    const read = roundTrip(batchOf(attributes)).spans[0]!.attributes;
    assert.deepEqual(Object.keys(read), ["z", "__proto__", "a"]);
    assert.equal(({} as Attributes)["polluted"], undefined);
  });

  test("keeps keys with escapes, whatever keys were parsed before", () => {
    const [backslash, quote] = [batchOf({ x: 1, "ab\\": 0 }), batchOf({ x: 1, 'ab"': 0 })];
    assert.deepEqual(roundTrip(backslash), backslash);
    assert.deepEqual(roundTrip(quote), quote);
  });

  test("has 0 where it had −0, which JSON does not tell apart", () => {
    assert.deepEqual(roundTrip(batchOf({ zero: -0 })), batchOf({ zero: 0 }));
  });

  test("tells its length before compression", () => {
    const batch = batchOf({ text: "日本語".repeat(1_000) });
    const { bytes, rawLength } = encodeBatch(batch);
    assert.equal(rawLength, Buffer.byteLength(JSON.stringify(batch)));
    assert.ok(bytes.length < rawLength / 10);
  });
});
