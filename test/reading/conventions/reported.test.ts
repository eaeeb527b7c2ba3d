// Situations that users of such systems reported, each with its neighbors: parts, structured replies, refusals, calls and buckets.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import { showConversation } from "../../../src/reading/conversation/view.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { makeSpan, makeTrace } from "../../model/make-trace.ts";

function read(spans: Span[], conventions = ["*"]) {
  const { trace, reading } = readTraceBy(makeTrace(spans), { conventions, conventionRules: [] });
  return derive(trace, undefined, reading);
}

const one = (attributes: Attributes, scope?: string) => [
  makeSpan("1", { attributes, ...(scope && { scope: { name: scope } }) }),
];
const inputOf = (attributes: Attributes) => read(one(attributes)).userInput?.text ?? null;
const replyOf = (attributes: Attributes, scope?: string) => {
  const { responseText, judgedText } = read(one(attributes, scope));
  assert.equal(judgedText?.text, responseText?.text);
  return responseText?.text ?? null;
};

const llm = { "openinference.span.kind": "LLM", "llm.model_name": "m" };
const contents = (at: string, ...parts: [type: string, field: string, value: string][]): Attributes =>
  Object.fromEntries(
    parts.flatMap(([type, field, value], n) => [
      [`${at}.message.contents.${n}.message_content.type`, type],
      [`${at}.message.contents.${n}.message_content.${field}`, value],
    ]),
  );
const image: [string, string, string] = ["image", "image.image.url", "data:image/png;base64,AAAA"];

test("the question has only contents: of the last user, beside earlier ones or a system message, with or without media", () => {
  const question: [string, string, string] = ["text", "text", "What is wrong?"];
  for (const before of [[], ["system"], ["user", "assistant"]]) {
    for (const parts of [[question], [question, image], [image, question]]) {
      const at = `llm.input_messages.${before.length}`;
      const earlier = before.flatMap((role, n) => [
        [`llm.input_messages.${n}.message.role`, role],
        [`llm.input_messages.${n}.message.content`, "Earlier."],
      ]);
      const attributes = { [`${at}.message.role`]: "user", ...contents(at, ...parts) };
      assert.equal(inputOf({ ...llm, ...Object.fromEntries(earlier), ...attributes }), "What is wrong?");
    }
  }
});

test("the reply has only contents: of reasoning and text, and after a plain message", () => {
  const at = "llm.output_messages.0";
  const said: [string, string, string] = ["text", "text", "A crack."];
  for (const type of ["reasoning", "thinking", "summary_text"]) {
    const reply = { [`${at}.message.role`]: "assistant", ...contents(at, [type, "text", "hm"], said) };
    assert.equal(replyOf({ ...llm, ...reply }), "A crack.");
  }
  const later = {
    "llm.output_messages.1.message.role": "assistant",
    ...contents("llm.output_messages.1", said),
  };
  const first = { [`${at}.message.role`]: "assistant", [`${at}.message.content`]: "Let me look." };
  assert.equal(replyOf({ ...llm, ...first, ...later }), "A crack.");
});

test("a part without a type that is keyed as reasoning is no text, with any conventions", () => {
  const keys = ["reasoning", "thinking", "summary", "reasoning_content", "reasoningContent"];
  for (const key of keys) {
    for (const hidden of [
      "secret",
      { reasoningText: { text: "secret" } },
      [{ type: "summary_text", text: "secret" }],
    ]) {
      const parts = [{ [key]: hidden }, { text: "Sure." }];
      for (const conventions of [[], ["opentelemetry"], ["*"]]) {
        const output = [{ role: "assistant", parts }];
        const spans = one({ "gen_ai.request.model": "m", "gen_ai.output.messages": output });
        assert.equal(read(spans, conventions).responseText?.text, "Sure.", key);
      }
      const genkit = { message: { role: "model", content: parts } };
      const attributes = { "genkit:metadata:subtype": "model", "genkit:output": JSON.stringify(genkit) };
      assert.equal(replyOf({ "genkit:type": "action", ...attributes }, "genkit-tracer"), "Sure.", key);
    }
  }
  assert.equal(
    replyOf({
      "gcp.vertex.agent.llm_response": JSON.stringify({
        candidates: [
          { content: { role: "model", parts: [{ text: "hm", thought: true }, { text: "Sure." }] } },
        ],
      }),
    }),
    "Sure.",
  );
});

