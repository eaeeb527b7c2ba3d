// What settings leave of a batch: attributes by key, and structure without content.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readByNothing } from "../../src/model/agent/read-by.ts";
import { attributeFilter } from "../../src/model/content/attribute-rules.ts";
import { sameIntake, takesEverything } from "../../src/model/content.ts";
import type { Batch, Span } from "../../src/model/trace/trace.ts";
import { isKept, keptAttributes, textMax } from "../../src/reading/content/kept.ts";
import { withoutContent } from "../../src/reading/content/structure.ts";

const span = (more: Partial<Span> = {}): Span => ({
  span_id: "a",
  parent_span_id: null,
  name: "a",
  attributes: {},
  start_time_unix_nano: "1",
  end_time_unix_nano: "2",
  status: null,
  events: [],
  ...more,
});
const batch = (more: Partial<Batch> = {}): Batch => ({
  spans: [span()],
  resource: null,
  metadata: null,
  ...more,
});

const cases: [rules: { deny: string[]; allow: string[] | null }, kept: string[]][] = [
  [{ deny: ["a"], allow: null }, ["ab", "b", "service.name"]],
  [{ deny: ["a*"], allow: null }, ["b", "service.name"]],
  [{ deny: ["*"], allow: ["a"] }, ["service.name"]],
  [{ deny: ["ab"], allow: ["a*"] }, ["a", "service.name"]],
  [{ deny: [], allow: [] }, ["service.name"]],
];

for (const [rules, kept] of cases) {
  test(`${JSON.stringify(rules)} keeps ${kept.join(", ")} wherever attributes are`, () => {
    const all = { a: 1, ab: { a: 1 }, b: "x", "service.name": "s" };
    const event = { name: "a", attributes: all };
    const left = attributeFilter(rules)(
      batch({
        spans: [
          span({
            attributes: all,
            events: [event, "a"],
            scope: { name: "a", attributes: all },
            resource: all,
          }),
        ],
        resource: all,
        metadata: all,
        logRecords: {
          spanId: "a",
          records: [{ event_name: "e", time_unix_nano: null, body: { a: 1 }, attributes: all }],
        },
      }),
    );
    const [one] = left.spans;
    for (const attributes of [
      one!.attributes,
      (one!.events[0] as typeof event).attributes,
      one!.scope!.attributes!,
      one!.resource!,
      left.resource!,
      left.metadata!,
      left.logRecords!.records[0]!.attributes,
    ]) {
      assert.deepEqual(Object.keys(attributes), kept);
    }
    assert.deepEqual([one!.events[1], left.logRecords!.records[0]!.body], ["a", { a: 1 }]);
  });
}

test("batches that share a resource share what is left of it, and the defaults change nothing", () => {
  const resource = { a: 1, b: 2 };
  const filter = attributeFilter({ deny: ["a"], allow: null });
  assert.equal(filter(batch({ resource })).resource, filter(batch({ resource })).resource);
  const one = batch();
  assert.equal(attributeFilter({ deny: [], allow: null })(one), one);
  assert.equal(takesEverything({ content: "forget", attributes: { deny: [], allow: null } }), true);
  assert.equal(takesEverything({ content: "none", attributes: { deny: [], allow: null } }), false);
});

test("two settings are the same where they store the same", () => {
  const attributes = { deny: ["a"], allow: null };
  assert.equal(sameIntake({ content: "keep", attributes }, { content: "forget", attributes }), true);
  assert.equal(sameIntake({ content: "keep", attributes }, { content: "none", attributes }), false);
  const others = { deny: ["a"], allow: [] };
  assert.equal(sameIntake({ content: "keep", attributes }, { content: "keep", attributes: others }), false);
});

test("an attribute is kept only by its name and in its shape", () => {
  for (const { attribute, shape } of keptAttributes) {
    const [good, bad] = shape === "count" ? [7, "seven words"] : ["x", ["x"]];
    assert.equal(isKept(attribute, good), true, attribute);
    assert.equal(isKept(attribute, 7), shape !== "text", attribute);
    assert.equal(isKept(attribute, 7.5), false, attribute);
    assert.equal(isKept(attribute, bad), false, attribute);
    assert.equal(isKept(attribute, "y".repeat(textMax + 1)), false, attribute);
  }
  for (const name of ["gen_ai.input.messages", "toString", "gen_ai.prompt"])
    assert.equal(isKept(name, "x"), false);
});

test("a convention's findings are kept as the well-known attributes, and usage that repeats that of others is not", () => {
  const llm = span({
    span_id: "b",
    parent_span_id: "a",
    attributes: {
      "openinference.span.kind": "LLM",
      "llm.model_name": "m",
      "llm.token_count.prompt": 3,
      "llm.token_count.completion": 4,
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.content": "secret",
      "session.id": "s",
    },
  });
  const agent = span({ attributes: { "openinference.span.kind": "AGENT", "llm.token_count.prompt": 3 } });
  const tool = span({
    span_id: "c",
    parent_span_id: "a",
    attributes: { "openinference.span.kind": "TOOL", "tool.name": "look", "input.value": "secret" },
  });
  const readBy = { ...readByNothing, conventions: ["openinference"] };
  const left = withoutContent(batch({ spans: [agent, llm, tool] }), "otlp", readBy, "none");
  assert.equal(left.content, "none");
  assert.deepEqual(
    left.spans.map(({ attributes }) => attributes),
    [
      { "gen_ai.operation.name": "invoke_agent" },
      {
        "session.id": "s",
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.request.model": "m",
        "gen_ai.conversation.id": "s",
        "gen_ai.operation.name": "chat",
      },
      { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look" },
    ],
  );
});

test("a session beside a conversation ID stays one, also on spans of a later batch", () => {
  const readBy = { ...readByNothing, conventions: ["opentelemetry"] };
  const call = span({ span_id: "b", attributes: { "gen_ai.operation.name": "chat", "session.id": "s" } });
  const left = withoutContent(batch({ spans: [call] }), "otlp", readBy, "none");
  assert.deepEqual(left.spans[0]!.attributes, call.attributes);
});

test("the marks of the service's own traces stay, without anything else in metadata", () => {
  const id = "0199a1b2-0000-7000-8000-000000000001";
  const own = { "svc.run.observed": true, "svc.run.id": id, "svc.run.turn": 2 };
  const left = (metadata: object) =>
    withoutContent(batch({ metadata: { ...metadata } }), "canonical", readByNothing, "none").metadata;
  assert.deepEqual(left({ ...own, more: "text" }), own);
  assert.equal(left({ more: "text", "svc.run.id": id }), null);
});
