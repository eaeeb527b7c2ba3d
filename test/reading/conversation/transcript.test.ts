// The transcript of a trace: each message once and in order, calls joined with their spans, in every emitter's format.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import type { Entry } from "../../../src/reading/conversation/transcript-entry.ts";
import { showConversation } from "../../../src/reading/conversation/view.ts";
import { decodeLimits } from "../../../src/wire/limits.ts";
import { readOtlpJson } from "../../../src/wire/otlp-json.ts";
import { arbitrarySpan, makeSpan, nestedJson } from "../../model/make-trace.ts";

const text = (content: string) => ({ type: "text", content });
const say = (role: string, ...parts: unknown[]) => ({
  role,
  parts: parts.map(part => (typeof part === "string" ? text(part) : part)),
});
const call = (name: string, args: unknown, id?: string) => ({
  type: "tool_call",
  ...(id && { id }),
  name,
  arguments: args,
});
const answer = (response: unknown, id?: string) => ({
  type: "tool_call_response",
  ...(id && { id }),
  response,
});

type Told = { in?: unknown; out?: unknown; more?: Attributes; within?: string; fails?: string };

/** A model call from `from` to `to`. */
function chat(id: string, [from, to]: [number, number], told: Told): Span {
  return makeSpan(id, {
    parent_span_id: told.within ?? null,
    start_time_unix_nano: String(from * 1e6),
    end_time_unix_nano: String(to * 1e6),
    status: told.fails === undefined ? null : { code: 2, message: told.fails },
    attributes: {
      ...(told.in !== undefined && { "gen_ai.input.messages": told.in }),
      ...(told.out !== undefined && { "gen_ai.output.messages": told.out }),
      ...told.more,
    },
  });
}

function tool(
  id: string,
  times: [number, number],
  name: string,
  more: Attributes = {},
  told: Told = {},
): Span {
  return chat(id, times, { ...told, more: { "gen_ai.tool.name": name, ...more } });
}

function agent(id: string, times: [number, number], name: string, told: Told = {}): Span {
  return chat(id, times, {
    ...told,
    more: { ...told.more, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name },
  });
}

/** An entry as one line: `user: hi`, `f({"a":1}) = 2 @span`. */
function line(entry: Entry): string {
  const agent = entry.agent ? `[${entry.agent.name}] ` : "";
  if (entry.kind === "tool_call") {
    const args = entry.arguments ? JSON.stringify(entry.arguments.value) : "";
    const result = entry.result ? ` = ${JSON.stringify(entry.result.value)}` : "";
    return `${agent}${entry.name}(${args})${result}${entry.failed ? " failed" : ""}`;
  }
  const pieces = entry.pieces.map(piece =>
    piece.kind === "text" ? piece.text : `<${piece.kind} ${"text" in piece ? piece.text : piece.name}>`,
  );
  return `${agent}${entry.role}: ${pieces.join("")}`;
}

const lines = (spans: Span[]) => transcribe(spans).entries.map(line);