test("a structured reply is its text as it was sent", () => {
  const vercel = { "ai.operationId": "ai.generateObject.doGenerate", "gen_ai.request.model": "m" };
  for (const sent of [
    '{"city":"Oslo","temp":3}',
    '{ "text": "It rains", "city": "Oslo" }',
    '[1, "a"]',
    '[{"a": 1}]',
  ])
    assert.equal(replyOf({ ...vercel, "ai.response.object": sent }), sent);
  const sent = '{"city": "Oslo", "temp": 3}';
  const agents: Attributes[] = [
    { "langfuse.observation.type": "agent", "langfuse.observation.output": sent },
    { "mlflow.spanType": "AGENT", "mlflow.spanOutputs": sent },
    { "openinference.span.kind": "AGENT", "output.value": sent },
    { "traceloop.span.kind": "agent", "traceloop.entity.output": sent },
    { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", final_result: sent },
  ];
  for (const attributes of agents)
    assert.equal(replyOf(attributes, "final_result" in attributes ? "pydantic-ai" : undefined), sent);
  for (const conventions of [[], ["*"]]) {
    const output = [{ role: "assistant", content: { city: "Oslo" } }];
    const spans = one({ "gen_ai.request.model": "m", "gen_ai.output.messages": output });
    assert.equal(read(spans, conventions).responseText?.text, '{"city":"Oslo"}');
  }
});

test("the state of an agent, an answer without text and an empty object are no reply", () => {
  const agent = (sent: string) => replyOf({ "openinference.span.kind": "AGENT", "output.value": sent });
  for (const sent of [
    "{}",
    "[]",
    "null",
    '{"messages": []}',
    '[{"role": "assistant", "content": ""}]',
    '{"choices": [{"message": {"role": "assistant", "content": null}}]}',
    '{"a": null, "b": [""]}',
  ])
    assert.equal(agent(sent), null, sent);
  assert.equal(agent('{"answer": "In Lyon.", "sources": [{"id": 1}]}'), "In Lyon.");
  assert.equal(agent('{"text": "In Lyon.", "files": []}'), "In Lyon.");
});

test("a refusal is the reply, wherever it stands", () => {
  const no = "I cannot help with that.";
  const outputs = [
    [{ role: "assistant", content: null, refusal: no }],
    [{ role: "assistant", content: "", refusal: no }],
    [{ type: "message", role: "assistant", content: [{ type: "refusal", refusal: no }] }],
    [{ role: "assistant", parts: [{ type: "refusal", content: no }] }],
  ];
  for (const output of outputs) {
    for (const conventions of [[], ["*"]]) {
      const spans = one({ "gen_ai.request.model": "m", "gen_ai.output.messages": output });
      assert.equal(read(spans, conventions).responseText?.text, no);
    }
  }
  const completion = { "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.refusal": no };
  assert.equal(replyOf({ "llm.request.type": "chat", "gen_ai.system": "openai", ...completion }), no);
  const message = JSON.stringify({ role: "assistant", content: null, refusal: no });
  assert.equal(
    replyOf({ "langfuse.observation.type": "generation", "langfuse.observation.output": message }),
    no,
  );
});

const callsOf = (spans: Span[]) => read(spans).toolCalls.map(call => [call.name, call.arguments]);
const wanted = [["delete_account", { id: 7 }]];

test("a call that only a response has is a call, beside a text or alone", () => {
  const vercel = { "ai.operationId": "ai.generateText.doGenerate", "gen_ai.request.model": "m" };
  for (const call of [
    { toolCallId: "c", toolName: "delete_account", input: { id: 7 } },
    { toolCallType: "function", toolCallId: "c", toolName: "delete_account", args: '{"id":7}' },
  ]) {
    const attributes = { ...vercel, "ai.response.toolCalls": JSON.stringify([call]) };
    assert.deepEqual(callsOf(one(attributes)), wanted);
    const both = read(one({ ...attributes, "ai.response.text": "One moment." }));
    assert.equal(both.responseText?.text, "One moment.");
    assert.deepEqual(
      both.toolCalls.map(({ name }) => name),
      ["delete_account"],
    );
  }
  const outputs = [
    { role: "assistant", content: null, function_call: { name: "delete_account", arguments: '{"id": 7}' } },
    {
      role: "assistant",
      content: "",
      additional_kwargs: {
        tool_calls: [{ id: "c", function: { name: "delete_account", arguments: '{"id":7}' } }],
      },
    },
    {
      role: "assistant",
      content: [
        { type: "mcp_call", id: "c", name: "delete_account", arguments: '{"id":7}', output: "Done." },
      ],
    },
    {
      role: "assistant",
      parts: [{ type: "custom_tool_call", call_id: "c", name: "delete_account", input: '{"id":7}' }],
    },
    {
      role: "assistant",
      blocks: [
        { block_type: "tool_call", tool_call_id: "c", tool_name: "delete_account", tool_kwargs: { id: 7 } },
      ],
    },
    { role: "model", parts: [{ functionCall: { name: "delete_account", args: { id: 7 } } }] },
  ];
  for (const output of outputs) {
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.output.messages": JSON.stringify([output]),
    };
    assert.deepEqual(callsOf(one(attributes)), wanted, JSON.stringify(output));
  }
});

