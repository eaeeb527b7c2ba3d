// Calls, results and replies that are objects: what the framework wrapped around them is left out.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { translateSpans } from "../../../src/reading/conventions/translate.ts";
import { toolCallsOf } from "../../../src/reading/span/conversation.ts";
import { makeSpan } from "../../model/make-trace.ts";

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

test("a prediction of DSPy has its answer as the reply, and one of several outputs is the reply as it was sent", () => {
  const said =
    "[[ ## reasoning ## ]]\nThe tool says so.\n\n[[ ## answer ## ]]\nRainy.\n\n[[ ## completed ## ]]";
  const lm = span("2", "1", "LM.__call__", {
    "openinference.span.kind": "LLM",
    "output.value": JSON.stringify([said]),
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": said,
  });
  const trajectory = { thought_0: "I call the tool.", tool_name_0: "get_weather", observation_0: "rainy" };
  const replyTo = (prediction: object) => read(root(JSON.stringify(prediction)), lm).reply;
  assert.equal(replyTo({ trajectory, reasoning: "The tool says so.", answer: "Rainy." }), "Rainy.");
  assert.equal(replyTo({ rationale: "The tool says so.", answer: "Rainy." }), "Rainy.");
  assert.equal(replyTo({ weather: "rain", celsius: 14 }), '{"weather":"rain","celsius":14}');
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

test("Python's escapes, tuples and numbers that JSON does not have are read", () => {
  for (const [input, args] of [
    [String.raw`{'q': 'a\xa0b', 'n': 1}`, { q: "a\u00a0b", n: 1 }],
    [
      String.raw`{'q': '\U0001f600 it\'s "x" \\x41', "r": "it's\x00"}`,
      { q: '😀 it\'s "x" \\x41', r: "it's\0" },
    ],
    [
      "{'at': (1, 'a)', (2,), ()), 'n': nan, 'm': [-inf, inf]}",
      {
        at: [1, "a)", [2], []],
        n: "NaN",
        m: ["-Infinity", "Infinity"],
      },
    ],
    ["{'at': Point(1, 2)}", undefined],
  ] as const) {
    assert.deepEqual(read(root("It is rainy."), model, tool("find", input, "x")).call?.[1], args);
  }
});

const documentedTool = (sent: unknown) => [
  span("1", null, "agent", { "gen_ai.operation.name": "invoke_agent" }),
  span("3", "1", "execute_tool find", {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "find",
    "gen_ai.tool.call.arguments": sent,
  }),
];

for (const sent of [
  "Paris",
  "",
  '["a","b"]',
  ["a", "b"],
  "5",
  5,
  '"Paris"',
  '{"kwargs":{"a":1}}',
  '{"args":[],"kwargs":{}}',
]) {
  test(`documented arguments are read as without conventions: ${JSON.stringify(sent)}`, () => {
    const spans = documentedTool(sent);
    const reading = readByConventions(spans, ["opentelemetry"])!;
    const expected = toolCallsOf(spans).map(call => call.arguments);
    assert.deepEqual(
      reading.calls.map(call => call.arguments?.value),
      expected,
    );
    assert.equal(translateSpans(spans, reading)[1]!.attributes["gen_ai.tool.call.arguments"], sent);
  });
}

test("empty arguments are none, on the span of a tool and in a message", () => {
  const tool = span("2", "1", "find", {
    "openinference.span.kind": "TOOL",
    "tool.name": "find",
    "input.value": "",
  });
  const chat = span("3", "1", "chat", {
    "openinference.span.kind": "LLM",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "list",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "",
  });
  const { calls } = readByConventions([tool, chat], ["openinference"])!;
  assert.deepEqual(
    calls.map(({ name, arguments: args }) => [name, args?.value]),
    [
      ["find", {}],
      ["list", {}],
    ],
  );
});

test("arguments in messages go before documented ones that are no object", () => {
  const call = { type: "tool_call", id: "c", name: "find", arguments: { city: "Paris" } };
  const chat = span("2", "1", "chat m", {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: [call] }]),
  });
  const reading = readByConventions([...documentedTool("Paris"), chat], ["opentelemetry"])!;
  assert.deepEqual(
    reading.calls.map(one => one.arguments?.value),
    [{ city: "Paris" }],
  );
});