suite("history that calls repeat appears once", () => {
  const cases: [string, Span[], string[]][] = [
    [
      "each call repeats all that went before",
      [
        chat("a", [1, 2], { in: [say("system", "s"), say("user", "hi")], out: [say("assistant", "hello")] }),
        chat("b", [3, 4], {
          in: [say("system", "s"), say("user", "hi"), say("assistant", "hello"), say("user", "bye")],
          out: [say("assistant", "so long")],
        }),
      ],
      ["system: s", "user: hi", "assistant: hello", "user: bye", "assistant: so long"],
    ],
    [
      "the same words said twice are two messages",
      [
        chat("a", [1, 2], { in: [say("user", "yes")], out: [say("assistant", "ok")] }),
        chat("b", [3, 4], {
          in: [say("user", "yes"), say("assistant", "ok"), say("user", "yes")],
          out: [say("assistant", "ok")],
        }),
      ],
      ["user: yes", "assistant: ok", "user: yes", "assistant: ok"],
    ],
    [
      "two calls without a history both count",
      [
        chat("a", [1, 2], { in: [say("user", "a")], out: [say("assistant", "ok")] }),
        chat("b", [3, 4], { in: [say("user", "b")], out: [say("assistant", "ok")] }),
      ],
      ["user: a", "assistant: ok", "user: b", "assistant: ok"],
    ],
    [
      "an outer span that repeats what was said within it adds nothing",
      [
        agent("root", [0, 9], "shop", { in: [say("user", "hi")], out: [say("assistant", "hello")] }),
        chat("a", [1, 2], { within: "root", in: [say("user", "hi")], out: [say("assistant", "hello")] }),
      ],
      ["user: hi", "assistant: hello"],
    ],
    [
      "what a list has before a known message stands before it",
      [
        chat("root", [0, 9], { more: { "gen_ai.prompt": "and now?" } }),
        chat("a", [1, 2], {
          within: "root",
          in: [say("system", "s"), say("user", "hi"), say("assistant", "hello"), say("user", "and now?")],
        }),
      ],
      ["system: s", "user: hi", "assistant: hello", "user: and now?"],
    ],
    [
      "gen_ai.response.text beside the messages that say the same adds nothing",
      [chat("a", [1, 2], { out: [say("assistant", "a", "b")], more: { "gen_ai.response.text": "ab" } })],
      ["assistant: ab"],
    ],
    [
      "several choices are several messages, equal ones too",
      [chat("a", [1, 2], { out: [say("assistant", "x"), say("assistant", "x")] })],
      ["assistant: x", "assistant: x"],
    ],
    [
      "a history that leaves the reasoning out is the same history",
      [
        chat("a", [1, 2], { out: [say("assistant", { type: "reasoning", content: "hm" }, "yes")] }),
        chat("b", [3, 4], { in: [say("assistant", "yes"), say("user", "why?")] }),
      ],
      ["assistant: <reasoning hm>yes", "user: why?"],
    ],
    [
      "an output that holds the whole history says only what is new",
      [
        chat("a", [1, 2], { in: [say("user", "hi")], out: [say("user", "hi"), say("assistant", "hello")] }),
        chat("b", [3, 4], {
          out: [say("user", "hi"), say("assistant", "hello"), say("user", "bye"), say("assistant", "bye")],
        }),
      ],
      ["user: hi", "assistant: hello", "user: bye", "assistant: bye"],
    ],
    [
      "instructions in an attribute of their own are not told again",
      [
        chat("a", [1, 2], {
          in: [say("user", "hi")],
          more: { "gen_ai.system_instructions": [text("be kind")] },
        }),
        chat("b", [3, 4], { in: [say("system", "be kind"), say("user", "hi")] }),
      ],
      ["system: be kind", "user: hi"],
    ],
  ];
  for (const [name, spans, expected] of cases) {
    test(name, () => assert.deepEqual(lines(spans), expected));
    test(`${name}, in whatever order the spans come`, () =>
      assert.deepEqual(lines(spans.toReversed()), expected));
  }
});