test("one call is one, whatever ids and white space its messages, its history and the spans of its tool have", () => {
  const call = (id: string | null, args: unknown) => ({
    type: "tool_call",
    id,
    name: "delete_account",
    arguments: args,
  });
  const model = (id: string, at: number, asked: unknown[], answered: unknown[]) =>
    makeSpan(id, {
      start_time_unix_nano: `${at}`,
      end_time_unix_nano: `${at + 1}`,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": JSON.stringify([{ role: "user", content: "Delete it" }, ...asked]),
        "gen_ai.output.messages": JSON.stringify([{ role: "assistant", parts: answered }]),
      },
    });
  const tool = (id: string, parent: string | null, more: Attributes) =>
    makeSpan(id, {
      parent_span_id: parent,
      start_time_unix_nano: "3",
      attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "delete_account", ...more },
    });
  const result = { role: "tool", parts: [{ type: "tool_call_response", response: "Done." }] };
  for (const [told, again] of [
    ["fc_1", "call_1"],
    ["call_1", "call_1"],
    [null, null],
    [null, "adk-1"],
  ] as const) {
    const first = model("1", 1, [], [call(told, { id: 7 })]);
    const history = { role: "assistant", parts: [call(again, '{ "id": 7 }')] };
    const last = model("2", 5, [history, result], [{ type: "text", content: "Deleted." }]);
    const spans = [first, last];
    const { toolCalls } = read(spans);
    assert.deepEqual(
      toolCalls.map(({ arguments: args, result: made }) => [args, made]),
      [[{ id: 7 }, "Done."]],
    );
    const framework = tool("3", null, { "gen_ai.tool.call.arguments": '{"id":7}' });
    const server = tool("5", "4", { "mcp.method.name": "tools/call" });
    const mcp = tool("4", "3", {
      "mcp.method.name": "tools/call",
      "gen_ai.tool.call.arguments": '{"id": 7}',
    });
    assert.equal(read([...spans, framework]).toolCalls.length, 1);
    assert.equal(read([...spans, framework, mcp, server]).toolCalls.length, 1);
  }
  const twice = model("1", 1, [], [call("a", { id: 7 }), call("b", { id: 7 })]);
  assert.equal(read([twice]).toolCalls.length, 2);
  const again = model(
    "2",
    5,
    [{ role: "assistant", parts: [call("a", { id: 7 })] }, result],
    [call("c", { id: 7 })],
  );
  assert.equal(read([model("1", 1, [], [call("a", { id: 7 })]), again]).toolCalls.length, 2);
});

