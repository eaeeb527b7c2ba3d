// Calls of tools that messages and spans both tell: each once, with its own arguments.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { makeSpan } from "../../model/make-trace.ts";

type Told = { id?: string; city?: string };

const model = (calls: Told[]): Span => {
  const attributes: Attributes = {
    "openinference.span.kind": "LLM",
    "llm.output_messages.0.message.role": "assistant",
  };
  calls.forEach(({ id, city }, at) => {
    const call = `llm.output_messages.0.message.tool_calls.${at}.tool_call`;
    if (id) attributes[`${call}.id`] = id;
    attributes[`${call}.function.name`] = "get_weather";
    if (city) attributes[`${call}.function.arguments`] = JSON.stringify({ city });
  });
  return makeSpan("1", { attributes });
};

const tool = (spanId: string, { id, city }: Told): Span =>
  makeSpan(spanId, {
    name: "get_weather",
    attributes: {
      "openinference.span.kind": "TOOL",
      ...(id && { "tool_call.id": id }),
      ...(city && { "input.value": JSON.stringify({ city }) }),
    },
  });

const callsIn = (...spans: Span[]) =>
  readByConventions(spans, ["openinference"])!.calls.map(call => [
    call.id,
    call.spanId,
    (call.arguments?.value as Told | undefined)?.city,
  ]);

const [london, paris] = [
  { id: "c1", city: "London" },
  { id: "c2", city: "Paris" },
];

test("a call without a span leaves that of a parallel call of the same tool to it", () => {
  assert.deepEqual(callsIn(model([london, paris]), tool("2", { city: "Paris" })), [
    ["c2", "2", "Paris"],
    ["c1", "1", "London"],
  ]);
  assert.deepEqual(callsIn(model([london, paris]), tool("2", { city: "London" })), [
    ["c1", "2", "London"],
    ["c2", "1", "Paris"],
  ]);
});

test("an ID goes before arguments, and arguments before the order", () => {
  const same = [
    { id: "c1", city: "Paris" },
    { id: "c2", city: "Paris" },
  ];
  assert.deepEqual(callsIn(model(same), tool("2", same[1]!)), [
    ["c2", "2", "Paris"],
    ["c1", "1", "Paris"],
  ]);
  assert.deepEqual(callsIn(model([london, paris]), tool("2", { city: "Paris" }), tool("3", {})), [
    ["c2", "2", "Paris"],
    ["c1", "3", "London"],
  ]);
  assert.deepEqual(callsIn(model([london, paris]), tool("2", {}), tool("3", {})), [
    ["c1", "2", "London"],
    ["c2", "3", "Paris"],
  ]);
});