suite("messages and spans of one call are one entry", () => {
  const asked = (args: unknown, id?: string) => [say("assistant", call("f", args, id))];
  const cases: [string, Span[], string[]][] = [
    [
      "by id, with arguments and result of the span",
      [
        chat("a", [1, 2], { out: asked({ q: 1 }, "c1") }),
        tool("t", [3, 4], "f", {
          "gen_ai.tool.call.id": "c1",
          "gen_ai.tool.call.arguments": '{"q":1}',
          "gen_ai.tool.call.result": "2",
        }),
        chat("b", [5, 6], { in: [...asked({ q: 1 }, "c1"), say("tool", answer(2, "c1"))] }),
      ],
      [`f("{\\"q\\":1}") = "2"`],
    ],
    [
      "without ids, in turn",
      [
        chat("a", [1, 2], { out: [say("assistant", call("f", 1), call("f", 2))] }),
        tool("t", [3, 4], "f", { "gen_ai.tool.call.arguments": 1, "gen_ai.tool.call.result": "one" }),
        tool("u", [5, 6], "f", { "gen_ai.tool.call.arguments": 2, "gen_ai.tool.call.result": "two" }),
      ],
      [`f(1) = "one"`, `f(2) = "two"`],
    ],
    [
      "a call of an earlier conversation is not the one that runs now",
      [
        chat("a", [1, 2], {
          in: [
            say("assistant", call("f", 1)),
            say("tool", { ...answer("old"), name: "f" }),
            say("user", "again"),
          ],
        }),
        tool("t", [3, 4], "f", { "gen_ai.tool.call.arguments": 2 }),
      ],
      [`f(1) = "old"`, "user: again", "f(2)"],
    ],
    ["a span alone", [tool("t", [1, 2], "f", { "gen_ai.tool.call.arguments": 1 })], ["f(1)"]],
    ["a call alone", [chat("a", [1, 2], { out: asked({ q: 1 }, "c1") })], [`f({"q":1})`]],
    ["a result alone", [chat("a", [1, 2], { in: [say("tool", answer("r", "c9"))] })], [`() = "r"`]],
    [
      "a call that runs while its message is still being written",
      [
        tool("t", [1, 9], "f", { "gen_ai.tool.call.id": "c1" }),
        chat("a", [0, 5], { out: [say("assistant", "Let me look.", call("f", { q: 1 }, "c1"))] }),
      ],
      ["assistant: Let me look.", `f({"q":1})`],
    ],
    [
      "of another name on the other side, by id",
      [
        chat("a", [1, 2], { out: asked({}, "c1") }),
        tool("t", [3, 4], "server.f", { "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "r" }),
      ],
      [`f({}) = "r"`],
    ],
    [
      "the same id in a later turn is another call",
      [
        chat("a", [1, 2], { out: asked(1, "0") }),
        tool("t", [3, 4], "f", { "gen_ai.tool.call.id": "0", "gen_ai.tool.call.result": "one" }),
        chat("b", [5, 6], { out: asked(2, "0") }),
        tool("u", [7, 8], "f", { "gen_ai.tool.call.id": "0", "gen_ai.tool.call.result": "two" }),
      ],
      [`f(1) = "one"`, `f(2) = "two"`],
    ],
    [
      "a failed one says so, with its span's message",
      [tool("t", [1, 2], "f", {}, { fails: "timed out" })],
      ["f() failed"],
    ],
  ];
  for (const [name, spans, expected] of cases) test(name, () => assert.deepEqual(lines(spans), expected));

  test("a call is at its span, with its duration and error", () => {
    const [entry] = transcribe([tool("t", [1, 3], "f", {}, { fails: "timed out" })]).entries;
    assert.deepEqual(entry, {
      spanId: "t",
      attribute: "gen_ai.tool.name",
      event: null,
      agent: null,
      kind: "tool_call",
      name: "f",
      arguments: null,
      result: null,
      error: "timed out",
      durationMs: 2,
      failed: true,
    });
  });
});

suite("every emitter's message format", () => {
  const cases: [string, unknown, string[]][] = [
    ["content in place of parts", [{ role: "user", content: "hi" }], ["user: hi"]],
    ["content parts", [{ role: "user", content: [{ type: "input_text", text: "hi" }] }], ["user: hi"]],
    ["JSON text", JSON.stringify([say("user", "hi")]), ["user: hi"]],
    ["no role at all is the user", [{ parts: [text("hi")] }], ["user: hi"]],
    ["null among the parts", [say("user", null, "hi")], ["user: hi"]],
    [
      "OpenAI's calls and results",
      [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "c", content: "done" },
      ],
      [`f("{\\"a\\":1}") = "done"`],
    ],
    [
      "Anthropic's thinking, calls and results",
      [
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "tool_use", id: "c", name: "f", input: { a: 1 } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "no", is_error: true }] },
      ],
      ["assistant: <reasoning hm>", `f({"a":1}) = "no" failed`],
    ],
    [
      "Google's",
      [
        {
          role: "model",
          parts: [{ text: "hm", thought: true }, { functionCall: { name: "f", args: { a: 1 } } }],
        },
        { role: "user", parts: [{ functionResponse: { name: "f", response: { b: 2 } } }] },
      ],
      ["model: <reasoning hm>", `f({"a":1}) = {"b":2}`],
    ],
    [
      "Amazon's",
      [
        {
          role: "assistant",
          content: [{ text: "so" }, { toolUse: { toolUseId: "c", name: "f", input: {} } }],
        },
        {
          role: "user",
          content: [{ toolResult: { toolUseId: "c", status: "error", content: [{ text: "no" }] } }],
        },
      ],
      ["assistant: so", `f({}) = [{"text":"no"}] failed`],
    ],
    [
      "media is named",
      [
        say("user", { type: "blob", mime_type: "image/png", content: "AAAA" }),
        say("user", { type: "uri", modality: "image", uri: "https://x.test/a.png" }),
        say("user", { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }),
        say("user", { inlineData: { mimeType: "audio/wav", data: "AAA" } }),
      ],
      [
        "user: <media image/png, 4 characters of data>",
        "user: <media image, https://x.test/a.png>",
        "user: <media image_url, 26 characters of data>",
        "user: <media audio/wav, 3 characters of data>",
      ],
    ],
    [
      "an unknown part is kept as JSON",
      [say("user", { type: "poll", q: 1 })],
      [`user: <other {"type":"poll","q":1}>`],
    ],
    ["malformed JSON is no message", "[{", []],
    ["no messages at all", [1, null, "x"], []],
    ["blank parts are nothing said", [say("user", "")], []],
    ["deep JSON is no message", `[{"role":"user","x":${nestedJson(300)}}]`, []],
  ];
  for (const [name, value, expected] of cases) {
    test(name, () => assert.deepEqual(lines([chat("a", [1, 2], { in: value })]), expected));
  }
});

