// Requests that real exporters sent, and what becomes of them.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Span } from "../../src/model/trace/trace.ts";
import { decodeBody } from "../../src/wire/body.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import type { OtlpGroup } from "../../src/wire/otlp-groups.ts";
import { fixture, groupsOf } from "./make-body.ts";

const decode = (name: string): OtlpGroup[] =>
  groupsOf(decodeBody(fixture(name), name.endsWith(".pb") ? "protobuf" : "json", decodeLimits));

/** Asserts that the file holds one trace that is not refused. */
function oneTrace(name: string): OtlpGroup {
  const [group, ...others] = decode(name);
  assert.equal(others.length, 0);
  assert.equal(group!.refusal, null);
  return group!;
}

const tree = (spans: Span[]) => spans.map(({ span_id, parent_span_id }) => [span_id, parent_span_id]);

suite("recorded requests", () => {
  test("01: ids in upper case are stored in lower case", () => {
    const { serviceName, traceId, batch } = oneTrace("01-otel-proto-example-trace.json");
    assert.equal(serviceName, "my.service");
    assert.equal(traceId, "5b8efff798038103d269b633813fc60c");
    assert.deepEqual(batch.resource, { "service.name": "my.service" });
    assert.deepEqual(batch.spans, [
      {
        span_id: "eee19b7ec3c1b174",
        parent_span_id: "eee19b7ec3c1b173",
        name: "I'm a server span",
        attributes: { "my.span.attr": "some value" },
        start_time_unix_nano: "1544712660000000000",
        end_time_unix_nano: "1544712661000000000",
        status: null,
        events: [],
        kind: 2,
        scope: {
          name: "my.library",
          version: "1.0.0",
          attributes: { "my.scope.attribute": "some scope attribute" },
        },
      },
    ]);
  });

  test("02: an empty parentSpanId is a root, and spans stay in the order they were sent", () => {
    const { batch } = oneTrace("02-rust-two-spans-child-first.json");
    assert.deepEqual(tree(batch.spans), [
      ["cd7cf7bf939930b7", "d58cf2d702a061e0"],
      ["d58cf2d702a061e0", null],
    ]);
    assert.equal(batch.spans[1]!.status, null);
    assert.deepEqual(batch.spans[1]!.events, [
      { name: "Nice operation!", time_unix_nano: "1703985537070563326", attributes: { bogons: 100 } },
    ]);
  });

  test("05: with one, every kind of attribute value is read", () => {
    const text = fixture("05-java-all-anyvalue-kinds.json")
      .toString()
      .replace('"key": "key"', '"key": "service.name"');
    const [group] = groupsOf(decodeBody(Buffer.from(text), "json", decodeLimits));
    assert.equal(group!.serviceName, "value");
    assert.deepEqual(group!.batch.spans[0]!.attributes, {
      animal: "cat",
      bytes: "AQID",
      empty: null,
      heterogeneousArray: ["string", 123],
      lives: 9,
      map: { nested: "value" },
    });
  });

  test("08: one trace in four resourceSpans is one group", () => {
    const { serviceName, batch } = oneTrace("08-jaeger-multi-resource.json");
    assert.equal(serviceName, "example-trace");
    assert.equal(batch.spans.length, 4);
    assert.deepEqual(
      batch.spans.filter(span => span.resource !== undefined),
      [],
    );
  });

  test("11: both encodings of one conversation hold the same spans", () => {
    const json = oneTrace("11-vercel-ai-v7-otel-tool-loop.json");
    const protobuf = oneTrace("11-vercel-ai-v7-otel-tool-loop.pb");
    const essence = ({ serviceName, spanCount, batch }: OtlpGroup) => ({
      serviceName,
      spanCount,
      resource: batch.resource,
      spans: batch.spans.map(span => ({
        name: span.name,
        kind: span.kind,
        scope: span.scope,
        status: span.status,
        parent: batch.spans.findIndex(other => other.span_id === span.parent_span_id),
        attributes: Object.fromEntries(
          Object.entries(span.attributes).filter(([key]) => !/duration|response\.id|time_to|per_/.test(key)),
        ),
      })),
    });
    assert.deepEqual(essence(json), essence(protobuf));
    for (const { batch } of [json, protobuf]) {
      const tool = batch.spans.find(span => span.attributes["gen_ai.tool.name"] === "get_weather");
      assert.equal(tool!.attributes["gen_ai.tool.call.arguments"], '{"city":"Paris"}');
      const roots = batch.spans.filter(span => span.parent_span_id === null);
      assert.equal(roots.length, 1);
      assert.equal(roots[0]!.attributes["gen_ai.usage.input_tokens"], 43);
      assert.equal(roots[0]!.attributes["gen_ai.usage.output_tokens"], 14);
    }
  });

  test("14: what a JavaScript exporter makes of odd values is kept as far as it can be", () => {
    const [group, other] = decode("14-js-edge-values.json");
    assert.equal(other!.refusal, null);
    assert.deepEqual(group!.batch.spans[0]!.attributes, {
      nan: null,
      inf: null,
      neg_zero: 0,
      max_safe: 9007199254740991,
      over_safe: "9007199254740992",
      huge: "1000000000000000000000",
      float: 0.1,
      int_arr: [1, 2, 3],
      mixed: ["a", null, "b"],
      empty: "",
      nul: "a\u0000b",
      lone_surrogate: "x\ud83dy",
      emoji: "日本語 👩‍🚀",
      "constructor.prototype.x": "q",
      "gen_ai.usage.input_tokens": null,
    });
  });
});
