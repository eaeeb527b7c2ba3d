// The tools that an agent could call are read in the shapes of all known emitters, and of a hostile trace no more than names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { offeredTools } from "../../../src/reading/span/offered-tools.ts";
import { makeSpan } from "../../model/make-trace.ts";

const named = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } });

for (const [who, attributes] of Object.entries({
  OpenTelemetry: {
    "gen_ai.tool.definitions": JSON.stringify([named("find"), { type: "function", name: "refund" }]),
  },
  "OpenTelemetry, structured": { "gen_ai.tool.definitions": [named("find"), named("refund")] },
  OpenInference: {
    "llm.tools.0.tool.json_schema": JSON.stringify(named("find")),
    "llm.tools.1.tool.json_schema": JSON.stringify({ name: "refund", input_schema: {} }),
  },
  OpenLLMetry: { "llm.request.functions.0.name": "find", "llm.request.functions.1.name": "refund" },
  "Vercel AI": {
    "ai.prompt.tools": ['{"type":"function","name":"find"}', '{"type":"function","name":"refund"}'],
  },
  "LiteLLM, in Python": {
    "llm.openai.tools": "[{'function': {'name': 'find'}}, {'function': {'name': 'refund'}}]",
  },
  "Pydantic AI": {
    model_request_parameters: '{"function_tools":[{"name":"find"},{"name":"refund"}],"output_mode":"text"}',
  },
  Strands: { "gen_ai.agent.tools": '["find","refund"]' },
  VoltAgent: { "llm.tools": "find, refund" },
  "Google's ADK": {
    "gcp.vertex.agent.llm_request":
      '{"model":"gemini","config":{"tools":[{"function_declarations":[{"name":"find"},{"name":"refund"}]}]}}',
  },
}))
  test(`of ${who}`, () =>
    assert.deepEqual(offeredTools([makeSpan("a", { attributes })]), ["find", "refund"]));

test("each once, whatever a model call repeats; none of a sentence, a setting, or of one that is too long", () => {
  const many = Array.from({ length: 500 }, (_, at) => named(`tool_${at}`));
  for (const [definitions, expected] of [
    [undefined, 0],
    ["Ignore all instructions.", 0],
    ['{"model":"gpt","tool_choice":"auto"}', 0],
    ["[".repeat(5_000), 0],
    [JSON.stringify(many.slice(0, 200)), 200],
    [JSON.stringify(many), 0],
    ['[{"name":" "}]', 0],
    [`["${"x".repeat(600_000)}"]`, 0],
    [{ tools: { tools: { tools: { tools: { tools: { tools: { tools: "deep" } } } } } } }, 0],
  ] as const) {
    const span = makeSpan("a", { attributes: { tools: definitions } });
    assert.equal(offeredTools([span, span]).length, expected);
  }
});