suite("other attributes with messages", () => {
  const event = (name: string, attributes: Attributes) => ({ name, time_unix_nano: null, attributes });
  const cases: [string, Partial<Span>, string[]][] = [
    ["gen_ai.prompt", { attributes: { "gen_ai.prompt": "hi" } }, ["user: hi"]],
    [
      "gen_ai.prompt that holds messages",
      { attributes: { "gen_ai.prompt": JSON.stringify([say("system", "s"), say("user", "hi")]) } },
      ["system: s", "user: hi"],
    ],
    ["a user's own JSON in gen_ai.prompt", { attributes: { "gen_ai.prompt": '{"a":1}' } }, [`user: {"a":1}`]],
    [
      "gen_ai.prompt beside messages is passed over",
      { attributes: { "gen_ai.prompt": "other", "gen_ai.input.messages": [say("user", "hi")] } },
      ["user: hi"],
    ],
    ["gen_ai.response.text", { attributes: { "gen_ai.response.text": "yes" } }, ["assistant: yes"]],
    ["plain instructions", { attributes: { "gen_ai.system_instructions": "be kind" } }, ["system: be kind"]],
    [
      "events, the same words twice",
      {
        events: [
          event("gen_ai.user.message", { content: "yes" }),
          event("gen_ai.user.message", { content: "yes" }),
          event("gen_ai.choice", { message: '[{"text":"ok"}]' }),
        ],
      },
      ["user: yes", "user: yes", "assistant: ok"],
    ],
    [
      "an event about a tool answers its call",
      {
        events: [
          event("gen_ai.assistant.message", {
            tool_calls: '[{"id":"c","function":{"name":"f","arguments":"{}"}}]',
          }),
          event("gen_ai.tool.message", { id: "c", content: "done" }),
        ],
      },
      [`f("{}") = "done"`],
    ],
    [
      "the event with the details",
      {
        events: [
          event("gen_ai.client.inference.operation.details", {
            "gen_ai.input.messages": [say("user", "hi")],
            "gen_ai.output.messages": [say("assistant", "yes")],
          }),
        ],
      },
      ["user: hi", "assistant: yes"],
    ],
    [
      "events where the attributes say it are passed over",
      {
        attributes: { "gen_ai.input.messages": [say("user", "hi")] },
        events: [event("gen_ai.user.message", { content: "HI" })],
      },
      ["user: hi"],
    ],
    [
      "events of other shapes",
      { events: [null, 1, "x", {}, { name: "gen_ai.choice" }, event("__proto__", {})] },
      [],
    ],
  ];
  for (const [name, fields, expected] of cases) {
    test(name, () => assert.deepEqual(lines([makeSpan("a", fields)]), expected));
  }
});

suite("sub-agents", () => {
  test("an agent called by another one has its own conversation, with its name", () => {
    const spans = [
      agent("main", [0, 20], "shop", { in: [say("user", "hi")] }),
      chat("a", [1, 2], { within: "main", in: [say("system", "s"), say("user", "hi")] }),
      agent("sub", [3, 9], "reviews", { within: "main", in: [say("user", "hi")] }),
      chat("b", [4, 5], {
        within: "sub",
        in: [say("system", "s"), say("user", "hi")],
        out: [say("assistant", "x")],
      }),
      chat("c", [10, 11], { within: "main", out: [say("assistant", "x")] }),
    ];
    assert.deepEqual(lines(spans), [
      "system: s",
      "user: hi",
      "[reviews] system: s",
      "[reviews] user: hi",
      "[reviews] assistant: x",
      "assistant: x",
    ]);
  });
  test("an agent span within one of the same name, or of none, is the same agent", () => {
    const inner = agent("b", [1, 2], "shop", { within: "a", in: [say("user", "hi")] });
    assert.deepEqual(lines([agent("a", [0, 9], "shop", { in: [say("user", "hi")] }), inner]), ["user: hi"]);
    const outer = chat("a", [0, 9], { in: [say("user", "hi")] });
    assert.deepEqual(lines([outer, inner]), ["user: hi"]);
  });
});

suite("time", () => {
  test("without times the order of the tree is used", () => {
    const spans = [
      makeSpan("b", { parent_span_id: "root", attributes: { "gen_ai.response.text": "two" } }),
      makeSpan("root", { attributes: { "gen_ai.prompt": "one", "gen_ai.response.text": "three" } }),
    ];
    assert.deepEqual(lines(spans), ["user: one", "assistant: two", "assistant: three"]);
  });
  test("a span that ends before it starts has its output after its input", () => {
    const value = { in: [say("user", "hi")], out: [say("assistant", "yes")] };
    assert.deepEqual(lines([chat("a", [5, 2], value)]), ["user: hi", "assistant: yes"]);
  });
});