test("buckets beside input and output are added as far as the writer's own total says, and no subset is", () => {
  const usage = (details: object) => {
    const { input, output, reasoning, cached, total } = read(
      one({
        "langfuse.observation.type": "generation",
        "langfuse.observation.model.name": "m",
        "langfuse.observation.usage_details": JSON.stringify(details),
      }),
    ).tokens;
    return [input, output, reasoning, cached, total];
  };
  const cases: [details: object, tokens: (number | null)[]][] = [
    [
      {
        input: 60,
        output: 12,
        total: 120,
        input_cache_read: 40,
        input_audio: 0,
        output_reasoning: 8,
        output_audio: 0,
      },
      [100, 20, 8, 40, 120],
    ],
    [{ input: 100, output: 12, total: 120, output_reasoning: 8 }, [100, 20, 8, null, 120]],
    [
      { input: 0, output: 0, total: 120, input_modality_1: 100, output_modality_1: 20 },
      [100, 20, null, null, 120],
    ],
    [{ input: 60, output: 12, total: 120, input_audio: 40, output_audio: 8 }, [100, 20, null, null, 120]],
    [{ input: 60, output: 20, total: 120, input_cache_read: 40 }, [100, 20, null, 40, 120]],
    [
      { input: 100, output: 20, total: 120, input_cache_read: 40, output_reasoning: 8, input_audio: 5 },
      [100, 20, 8, 40, 120],
    ],
    [
      { promptTokenCount: 100, candidatesTokenCount: 12, thoughtsTokenCount: 8, totalTokenCount: 120 },
      [100, 20, 8, null, 120],
    ],
    [
      {
        input_tokens: 100,
        output_tokens: 20,
        total_tokens: 120,
        input_token_details: { cache_read: 40, audio: 3 },
        output_token_details: { reasoning: 8 },
      },
      [100, 20, 8, 40, 120],
    ],
    // A total that no choice of them makes says nothing.
    [{ input: 60, output: 12, total: 121, input_audio: 40, output_audio: 8 }, [60, 12, null, null, 72]],
  ];
  for (const [details, tokens] of cases) assert.deepEqual(usage(details), tokens, JSON.stringify(details));
});

test("several model calls with different inputs: the last is read, the trace says so, and the agent may name another span", () => {
  const call = (name: string, at: number, question: string, answer: string) =>
    makeSpan(name, {
      name,
      start_time_unix_nano: `${at}`,
      end_time_unix_nano: `${at + 1}`,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": [{ role: "user", content: question }],
        "gen_ai.output.messages": [{ role: "assistant", content: answer }],
      },
    });
  const plain = makeSpan("plain", { name: "POST /chat" });
  const under = (...spans: Span[]) => spans.map(span => ({ ...span, parent_span_id: "plain" }));
  const [answer, title] = under(
    call("answer", 1, "Where is it?", "In Lyon."),
    call("title", 5, "Give this chat a title.", "Lost parcel"),
  );
  const textsBy = (spans: Span[], conventions: string[], spanName?: string) => {
    const by = { conventions, conventionRules: [], readFrom: spanName === undefined ? null : { spanName } };
    const { trace, reading } = readTraceBy(makeTrace(spans), by);
    const { userInput, responseText, judgedText, severalModelCalls, notices } = derive(
      trace,
      undefined,
      reading,
    );
    assert.equal(notices.includes("several_model_calls"), severalModelCalls !== null);
    assert.equal(judgedText?.text, responseText?.text);
    return [userInput?.text, responseText?.text, severalModelCalls];
  };
  const several = { calls: 2, read: "title", spanNames: ["answer", "title"] };
  assert.deepEqual(textsBy([plain, answer!, title!], ["*"]), [
    "Give this chat a title.",
    "Lost parcel",
    several,
  ]);
  for (const conventions of [["*"], []]) {
    assert.deepEqual(textsBy([plain, answer!, title!], conventions, "answer"), [
      "Where is it?",
      "In Lyon.",
      null,
    ]);
    const [input, reply] = textsBy([plain, answer!, title!], conventions, "absent");
    assert.deepEqual([input, reply], ["Give this chat a title.", "Lost parcel"]);
  }
  assert.equal(textsBy([plain, answer!], ["*"])[2], null);
  const attributes = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.input.messages": [{ role: "user", content: "Hi" }],
  };
  assert.equal(textsBy([{ ...plain, attributes }, answer!, title!], ["*"])[2], null);
});

