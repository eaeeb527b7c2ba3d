// Calls, results and replies that are objects: what the framework wrapped around them is left out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readByConventions } from "../../../src/model/conventions/conventions.ts";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { makeSpan } from "../make-trace.ts";

const span = (id: string, parent: string | null, name: string, attributes: Attributes): Span =>
  makeSpan(id, { parent_span_id: parent, name, attributes });

const root = (output: string) =>
  span("1", null, "FunctionAgent.run", {
    "openinference.span.kind": "CHAIN",
    "input.value": '{"user_msg": "What is the weather in Paris?"}',
    "output.value": output,
  });
const model = span("2", "1", "OpenAI.achat", {
  "openinference.span.kind": "LLM",
  "llm.input_messages.0.message.role": "user",
  "llm.input_messages.0.message.content": "What is the weather in Paris?",
  "llm.output_messages.0.message.role": "assistant",
  "llm.output_messages.0.message.content": "It is rainy.",
});
const tool = (name: string, input: string, output: string) =>
  span("3", "1", name, { "openinference.span.kind": "TOOL", "input.value": input, "output.value": output });

const read = (...spans: Span[]) => {
  const reading = readByConventions(spans, ["openinference"])!;
  const [call] = reading.calls;
  return {
    reply: reading.reply?.value,
    call: call && [call.name, call.arguments?.value, call.result?.value],
  };
};

test("the reply is the model's where the agent's output is an object that Python printed", () => {
  const printed =
    "StopEvent(result=AgentOutput(response=ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>)))";
  assert.equal(read(root(printed), model).reply, "It is rainy.");
  assert.equal(read(root("Call Shop(item=2) to order."), model).reply, "Call Shop(item=2) to order.");
});

const calls: [what: string, name: string, input: string, output: string, call: unknown[]][] = [
  [
    "named arguments only",
    "get_weather.__call__",
    '{"kwargs": {"city": "Paris"}}',
    "rainy",
    ["get_weather", { city: "Paris" }, "rainy"],
  ],
  [
    "the output of LlamaIndex's tools",
    "get_weather",
    '{"kwargs": {"city": "Paris"}}',
    '{"blocks": [{"text": "rainy"}], "tool_name": "get_weather", "raw_input": {"args": []}, "raw_output": "rainy"}',
    ["get_weather", { city: "Paris" }, "rainy"],
  ],
  [
    "an argument that is called kwargs",
    "get_weather",
    '{"city": "Paris", "kwargs": {}}',
    "rainy",
    ["get_weather", { city: "Paris", kwargs: {} }, "rainy"],
  ],
];
for (const [what, name, input, output, call] of calls) {
  test(`a tool's span with ${what}`, () => {
    assert.deepEqual(read(root("It is rainy."), model, tool(name, input, output)).call, call);
  });
}

test("a tool's result that is a list of objects is its result, and not parts of the message", () => {
  const rows = '[{"departs": "09:33"}, {"departs": "11:33"}]';
  const next = span("4", "1", "OpenAI.achat", {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "assistant",
    "llm.input_messages.0.message.tool_calls.0.tool_call.id": "call-1",
    "llm.input_messages.0.message.tool_calls.0.tool_call.function.name": "find_trains",
    "llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
    "llm.input_messages.1.message.role": "tool",
    "llm.input_messages.1.message.tool_call_id": "call-1",
    "llm.input_messages.1.message.content": rows,
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "The 9:33.",
  });
  const [message] = readByConventions([root("The 9:33."), next], ["openinference"])!.spans.flatMap(
    ({ asked }) => asked?.value.filter(({ role }) => role === "tool") ?? [],
  );
  assert.deepEqual(
    message!.results.map(({ id, value }) => [id, value]),
    [["call-1", rows]],
  );
});
