// OTLP protobuf: the same traces as JSON, and bytes that are none.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { decodeBody } from "../../src/wire/body.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import type { OtlpGroup } from "../../src/wire/otlp-groups.ts";
import { encodeOtlp, field, varint } from "./encode-otlp.ts";
import {
  fixture,
  groupsOf,
  otherTraceId,
  otlpGroups,
  otlpRequest,
  otlpSpan,
  refusalOf,
  spanId,
  traceId,
} from "./make-body.ts";

const decode = (bytes: Buffer, limits = decodeLimits) => groupsOf(decodeBody(bytes, "protobuf", limits));
const invalid = (bytes: Buffer) => refusalOf("OTLP_PROTOBUF_INVALID", () => decode(bytes));

const ids = Buffer.concat([field(1, Buffer.from(traceId, "hex")), field(2, Buffer.from(spanId, "hex"))]);
const serviceName = field(1, Buffer.concat([field(1, "service.name"), field(2, field(1, "agent"))]));
/** A request whose one span has valid ids and these fields after them. */
const withSpanFields = (...fields: Buffer[]) =>
  field(1, Buffer.concat([field(1, serviceName), field(2, field(2, Buffer.concat([ids, ...fields])))]));
const spanOf = (bytes: Buffer) => {
  const [group] = decode(bytes);
  assert.equal(group!.refusal, null);
  return group!.batch.spans[0]!;
};
/** The value of attribute `a` from the bytes of its AnyValue. */
const attributeOf = (anyValue: Buffer) =>
  spanOf(withSpanFields(field(9, Buffer.concat([field(1, "a"), field(2, anyValue)])))).attributes["a"];

const plain = (groups: OtlpGroup[]) =>
  groups.map(group => ({
    ...group,
    refusal: group.refusal && { ...group.refusal, hint: group.refusal.hint },
  }));

