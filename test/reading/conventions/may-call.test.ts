// Whether attributes may have calls of tools is told without parsing them: never no for a call, and no for most texts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { mayHaveCall } from "../../../src/reading/span/may-call.ts";
import { makeSpan } from "../../model/make-trace.ts";

const call = (name: string) => ({ type: "tool_call", id: "1", name, arguments: { order: 7 } });
const told = (name: string) => [{ role: "assistant", parts: [call(name)] }];
const json = (name: string) => ({ "gen_ai.output.messages": JSON.stringify(told(name)) });
const flat = "llm.output_messages.0.message";

/** Ways in which SDKs send that a model called a tool. */
const ways: Record<string, (name: string) => Record<string, unknown>> = {
  "JSON text": json,
  "JSON text with spaces": name => ({ "gen_ai.output.messages": JSON.stringify(told(name), null, 2) }),
  "JSON text with escaped letters": name => ({
    "gen_ai.output.messages": JSON.stringify(told(name))
      .replaceAll("t", "\\u0074")
      .replaceAll("f", "\\u0066"),
  }),
  "a structure": name => ({ "gen_ai.output.messages": told(name) }),
  "JSON in JSON": name => ({
    "gen_ai.output.messages": JSON.stringify([{ role: "assistant", content: JSON.stringify([call(name)]) }]),
  }),
  "OpenAI's function": name => ({
    "gen_ai.output.messages": JSON.stringify([
      { role: "assistant", tool_calls: [{ id: "1", function: { name, arguments: "{}" } }] },
    ]),
  }),
  "Google's part": name => ({
    "gen_ai.output.messages": JSON.stringify([{ role: "model", parts: [{ functionCall: { name } }] }]),
  }),
  "a flattened list": name => ({
    "openinference.span.kind": "LLM",
    [`${flat}.role`]: "assistant",
    [`${flat}.tool_calls.0.tool_call.function.name`]: name,
  }),
  "flattened parts with a type": name => ({
    "openinference.span.kind": "LLM",
    [`${flat}.role`]: "assistant",
    [`${flat}.parts.0.type`]: "tool_use",
    [`${flat}.parts.0.name`]: name,
  }),
  "a Python literal": name => ({
    "openinference.span.kind": "LLM",
    "output.value": `[{'role': 'assistant', 'tool_calls': [{'function': {'name': '${name}'}}]}]`,
  }),
};

const names = ["lookup", "refund", "lookup_2", 'lookup"', "lookup\\", "n\u00e9e", "tool", "name"];

function toolsOf(attributes: Record<string, unknown>): Set<string> {
  const spans = [
    makeSpan("a", { attributes: { "gen_ai.request.model": "m", ...attributes } }),
    makeSpan("b", {
      attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup" },
    }),
  ];
  const read = (depth: "all" | "columns") =>
    new Set(readByConventions(spans, ["*"], undefined, depth)!.calls.map(({ name }) => name));
  assert.deepEqual(read("columns"), read("all"));
  return read("columns");
}

for (const [way, attributesOf] of Object.entries(ways)) {
  test(`a call in ${way} is found beside those of known tools`, () => {
    for (const name of names) {
      if (way === "a Python literal" && /["\\]/.test(name)) continue;
      assert.deepEqual(toolsOf(attributesOf(name)), new Set(["lookup", name]), name);
    }
  });
}

test("texts without calls, and with calls of known tools alone, need not be parsed", () => {
  const may = (attributes: Record<string, unknown>, known: Set<string> | null, attribute?: string) =>
    mayHaveCall(makeSpan("a", { attributes }), attribute ?? "gen_ai.output.messages", known);
  const text = { "gen_ai.output.messages": JSON.stringify([{ role: "assistant", content: "Hello" }]) };
  assert.equal(may(text, null), false);
  assert.equal(may({}, null), false);
  assert.equal(may(json("lookup"), null), true);
  assert.equal(may(json("lookup"), new Set(["lookup"])), false);
  assert.equal(may(json("refund"), new Set(["lookup"])), true);
  const list = ways["a flattened list"]!;
  assert.equal(may(list("lookup"), new Set(["lookup"]), "llm.output_messages."), false);
  assert.equal(may(list("refund"), new Set(["lookup"]), "llm.output_messages."), true);
  assert.equal(may({ ...list("lookup"), "llm.x": "tool" }, null, "llm.input_messages."), false);
});