test("a recorded conversation is reproduced", () => {
  const fixture = "11-vercel-ai-v7-otel-tool-loop.json";
  const body = JSON.parse(readFileSync(join(import.meta.dirname, "../../fixtures/otlp", fixture), "utf8"));
  const [group] = readOtlpJson(body, decodeLimits, 0);
  assert.ok(group && "batch" in group);
  assert.deepEqual(lines(group.batch.spans), [
    "system: You are a weather bot.",
    "user: Hi",
    "assistant: Hello! How can I help?",
    "user: What is the weather in Paris?",
    `get_weather("{\\"city\\":\\"Paris\\"}") = "{\\"city\\":\\"Paris\\",\\"temp\\":14,\\"sky\\":\\"rainy\\"}"`,
    "assistant: It is rainy, 14°C in Paris.",
  ]);
});

test("no trace content makes it throw, and every turn has a source", () => {
  fc.assert(
    fc.property(fc.array(arbitrarySpan, { maxLength: 8 }), spans => {
      const ids = new Set(spans.map(({ span_id }) => span_id));
      const { turns } = showConversation(transcribe(spans));
      for (const turn of turns) assert.ok(ids.has(turn.spanId));
      JSON.stringify(turns);
    }),
  );
});

const many = 300_000;
const hostileParts: Record<string, unknown> = {
  "calls beside the content": [{ role: "assistant", tool_calls: Array(many).fill({}) }],
  "parts that are calls": [{ role: "assistant", parts: Array(many).fill({ type: "tool_call" }) }],
  "results of no call": [{ role: "tool", parts: Array(many).fill({ type: "tool_result" }) }],
  "calls and results by turns": [
    {
      role: "tool",
      parts: Array.from({ length: many }, (_, at) => ({
        type: at % 2 ? "tool_result" : "tool_call",
        id: `${at}`,
      })),
    },
  ],
  messages: Array.from({ length: many }, (_, at) => ({ role: "user", content: `${at}` })),
};
for (const [name, messages] of Object.entries(hostileParts)) {
  // In quadratic time this would take minutes or more.
  test(`of hundreds of thousands of ${name}, as many are kept as fit`, {
    timeout: 60_000,
  }, () => {
    const span = (id: string) => makeSpan(id, { attributes: { "gen_ai.input.messages": messages } });
    const { entries, complete } = transcribe([span("a"), span("b")]);
    assert.deepEqual([entries.length, complete], [5_000, false]);
  });
}

test("JSON text beyond two million values is left out", () => {
  const messages = JSON.stringify([
    { role: "user", content: "said" },
    ...Array.from({ length: 800_000 }, () => 1),
  ]);
  const spans = ["a", "b", "c"].map(id =>
    makeSpan(id, { attributes: { "gen_ai.input.messages": messages.replace("said", id) } }),
  );
  const { entries, complete } = transcribe(spans);
  assert.deepEqual([entries.length, complete], [2, false]);
});

test("a message that does not fit at the very end of a trace is left out too", () => {
  const messages = Array.from({ length: 5_001 }, (_, at) => ({ role: "assistant", content: `${at}` }));
  const { entries, complete } = transcribe([
    makeSpan("a", { attributes: { "gen_ai.output.messages": messages } }),
  ]);
  assert.deepEqual([entries.length, complete], [5_000, false]);
});

test("a history that every call repeats adds nothing, whatever it contains", () => {
  const message = fc.record({
    role: fc.constantFrom("user", "assistant", "system"),
    content: fc.string({ minLength: 1 }),
  });
  fc.assert(
    fc.property(
      fc.array(message, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      (history, times) => {
        const spans = Array.from({ length: times }, (_, at) => chat(`s${at}`, [at, at], { in: history }));
        assert.equal(lines(spans).length, history.length);
      },
    ),
  );
});

test("a tool call fails by its span, its message, or the exit code of its command", () => {
  const made = (result: unknown) => [tool("t", [1, 2], "run", { "gen_ai.tool.call.result": result })];
  assert.deepEqual(lines(made('{"exit_code":1}')), ['run() = "{\\"exit_code\\":1}" failed']);
  assert.deepEqual(lines(made({ exit_code: 0 })), ['run() = {"exit_code":0}']);
  assert.deepEqual(lines(made({ is_error: true })), ['run() = {"is_error":true} failed']);
});