suite("a protobuf request", () => {
  test("decodes to the groups of the same request in JSON, whatever it holds", () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
    const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
    const text = fc.string({ unit: "grapheme" });
    const hex = (digits: number) =>
      fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: digits, maxLength: digits });
    const { anyValue } = fc.letrec<{ anyValue: unknown; keyValue: unknown }>(tie => ({
      anyValue: fc.oneof(
        { depthSize: "small" },
        fc.constant({}),
        fc.record({ stringValue: text }),
        fc.record({ boolValue: fc.boolean() }),
        fc.record({ intValue: int64 }),
        fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
        fc.record({
          bytesValue: fc.uint8Array({ maxLength: 9 }).map(bytes => Buffer.from(bytes).toString("base64")),
        }),
        fc.record({ arrayValue: fc.record({ values: fc.array(tie("anyValue"), { maxLength: 3 }) }) }),
        fc.record({ kvlistValue: fc.record({ values: fc.array(tie("keyValue"), { maxLength: 3 }) }) }),
      ),
      keyValue: fc.record({ key: fc.oneof(text, fc.constant("__proto__")), value: tie("anyValue") }),
    }));
    const attributes = fc.array(fc.record({ key: text, value: anyValue }), { maxLength: 4 });
    const serviceNames = fc.constantFrom<object[]>(
      [{ stringValue: "agent" }],
      [{ stringValue: "other" }],
      [{ intValue: "9007199254740993" }],
      [],
    );
    const uint32 = fc.oneof(fc.constant(0), fc.nat(), fc.constant(2 ** 32 - 1));
    const dropped = { droppedAttributesCount: uint32 };
    const span = fc.record({
      traceId: fc.constantFrom(traceId, otherTraceId, "0".repeat(32)),
      spanId: hex(16),
      parentSpanId: fc.oneof(hex(16), fc.constantFrom("", "0".repeat(16))),
      name: text,
      kind: fc.nat(5),
      startTimeUnixNano: uint64,
      endTimeUnixNano: uint64,
      attributes,
      status: fc.record({ code: fc.nat(2), message: text }),
      traceState: text,
      flags: uint32,
      droppedEventsCount: uint32,
      droppedLinksCount: uint32,
      ...dropped,
      events: fc.array(fc.record({ name: text, timeUnixNano: uint64, attributes, ...dropped }), {
        maxLength: 2,
      }),
      links: fc.array(
        fc.record({
          traceId: hex(32),
          spanId: hex(16),
          attributes,
          traceState: text,
          flags: uint32,
          ...dropped,
        }),
        { maxLength: 2 },
      ),
    });
    const request = fc.array(
      fc.record({
        resource: fc.record({
          attributes: fc
            .tuple(serviceNames, attributes)
            .map(([names, list]) => [...names.map(value => ({ key: "service.name", value })), ...list]),
          ...dropped,
        }),
        schemaUrl: text,
        scopeSpans: fc.array(
          fc.record({
            scope: fc.record({ name: text, attributes, ...dropped }),
            schemaUrl: text,
            spans: fc.array(span, { maxLength: 3 }),
          }),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 3 },
    );
    const outcome = (read: () => OtlpGroup[]) => {
      try {
        return plain(read());
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    fc.assert(
      fc.property(request, list => {
        const body = { resourceSpans: list };
        assert.deepEqual(
          outcome(() => decode(encodeOtlp(body))),
          outcome(() => otlpGroups(body)),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("may have its fields in any order, in pieces, and among unknown ones", () => {
    const span = Buffer.concat([field(5, "step"), field(99, "unknown"), ids]);
    const scopeSpans = field(
      2,
      Buffer.concat([field(2, span), field(1, field(1, "lib")), field(3, "schema")]),
    );
    const more = field(1, field(1, Buffer.concat([field(1, "k"), field(2, field(1, "v"))])));
    const [group] = decode(
      field(1, Buffer.concat([scopeSpans, field(3, "schema"), field(1, serviceName), more])),
    );
    assert.equal(group!.serviceName, "agent");
    assert.deepEqual(group!.batch.resource, { "service.name": "agent", k: "v" });
    assert.deepEqual(group!.batch.spans[0]!.scope, { name: "lib", schema_url: "schema" });
  });

  test("takes of a value that holds two kinds the last, so that service.name may end as no text", () => {
    const text = field(1, "agent");
    const number = Buffer.from([24, 5]);
    const named = (...kinds: Buffer[]) => {
      const attribute = Buffer.concat([field(1, "service.name"), field(2, Buffer.concat(kinds))]);
      return decode(field(1, Buffer.concat([field(1, field(1, attribute)), field(2, field(2, ids))])))[0]!;
    };
    assert.equal(named(number, text).serviceName, "agent");
    assert.equal(named(text, number).refusal!.code, "OTLP_SERVICE_NAME_REQUIRED");
    assert.deepEqual(attributeOf(Buffer.concat([text, number])), 5);
  });

  test("ignores a known field of another wire type, and groups", () => {
    const kindAsBytes = field(6, "server");
    const nameAsNumber = Buffer.concat([varint(5 * 8), varint(7)]);
    const group = Buffer.concat([varint(30 * 8 + 3), varint(8), varint(1), varint(30 * 8 + 4)]);
    assert.equal(spanOf(withSpanFields(kindAsBytes, nameAsNumber, group, field(5, "step"))).name, "step");
  });

  test("with invalid UTF-8 in a string has U+FFFD there", () => {
    const bytes = withSpanFields(field(5, Buffer.from([0x61, 0xff, 0x62])));
    assert.equal(spanOf(bytes).name, "a\ufffdb");
    assert.equal(attributeOf(field(1, Buffer.from([0xe6, 0x97]))), "\ufffd");
  });

  test("reads NaN and the infinities as text, and an integer of any length", () => {
    const double = (value: number) => {
      const bytes = Buffer.alloc(9);
      bytes[0] = 4 * 8 + 1;
      bytes.writeDoubleLE(value, 1);
      return bytes;
    };
    assert.equal(attributeOf(double(Number.NaN)), "NaN");
    assert.equal(attributeOf(double(Infinity)), "Infinity");
    assert.equal(attributeOf(double(-Infinity)), "-Infinity");
    assert.equal(attributeOf(double(-0)), 0);
    assert.equal(attributeOf(Buffer.from([24, 0x85, 0x80, 0x00])), 5);
  });
});

suite("an id in protobuf", () => {
  const request = (traceId: Buffer, spanId: Buffer, parent = Buffer.alloc(0)) =>
    field(
      1,
      Buffer.concat([
        field(1, serviceName),
        field(2, field(2, Buffer.concat([field(1, traceId), field(2, spanId), field(4, parent)]))),
      ]),
    );
  const good = { trace: Buffer.alloc(16, 1), span: Buffer.alloc(8, 2) };
  const bad: [name: string, bytes: Buffer][] = [
    ["traceId as hexadecimal text", request(Buffer.from(traceId), good.span)],
    ["traceId of a megabyte", request(Buffer.alloc(1_000_000, 1), good.span)],
    ["traceId that is missing", request(Buffer.alloc(0), good.span)],
    ["traceId of zeros", request(Buffer.alloc(16), good.span)],
    ["long spanId", request(good.trace, good.trace)],
    ["spanId that is missing", request(good.trace, Buffer.alloc(0))],
    ["spanId of zeros", request(good.trace, Buffer.alloc(8))],
    ["parentSpanId of zeros", request(good.trace, good.span, Buffer.alloc(8))],
    ["short parentSpanId", request(good.trace, good.span, Buffer.alloc(2, 1))],
  ];
  for (const [name, bytes] of bad) {
    test(`is refused: ${name}`, () => assert.equal(decode(bytes)[0]!.refusal?.code, "OTLP_ID_INVALID"));
  }

  test("is missing from every record of a logs export, which is refused and told so", () => {
    // A log record: its time is field 1 and fixed64, its text field 3, its body field 5, an AnyValue.
    const time = Buffer.concat([varint(1 * 8 + 1), Buffer.alloc(8, 1)]);
    const record = Buffer.concat([
      time,
      varint(2 * 8),
      varint(9),
      field(3, "INFO"),
      field(5, field(1, "hello")),
    ]);
    const logs = field(1, Buffer.concat([field(1, serviceName), field(2, field(2, record))]));
    const [group] = decode(logs);
    assert.equal(group!.refusal!.code, "OTLP_ID_INVALID");
    assert.match(group!.refusal!.hint!, /logs/);
  });
});

suite("bytes that are not the protobuf of a request are refused", () => {
  const overlong = Buffer.alloc(20, 0xff);
  const cases: [name: string, bytes: Buffer][] = [
    ["JSON", Buffer.from(JSON.stringify(otlpRequest([otlpSpan()])))],
    ["an empty JSON object", Buffer.from("{}")],
    ["gzip", Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])],
    ["a length beyond the end", Buffer.from([0x0a, 100, 1])],
    ["a length of 4 GB", Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])],
    ["a length that never ends", Buffer.concat([Buffer.from([0x0a]), overlong])],
    ["a tag that never ends", overlong],
    ["field number 0", Buffer.from([0x02, 0])],
    ["wire type 6", Buffer.from([0x0e])],
    ["wire type 7", Buffer.from([0x0f])],
    ["the end of a group that never began", Buffer.from([0x0c])],
    ["a group that never ends", Buffer.from([0x0b, 0x0b, 0x0b])],
    ["a thousand nested groups", Buffer.alloc(1_000, 0x0b)],
    ["a message longer than the one that holds it", field(1, Buffer.from([0x12, 50]))],
    ["a string longer than its message", withSpanFields(Buffer.from([0x2a, 50, 0x61]))],
    ["a time cut short", withSpanFields(Buffer.from([7 * 8 + 1, 1, 2, 3]))],
    ["an integer cut short", withSpanFields(field(9, field(2, Buffer.from([24, 0x80]))))],
    ["a double cut short", withSpanFields(field(9, field(2, Buffer.from([33, 1]))))],
  ];
  for (const [name, bytes] of cases) {
    test(name, () => assert.equal(invalid(bytes).status, 400));
  }

  test("the recorded request, cut anywhere within", () => {
    const whole = fixture("11-vercel-ai-v7-otel-tool-loop.pb");
    for (let end = 1; end < whole.length; end += 7) invalid(whole.subarray(0, end));
  });
});

suite("a protobuf bomb", () => {
  /** An AnyValue inside `levels` lists: two messages a level. */
  const nested = (levels: number) => {
    let value: Buffer = Buffer.alloc(0);
    for (let i = 0; i < levels; i++) value = field(5, field(1, value));
    return withSpanFields(field(9, Buffer.concat([field(1, "a"), field(2, value)])));
  };

  test("of nested values is refused beyond 200 messages", () => {
    // Around the innermost value stand five messages: resourceSpans, scopeSpans, span, attribute, its value.
    const limits = { ...decodeLimits, nestingMax: 200 };
    assert.equal(decode(nested(97), limits)[0]!.refusal, null);
    refusalOf("VALIDATION_ERROR", () => decode(nested(98), limits));
    refusalOf("VALIDATION_ERROR", () => decode(nested(2_000), limits));
  });

  test("of empty messages is refused before they are all built", () => {
    const limits = { ...decodeLimits, elementsMax: 1_000 };
    for (const number of [9, 11, 13, 15]) {
      const unit = field(number, "");
      refusalOf("PAYLOAD_TOO_LARGE", () =>
        decode(withSpanFields(Buffer.alloc(2_000 * unit.length, unit)), limits),
      );
    }
    assert.equal(decode(withSpanFields(Buffer.alloc(900 * 2, field(9, ""))), limits).length, 1);
  });
});