test("documented texts of calls of models are in the conversation, and tell calls apart, with and without conventions", () => {
  const call = (id: string, end: number, prompt: string, reply: string) =>
    makeSpan(id, {
      end_time_unix_nano: `${end}`,
      attributes: { "gen_ai.request.model": "m", "gen_ai.prompt": prompt, "gen_ai.response.text": reply },
    });
  const spans = [call("answer", 1, "Where is it?", "In Lyon."), call("title", 5, "Give it a title.", "Lost")];
  for (const conventions of [["*"], []]) {
    const { trace, reading } = readTraceBy(makeTrace(spans), { conventions, conventionRules: [] });
    const said = showConversation(transcribe(trace.spans), trace.spans).turns.flatMap(turn =>
      turn.kind === "message"
        ? turn.pieces.map(piece => (piece.kind === "text" ? piece.text : piece.kind))
        : [],
    );
    assert.deepEqual(said, ["Where is it?", "In Lyon.", "Give it a title.", "Lost"]);
    const { userInput, notices } = derive(trace, undefined, reading);
    assert.equal(userInput?.text, "Give it a title.");
    assert.ok(notices.includes("several_model_calls"));
  }
});

test("older shapes of the same writers: prompts in one text, answers in one attribute, content in events", () => {
  const chat = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" };
  const event = (name: string, attributes: Attributes) => ({ name, attributes });
  const spanWith = (attributes: Attributes, events: unknown[], scope: string) => [
    makeSpan("1", { attributes, events, scope: { name: scope } }),
  ];
  const textsOf = (spans: Span[]) => {
    const { userInput, responseText } = read(spans);
    return [userInput?.text, responseText?.text];
  };
  const openLit = [
    event("gen_ai.content.prompt", { "gen_ai.prompt": "system: Be kind.\nuser: Where is\nmy parcel?" }),
    event("gen_ai.content.completion", { "gen_ai.completion": "In Lyon." }),
  ];
  const legacy = { "gen_ai.system": "openai", "gen_ai.request.model": "m" };
  assert.deepEqual(textsOf(spanWith(legacy, openLit, "openlit.otel.tracing")), [
    "Where is\nmy parcel?",
    "In Lyon.",
  ]);
  const plain = { ...chat, "gen_ai.prompt": "Where is it?", "gen_ai.completion": "In Lyon." };
  assert.deepEqual(textsOf(spanWith(plain, [], "io.quarkus")), ["Where is it?", "In Lyon."]);
  const azure = [
    event("gen_ai.user.message", { "gen_ai.event.content": '{"role": "user", "content": "Where is it?"}' }),
    event("gen_ai.choice", {
      "gen_ai.event.content": '{"message": {"content": "In Lyon."}, "finish_reason": "stop"}',
    }),
  ];
  assert.deepEqual(textsOf(spanWith(chat, azure, "azure.core")), ["Where is it?", "In Lyon."]);
});
