// How an OTLP request becomes traces, and which of them are refused.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { RefusalCode } from "../../src/model/refusals.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import {
  decodeJson,
  otherTraceId,
  otlpGroups,
  otlpRequest,
  otlpSpan,
  refusalOf,
  resourceSpans,
  spanId,
  traceId,
} from "./make-body.ts";

type Json = Record<string, unknown>;

const id = (n: number) => n.toString(16).padStart(16, "0");
const summary = (body: unknown) =>
  otlpGroups(body).map(({ serviceName, traceId, spanCount, refusal }) => [
    serviceName,
    traceId,
    spanCount,
    refusal?.code ?? null,
  ]);
/** The code that refuses the one group this span makes, and the path it names. */
const fate = (sent: unknown): [RefusalCode | undefined, string | undefined] => {
  const [group] = otlpGroups(otlpRequest([sent]));
  return [group!.refusal?.code, group!.refusal?.issues?.[0]?.path];
};

suite("spans are grouped", () => {
  test("by service and trace, in order of first appearance", () => {
    const body = {
      resourceSpans: [
        resourceSpans("b", [otlpSpan({ spanId: id(1) }), otlpSpan({ spanId: id(2), traceId: otherTraceId })]),
        resourceSpans("a", [otlpSpan({ spanId: id(3) })]),
        resourceSpans("b", [otlpSpan({ spanId: id(4) })]),
      ],
    };
    assert.deepEqual(summary(body), [
      ["b", traceId, 2, null],
      ["b", otherTraceId, 1, null],
      ["a", traceId, 1, null],
    ]);
    assert.deepEqual(
      otlpGroups(body)[0]!.batch.spans.map(span => span.span_id),
      [id(1), id(4)],
    );
  });

  test("whatever the case of their ids, which are kept in lower case", () => {
    const upper = otlpSpan({
      traceId: traceId.toUpperCase(),
      spanId: "ABCDEF0123456789",
      parentSpanId: "FEDCBA9876543210",
    });
    const [group, ...others] = otlpGroups(otlpRequest([otlpSpan(), upper]));
    assert.equal(others.length, 0);
    assert.equal(group!.traceId, traceId);
    assert.equal(group!.batch.spans[1]!.span_id, "abcdef0123456789");
    assert.equal(group!.batch.spans[1]!.parent_span_id, "fedcba9876543210");
  });

  test("with a span_id sent twice kept once: the last, though both are counted", () => {
    const [group] = otlpGroups(
      otlpRequest([
        otlpSpan({ name: "first" }),
        otlpSpan({ spanId: id(2) }),
        otlpSpan({ spanId: spanId.toUpperCase(), name: "last" }),
      ]),
    );
    assert.equal(group!.spanCount, 3);
    assert.deepEqual(
      group!.batch.spans.map(span => span.name),
      ["last", "step"],
    );
  });

  test("with the first resource on the batch, and on a span only one that differs", () => {
    const version = (stringValue: string) => [{ key: "service.version", value: { stringValue } }];
    const [group] = otlpGroups({
      resourceSpans: [
        resourceSpans("agent", [otlpSpan({ spanId: id(1) })], version("1")),
        resourceSpans("agent", [otlpSpan({ spanId: id(2) }), otlpSpan({ spanId: id(3) })], version("2")),
        resourceSpans("agent", [otlpSpan({ spanId: id(4) })], version("1")),
      ],
    });
    assert.deepEqual(group!.batch.resource, { "service.name": "agent", "service.version": "1" });
    assert.deepEqual(
      group!.batch.spans.map(span => span.resource?.["service.version"]),
      [undefined, "2", "2", undefined],
    );
  });
});

