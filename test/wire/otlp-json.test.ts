// OTLP JSON spans and attribute values.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { readAnyValue } from "../../src/wire/any-value.ts";
import {
  decodedSpan,
  decodedValue,
  otherTraceId,
  otlpGroups,
  otlpRequest,
  otlpSpan,
  spanId,
} from "./make-body.ts";

const leastSpan = {
  span_id: spanId,
  parent_span_id: null,
  name: "",
  attributes: {},
  start_time_unix_nano: null,
  end_time_unix_nano: null,
  status: null,
  events: [],
};

type SentExtras = Partial<
  Record<"span" | "event" | "link" | "scope" | "scopeSpans" | "resource" | "resourceSpans", object>
>;

/** A request with one span, event and link, and these fields beside those that they need. */
function requestWith({ span, event, link, scope, scopeSpans, resource, resourceSpans }: SentExtras) {
  const sent = otlpSpan({ name: "", events: [{ ...event }], links: [{ ...link }], ...span });
  const attributes = [{ key: "service.name", value: { stringValue: "agent" } }];
  return {
    resourceSpans: [
      {
        resource: { attributes, ...resource },
        scopeSpans: [{ scope: { ...scope }, spans: [sent], ...scopeSpans }],
        ...resourceSpans,
      },
    ],
  };
}

suite("an OTLP span", () => {
  test("becomes a canonical one, with kind, links, events and scope", () => {
    const sent = otlpSpan({
      parentSpanId: "1111111111111111",
      kind: 3,
      startTimeUnixNano: "1795206705954000001",
      endTimeUnixNano: 1795206705,
      attributes: [{ key: "a", value: { stringValue: "b" } }],
      status: { code: 2, message: "boom" },
      events: [{ name: "e", timeUnixNano: "5", attributes: [{ key: "x", value: { boolValue: true } }] }, {}],
      links: [
        { traceId: otherTraceId.toUpperCase(), spanId, attributes: [{ key: "y", value: {} }] },
        { spanId: "?" },
      ],
      flags: 257,
      droppedAttributesCount: 1,
      droppedEventsCount: "2",
      droppedLinksCount: 3,
      traceState: "a=b",
      unknown: {},
    });
    const body = otlpRequest([sent]) as { resourceSpans: { scopeSpans: Record<string, unknown>[] }[] };
    body.resourceSpans[0]!.scopeSpans[0]!["schemaUrl"] = "https://opentelemetry.io/schemas/1.41.0";
    body.resourceSpans[0]!.scopeSpans[0]!["scope"] = {
      name: "lib",
      version: "1.0",
      attributes: [{ key: "s" }],
    };
    assert.deepEqual(otlpGroups(body)[0]!.batch.spans, [
      {
        span_id: spanId,
        parent_span_id: "1111111111111111",
        name: "step",
        attributes: { a: "b" },
        start_time_unix_nano: "1795206705954000001",
        end_time_unix_nano: "1795206705",
        status: { code: 2, message: "boom" },
        events: [
          { name: "e", time_unix_nano: "5", attributes: { x: true } },
          { name: "", time_unix_nano: null, attributes: {} },
        ],
        kind: 3,
        links: [
          { trace_id: otherTraceId, span_id: spanId, attributes: { y: null } },
          { trace_id: null, span_id: null, attributes: {} },
        ],
        dropped_attributes_count: 1,
        dropped_events_count: 2,
        dropped_links_count: 3,
        trace_state: "a=b",
        flags: 257,
        scope: {
          name: "lib",
          version: "1.0",
          attributes: { s: null },
          schema_url: "https://opentelemetry.io/schemas/1.41.0",
        },
      },
    ]);
  });

  const unreadable = {
    droppedAttributesCount: {},
    droppedEventsCount: -1,
    flags: "x",
    traceState: 7,
    schemaUrl: [],
    droppedLinksCount: "9".repeat(30),
  };
  const dropped: [of: string, sent: SentExtras, kept: Record<string, unknown>][] = [
    ["a span", { span: { droppedAttributesCount: 1 } }, { dropped_attributes_count: 1 }],
    ["an event", { event: { droppedAttributesCount: 2 } }, { events: [{ dropped_attributes_count: 2 }] }],
    ["a link", { link: { droppedAttributesCount: "3" } }, { links: [{ dropped_attributes_count: 3 }] }],
    [
      "a link's context",
      { link: { traceState: "a=b", flags: 257 } },
      { links: [{ trace_state: "a=b", flags: 257 }] },
    ],
    ["a scope", { scope: { droppedAttributesCount: 4 } }, { scope: { dropped_attributes_count: 4 } }],
    ["a scope's schema", { scopeSpans: { schemaUrl: "s" } }, { scope: { schema_url: "s" } }],
    ["a resource", { resource: { droppedAttributesCount: 5 } }, { resource_dropped_attributes_count: 5 }],
    ["a resource's schema", { resourceSpans: { schemaUrl: "r" } }, { resource_schema_url: "r" }],
    ["nothing", { span: { flags: 0 }, event: { droppedAttributesCount: 0 }, link: { traceState: "" } }, {}],
    [
      "nothing that can be read",
      {
        span: unreadable,
        event: unreadable,
        link: unreadable,
        scope: unreadable,
        scopeSpans: unreadable,
        resource: unreadable,
        resourceSpans: unreadable,
      },
      {},
    ],
  ];
  for (const [of, sent, kept] of dropped) {
    test(`keeps what an SDK says of ${of}`, () => {
      const [span] = otlpGroups(requestWith(sent))[0]!.batch.spans;
      const { events = [{}], links = [{}], ...rest } = kept as { events?: object[]; links?: object[] };
      assert.deepEqual(span, {
        ...leastSpan,
        events: [{ name: "", time_unix_nano: null, attributes: {}, ...events[0] }],
        links: [{ trace_id: null, span_id: null, attributes: {}, ...links[0] }],
        ...rest,
      });
    });
  }

  test("needs its ids only; null counts as absent", () => {
    const nulls = Object.fromEntries(
      ["name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status", "events", "links"].map(
        key => [key, null],
      ),
    );
    assert.deepEqual(decodedSpan({ name: undefined }), leastSpan);
    assert.deepEqual(decodedSpan(nulls), leastSpan);
  });

  const fields: [what: string, sent: Record<string, unknown>, read: Record<string, unknown>][] = [
    ["a time of 0 is absent", { startTimeUnixNano: "0", endTimeUnixNano: 0 }, { start_time_unix_nano: null }],
    ["a kind by its name", { kind: "SPAN_KIND_CONSUMER" }, { kind: 5 }],
    ["a kind of a later version", { kind: 9 }, { kind: 9 }],
    ["a negative kind, which protobuf can say, too", { kind: -1 }, { kind: -1 }],
    ["a negative status", { status: { code: -1 } }, { status: { code: -1 } }],
    ["an unspecified kind as none", { kind: "SPAN_KIND_UNSPECIFIED" }, {}],
    ["a status by its name", { status: { code: "STATUS_CODE_ERROR" } }, { status: { code: 2 } }],
    ["an unset status as none", { status: { code: 0, message: "" } }, { status: null }],
    ["an empty status as none", { status: {} }, { status: null }],
    ["an unset status with a message", { status: { message: "m" } }, { status: { message: "m" } }],
  ];
  for (const [what, sent, read] of fields) {
    test(`reads ${what}`, () => {
      const span = decodedSpan(sent);
      assert.deepEqual({ ...span, ...read }, span);
      assert.equal("kind" in span, "kind" in read);
    });
  }

  test("reads 64-bit times without losing a digit, as text or as numbers", () => {
    const numbers = ["18446744073709551615", "18446744073709551615.0", "1.8446744073709551615e19"];
    for (const written of ['"18446744073709551615"', ...numbers]) {
      const span = otlpSpan({
        startTimeUnixNano: "@",
        endTimeUnixNano: "@",
        events: [{ timeUnixNano: "@" }],
      });
      const body = JSON.stringify(otlpRequest([span])).replaceAll('"@"', written);
      const [read] = otlpGroups(body)[0]!.batch.spans;
      const times = [read!.start_time_unix_nano, read!.end_time_unix_nano];
      assert.deepEqual(times, ["18446744073709551615", "18446744073709551615"], written);
      assert.deepEqual(read!.events, [{ name: "", time_unix_nano: "18446744073709551615", attributes: {} }]);
    }
  });

  test("keeps attributes whose keys mean something to JavaScript", () => {
    const attributes = ["__proto__", "constructor", "", "a\u0000", "9"].map((key, i) => ({
      key,
      value: { intValue: i },
    }));
    const read = decodedSpan({ attributes }).attributes;
    assert.deepEqual(
      new Map(Object.entries(read)),
      new Map<string, unknown>([
        ["9", 4],
        ["__proto__", 0],
        ["constructor", 1],
        ["", 2],
        ["a\u0000", 3],
      ]),
    );
    assert.equal(Object.getPrototypeOf(read), Object.prototype);
  });

  test("keeps of an attribute sent twice the last", () => {
    const attributes = [1, 2].map(intValue => ({ key: "a", value: { intValue } }));
    assert.deepEqual(decodedSpan({ attributes }).attributes, { a: 2 });
  });
});