suite("what spans and traces share", () => {
  const spans = (count: number, ownTraces = false) =>
    Array.from({ length: count }, (_, at) =>
      otlpSpan({ spanId: id(at + 1), ...(ownTraces && { traceId: id(at + 1).padStart(32, "0") }) }),
    );
  const long = { key: "long", value: { stringValue: "x".repeat(1024 * 1024) } };

  const other = (mb: number) =>
    otlpSpan({
      spanId: "f".repeat(16),
      attributes: [{ ...long, value: { stringValue: "x".repeat(mb << 20) } }],
    });

  const bodies: [what: string, body: (count: number, otherMb: number) => unknown][] = [
    [
      "a scope",
      (count, mb) => {
        const scopeSpans = [{ scope: { attributes: [long] }, spans: [...spans(count), other(mb)] }];
        return { resourceSpans: [{ ...resourceSpans("agent", []), scopeSpans }] };
      },
    ],
    [
      "a resource that is not the first of its trace",
      (count, mb) => ({
        resourceSpans: [resourceSpans("agent", [other(mb)]), resourceSpans("agent", spans(count), [long])],
      }),
    ],
    [
      "the schema URL of a resource",
      (count, mb) => ({
        resourceSpans: [
          { ...resourceSpans("agent", [...spans(count), other(mb)]), schemaUrl: long.value.stringValue },
        ],
      }),
    ],
  ];
  for (const [what, body] of bodies) {
    test(`${what} is copied up to four times the body's size, and more is 413 before it is`, () => {
      for (const [otherMb, most] of [
        [0, 7],
        [4, 20],
        [20, 63],
      ] as const) {
        assert.ok(otlpGroups(body(most, otherMb)).every(({ refusal }) => refusal === null));
        refusalOf("PAYLOAD_TOO_LARGE", () => otlpGroups(body(most + 4, otherMb)));
      }
    });
  }

  test("a resource of several traces is not copied", () => {
    const groups = otlpGroups({ resourceSpans: [resourceSpans("agent", spans(100, true), [long])] });
    assert.equal(new Set(groups.map(({ batch }) => batch.resource)).size, 1);
    assert.equal(groups.length, 100);
  });
});

suite("an id", () => {
  const bad: [sent: Json, field: string][] = [
    [{ traceId: null }, "traceId"],
    [{ traceId: `g${traceId.slice(1)}` }, "traceId"],
    [{ traceId: ` ${traceId.slice(1)}` }, "traceId"],
    [{ traceId: [traceId] }, "traceId"],
    [{ traceId: "" }, "traceId"],
    [{ traceId: "0".repeat(32) }, "traceId"],
    [{ traceId: "ab".repeat(15) }, "traceId"],
    [{ traceId: "ab".repeat(17) }, "traceId"],
    [{ traceId: "CvdlGRbNQ92ESOshHIAxnA==" }, "traceId"],
    [{ traceId: 1e31 }, "traceId"],
    [{ spanId: {} }, "spanId"],
    [{ spanId: "" }, "spanId"],
    [{ spanId: "0".repeat(16) }, "spanId"],
    [{ spanId: "ab" }, "spanId"],
    [{ spanId: 1234567890123456 }, "spanId"],
    [{ parentSpanId: traceId }, "parentSpanId"],
    [{ parentSpanId: "0".repeat(16) }, "parentSpanId"],
    [{ parentSpanId: "abcd" }, "parentSpanId"],
    [{ parentSpanId: {} }, "parentSpanId"],
  ];
  for (const [more, field] of bad) {
    test(`is refused: ${JSON.stringify(more)} ${Object.keys(more)}`, () => {
      assert.deepEqual(fate(otlpSpan(more)), [
        "OTLP_ID_INVALID",
        `resourceSpans[0].scopeSpans[0].spans[0].${field}`,
      ]);
    });
  }

  for (const parentSpanId of [undefined, null, ""]) {
    test(`of a parent that is ${JSON.stringify(parentSpanId)} makes a root`, () => {
      const [group] = otlpGroups(otlpRequest([otlpSpan({ parentSpanId })]));
      assert.equal(group!.batch.spans[0]!.parent_span_id, null);
    });
  }

  test("that JSON wrote as a number of the right length is refused", () => {
    const body = JSON.stringify(otlpRequest([otlpSpan({ traceId: "@" })])).replace('"@"', "1".repeat(32));
    assert.deepEqual(summary(body), [[null, null, 1, "OTLP_ID_INVALID"]]);
  });
});