suite("an attribute value", () => {
  const values: [sent: unknown, read: unknown][] = [
    [{ stringValue: "text" }, "text"],
    [{ stringValue: "" }, ""],
    [{ boolValue: false }, false],
    [{ intValue: "25" }, 25],
    [{ intValue: 25 }, 25],
    [{ intValue: "-0" }, 0],
    [{ doubleValue: "-0" }, 0],
    [{ intValue: "-9007199254740991" }, -9007199254740991],
    [{ intValue: "9007199254740992" }, "9007199254740992"],
    [{ intValue: "-9223372036854775808" }, "-9223372036854775808"],
    [{ intValue: 1e21 }, "1000000000000000000000"],
    [{ doubleValue: 0.1 }, 0.1],
    [{ doubleValue: 1e21 }, 1e21],
    [{ doubleValue: "0.5" }, 0.5],
    [{ doubleValue: "1e-3" }, 0.001],
    [{ doubleValue: "NaN" }, "NaN"],
    [{ doubleValue: "Infinity" }, "Infinity"],
    [{ doubleValue: "-Infinity" }, "-Infinity"],
    [{ bytesValue: "AQID" }, "AQID"],
    [{ arrayValue: { values: [{ stringValue: "a" }, {}, { intValue: 1 }] } }, ["a", null, 1]],
    [{ arrayValue: {} }, []],
    [{ arrayValue: { values: null } }, []],
    [{ kvlistValue: { values: [{ key: "k", value: { intValue: 1 } }, { key: "l" }] } }, { k: 1, l: null }],
    [{ kvlistValue: { values: [{ value: { intValue: 1 } }] } }, { "": 1 }],
    [{ kvlistValue: { values: [{}, { key: null }] } }, { "": null }],
    [{ kvlistValue: {} }, {}],
    [{ arrayValue: { values: [{ arrayValue: { values: [{ kvlistValue: {} }] } }] } }, [[{}]]],
    [{}, null],
    [null, null],
    [undefined, null],
    [{ unknownValue: 1 }, null],
    [{ unknownValue: 1, stringValue: "a" }, "a"],
    [{ stringValue: null, intValue: "5" }, 5],
  ];
  for (const [sent, read] of values) {
    test(`is read: ${JSON.stringify(sent)}`, () => assert.deepEqual(decodedValue(sent), read));
  }

  const unreadable: [sent: unknown, read: unknown][] = [
    [{ doubleValue: null }, null],
    [{ doubleValue: "abc" }, "abc"],
    [{ doubleValue: "" }, ""],
    [{ doubleValue: true }, "true"],
    [{ doubleValue: [] }, null],
    [{ intValue: null }, null],
    [{ intValue: "abc" }, "abc"],
    [{ intValue: "1e3" }, "1e3"],
    [{ intValue: "" }, ""],
    [{ intValue: "9".repeat(500) }, "9".repeat(500)],
    [{ intValue: 1.5 }, "1.5"],
    [{ intValue: false }, "false"],
    [{ intValue: {} }, null],
    [{ stringValue: 5 }, "5"],
    [{ stringValue: {} }, null],
    [{ boolValue: "yes" }, "yes"],
    [{ boolValue: 1 }, "1"],
    [{ bytesValue: [1] }, null],
    [{ arrayValue: [1] }, null],
    [{ arrayValue: { values: {} } }, null],
    [{ arrayValue: { values: [null, 5, "x", []] } }, [null, "5", "x", null]],
    [{ kvlistValue: { values: 5 } }, null],
    [{ kvlistValue: { values: [null, 5, [], { key: 5 }, { key: "k", value: 1 }] } }, { k: "1" }],
    ["bare text", "bare text"],
    [5, "5"],
    [[], null],
  ];
  for (const [sent, read] of unreadable) {
    test(`that cannot be read becomes null or text: ${JSON.stringify(sent).slice(0, 60)}`, () =>
      assert.deepEqual(decodedValue(sent), read));
  }

  test("reads numbers that JSON.parse would round by their kind", () => {
    const value = (kind: string, written: string) => {
      const body = JSON.stringify(
        otlpRequest([otlpSpan({ attributes: [{ key: "a", value: { [kind]: 0 } }] })]),
      );
      return otlpGroups(body.replace(`"${kind}":0`, `"${kind}":${written}`))[0]!.batch.spans[0]!.attributes[
        "a"
      ];
    };
    assert.equal(value("intValue", "9007199254740993"), "9007199254740993");
    assert.equal(value("intValue", "-9223372036854775808"), "-9223372036854775808");
    assert.equal(value("intValue", "9007199254740993.0"), "9007199254740993");
    assert.equal(value("intValue", "9.007199254740993e15"), "9007199254740993");
    assert.equal(value("intValue", "-9.223372036854775807E+18"), "-9223372036854775807");
    assert.equal(value("intValue", "90071992547409930e-1"), "9007199254740993");
    assert.equal(value("intValue", "1e23"), `1${"0".repeat(23)}`);
    assert.equal(value("intValue", "1.5e1"), 15);
    assert.equal(value("intValue", "0e30"), 0);
    assert.equal(value("intValue", "1.50"), "1.5");
    assert.equal(value("intValue", "1e400"), "Infinity");
    assert.equal(value("doubleValue", "9007199254740993.0"), 9007199254740992);
    assert.equal(value("doubleValue", "1.7e18"), 1.7e18);
    assert.equal(value("doubleValue", "100000000000000000000"), 1e20);
    assert.equal(value("doubleValue", "1e400"), "Infinity");
    assert.equal(value("stringValue", "12345678901234567890"), "12345678901234567890");
  });

  test("is made of plain JSON, whatever was sent", () => {
    const kind = fc.constantFrom(
      "stringValue",
      "boolValue",
      "intValue",
      "doubleValue",
      "arrayValue",
      "kvlistValue",
      "bytesValue",
      "values",
      "key",
      "value",
      "__proto__",
    );
    const { anyValue } = fc.letrec<{ anyValue: unknown }>(tie => ({
      anyValue: fc.oneof(
        { depthSize: "medium" },
        fc.jsonValue(),
        fc.bigInt(),
        fc.double(),
        fc.stringMatching(/^-?\d{1,25}$/),
        fc.dictionary(kind, tie("anyValue"), { maxKeys: 3 }),
        fc.array(tie("anyValue"), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(anyValue, value => {
        const read = readAnyValue(value) as object;
        assert.deepEqual(JSON.parse(JSON.stringify(read)), read);
      }),
      { numRuns: 2_000 },
    );
  });
});