suite("a group is refused as a whole", () => {
  test("for one bad span id among good ones, without touching the others", () => {
    const body = otlpRequest([
      otlpSpan({ spanId: id(1) }),
      otlpSpan({ spanId: "bad" }),
      otlpSpan({ spanId: id(3) }),
      otlpSpan({ traceId: otherTraceId }),
    ]);
    assert.deepEqual(summary(body), [
      ["agent", traceId, 3, "OTLP_ID_INVALID"],
      ["agent", otherTraceId, 1, null],
    ]);
    assert.deepEqual(otlpGroups(body)[0]!.batch.spans, []);
  });

  test("and spans whose traceId is unusable form one, whatever their service", () => {
    const body = {
      resourceSpans: [
        resourceSpans("a", [otlpSpan({ traceId: "x" }), otlpSpan()]),
        resourceSpans("b", [otlpSpan({ traceId: "" })]),
        resourceSpans(null, [otlpSpan({ traceId: null })]),
      ],
    };
    assert.deepEqual(summary(body), [
      [null, null, 3, "OTLP_ID_INVALID"],
      ["a", traceId, 1, null],
    ]);
  });

  const malformedSpans: [sent: unknown, path: string][] = [
    [null, ""],
    [5, ""],
    ["span", ""],
    [[], ""],
    [otlpSpan({ name: 5 }), ".name"],
    [otlpSpan({ attributes: { a: 1 } }), ".attributes"],
    [otlpSpan({ attributes: "a" }), ".attributes"],
    [otlpSpan({ attributes: [5] }), ".attributes[0]"],
    [otlpSpan({ attributes: [{ key: "a" }, { key: 5 }] }), ".attributes[1]"],
    [otlpSpan({ startTimeUnixNano: "soon" }), ".startTimeUnixNano"],
    [otlpSpan({ startTimeUnixNano: "" }), ".startTimeUnixNano"],
    [otlpSpan({ endTimeUnixNano: -1 }), ".endTimeUnixNano"],
    [otlpSpan({ endTimeUnixNano: 1.5 }), ".endTimeUnixNano"],
    [otlpSpan({ endTimeUnixNano: {} }), ".endTimeUnixNano"],
    [otlpSpan({ kind: "SERVER" }), ".kind"],
    [otlpSpan({ kind: 1.5 }), ".kind"],
    [otlpSpan({ status: 2 }), ".status"],
    [otlpSpan({ status: { code: "ERROR" } }), ".status.code"],
    [otlpSpan({ status: { message: {} } }), ".status.message"],
    [otlpSpan({ events: {} }), ".events"],
    [otlpSpan({ events: [null] }), ".events[0]"],
    [otlpSpan({ events: [{}, { name: 1 }] }), ".events[1].name"],
    [otlpSpan({ events: [{ timeUnixNano: "x" }] }), ".events[0].timeUnixNano"],
    [otlpSpan({ links: 1 }), ".links"],
    [otlpSpan({ links: [1] }), ".links[0]"],
  ];
  for (const [sent, path] of malformedSpans) {
    test(`for a malformed span: ${JSON.stringify(sent)}`, () => {
      assert.deepEqual(fate(sent), ["VALIDATION_ERROR", `resourceSpans[0].scopeSpans[0].spans[0]${path}`]);
    });
  }

  const notNames: [string, Json][] = [
    ["has no value", {}],
    ["is a number beyond 2^53, which reads as text", { intValue: "9007199254740993" }],
    ["is bytes, which read as text", { bytesValue: "YWdlbnQ=" }],
  ];
  for (const [what, value] of notNames) {
    test(`where service.name ${what}`, () => {
      const body = { resourceSpans: [resourceSpans(null, [otlpSpan()], [{ key: "service.name", value }])] };
      assert.deepEqual(summary(body), [[null, traceId, 1, "OTLP_SERVICE_NAME_REQUIRED"]]);
    });
  }

  test("where there is no resource at all", () => {
    for (const resource of [undefined, null, {}, { attributes: null }]) {
      const body = { resourceSpans: [{ resource, scopeSpans: [{ spans: [otlpSpan()] }] }] };
      assert.deepEqual(summary(body), [[null, traceId, 1, "OTLP_SERVICE_NAME_REQUIRED"]]);
    }
  });

  test("for what is wrong with its spans rather than for the missing service.name", () => {
    const body = { resourceSpans: [resourceSpans(null, [otlpSpan(), otlpSpan({ spanId: "bad" })])] };
    assert.deepEqual(summary(body), [[null, traceId, 2, "OTLP_ID_INVALID"]]);
  });

  test("for the first of its spans that is at fault", () => {
    const body = otlpRequest([otlpSpan({ name: 5 }), otlpSpan({ spanId: "bad" })]);
    assert.deepEqual(summary(body), [["agent", traceId, 2, "VALIDATION_ERROR"]]);
  });
});

suite("service.name", () => {
  test("sent twice counts as the last", () => {
    const twice = [{ key: "service.name", value: { stringValue: "second" } }];
    assert.deepEqual(summary({ resourceSpans: [resourceSpans("first", [otlpSpan()], twice)] }), [
      ["second", traceId, 1, null],
    ]);
  });

  test("is kept exactly, be it __proto__ or U+0000", () => {
    for (const name of ["__proto__", "a\u0000\ud800", " Agent ", "constructor"]) {
      const body = { resourceSpans: [resourceSpans(name, [otlpSpan()])] };
      assert.deepEqual(summary(body), [[name, traceId, 1, null]]);
      assert.equal(otlpGroups(body)[0]!.batch.resource!["service.name"], name);
    }
  });
});

suite("a request", () => {
  const withoutSpans: unknown[] = [
    [{ scopeSpans: null, resource: null }],
    [{ scopeSpans: [{}] }],
    [{ scopeSpans: [{ spans: null, scope: null }] }],
    [{ instrumentationLibrarySpans: [{ spans: [otlpSpan()] }] }],
  ];
  for (const list of withoutSpans) {
    test(`without spans is refused: ${JSON.stringify(list)}`, () => {
      refusalOf("OTLP_NO_SPANS", () => decodeJson({ resourceSpans: list }));
    });
  }

  const envelope = (part: Json) => [{ scopeSpans: [{ spans: [otlpSpan()] }], ...part }];
  const malformedEnvelopes: [list: unknown, path: string][] = [
    [{}, "resourceSpans"],
    ["x", "resourceSpans"],
    [0, "resourceSpans"],
    [[null], "resourceSpans[0]"],
    [[{}, []], "resourceSpans[1]"],
    [envelope({ resource: [] }), "resourceSpans[0].resource"],
    [envelope({ resource: "agent" }), "resourceSpans[0].resource"],
    [envelope({ resource: { attributes: {} } }), "resourceSpans[0].resource.attributes"],
    [envelope({ resource: { attributes: [1] } }), "resourceSpans[0].resource.attributes[0]"],
    [[{ scopeSpans: {} }], "resourceSpans[0].scopeSpans"],
    [[{ scopeSpans: [{}, 1] }], "resourceSpans[0].scopeSpans[1]"],
    [[{ scopeSpans: [{ spans: {} }] }], "resourceSpans[0].scopeSpans[0].spans"],
    [[{ scopeSpans: [{ scope: 1 }] }], "resourceSpans[0].scopeSpans[0].scope"],
    [[{ scopeSpans: [{ scope: { name: 1 } }] }], "resourceSpans[0].scopeSpans[0].scope.name"],
    [[{ scopeSpans: [{ scope: { attributes: 1 } }] }], "resourceSpans[0].scopeSpans[0].scope.attributes"],
  ];
  for (const [list, path] of malformedEnvelopes) {
    test(`with a malformed envelope is refused: ${JSON.stringify(list)}`, () => {
      const refusal = refusalOf("VALIDATION_ERROR", () => decodeJson({ resourceSpans: list }));
      assert.deepEqual(
        refusal.issues!.map(issue => issue.path),
        [path],
      );
    });
  }

  test("of more spans than allowed is 413, counting spans that are refused or sent twice", () => {
    const limits = { ...decodeLimits, spansMax: 3 };
    const spans = [otlpSpan(), otlpSpan(), otlpSpan({ traceId: "bad" })];
    assert.equal(otlpGroups(otlpRequest(spans), limits).length, 2);
    refusalOf("PAYLOAD_TOO_LARGE", () => otlpGroups(otlpRequest([...spans, null]), limits));
  });

  test("of more traces than allowed is 413, counting refused ones", () => {
    const limits = { ...decodeLimits, tracesMax: 3 };
    const spans = [traceId, otherTraceId, "bad"].map(traceId => otlpSpan({ traceId }));
    assert.equal(otlpGroups(otlpRequest([...spans, ...spans]), limits).length, 3);
    const tooMany = otlpRequest([...spans, otlpSpan({ traceId: "2b".repeat(16) })]);
    assert.match(
      refusalOf("PAYLOAD_TOO_LARGE", () => otlpGroups(tooMany, limits)).message,
      /more than 3 traces/,
    );
  });
});
