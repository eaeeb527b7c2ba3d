// Messages of a trace: every format that emitters send, and where input and reply are looked for.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Attributes, Span, TracePath } from "../../../src/model/trace/trace.ts";
import {
  attributeOf,
  messagesOf,
  readConversation,
  spanText,
  toolCallsOf,
} from "../../../src/reading/span/conversation.ts";
import { makeSpan, nestedJson } from "../../model/make-trace.ts";

const text = (content: string) => ({ type: "text", content });
const message = (role: string, ...parts: unknown[]) => ({ role, parts });
const reply = (content: string) => [message("assistant", text(content))];
const input = (content: string) => [message("user", text(content))];
const timed = (id: string, end: number, attributes: Attributes) =>
  makeSpan(id, { start_time_unix_nano: "1", end_time_unix_nano: String(end), attributes });
const read = (spans: Span[], path: TracePath = "canonical") =>
  readConversation(spans, spans[0] ?? null, path);
const inputOf = (value: unknown) =>
  read([makeSpan("a", { attributes: { "gen_ai.input.messages": value } })]).userInput?.text ?? null;
const replyOf = (value: unknown) =>
  read([makeSpan("a", { attributes: { "gen_ai.output.messages": value } })]).responseText?.text ?? null;

const toolCall = { type: "tool_call", id: "1", name: "f", arguments: {} };
const toolResult = { type: "tool_call_response", id: "1", response: "secret" };

suite("the user's input in one span's messages", () => {
  const cases: [string, unknown, string | null][] = [
    ["the latest user message wins", [...input("one"), ...reply("two"), ...input("three")], "three"],
    ["its text parts are joined without a separator", [message("user", text("a"), text("b"))], "ab"],
    [
      "a later user message without text is passed over",
      [...input("ask"), message("user", toolResult)],
      "ask",
    ],
    [
      "Anthropic's tool results in role user are no text",
      [...input("ask"), { role: "user", content: [{ type: "tool_result", content: "no" }] }],
      "ask",
    ],
    [
      "the result spelling of a tool response is no text",
      [...input("ask"), message("user", { type: "tool_call_response", result: "no" })],
      "ask",
    ],
    [
      "media is no text",
      [message("user", { type: "blob", mime_type: "image/png", content: "AAAA" }, text("what is it?"))],
      "what is it?",
    ],
    ["without a user the system message", [message("system", text("be kind")), ...reply("hello")], "be kind"],
    ["without either all text parts joined", [...reply("a"), message("tool", text("b"))], "ab"],
    ["a content string in place of parts", [{ role: "user", content: "hi" }], "hi"],
    [
      "a content array in place of parts",
      [{ role: "user", content: [{ type: "text", text: "hi" }, "!"] }],
      "hi!",
    ],
    ["empty parts beside a content string", [{ role: "user", parts: [], content: "hi" }], "hi"],
    ["a parts string", [{ role: "user", parts: "hi" }], "hi"],
    ["null parts within the list", [message("user", null, text("hi"), null)], "hi"],
    ["null parts and null messages", [null, { role: "user", parts: null }, ...input("hi"), null], "hi"],
    [
      "an empty role is the user's",
      [message("system", text("s")), message("", text("hi")), message("model", text("m"))],
      "hi",
    ],
    ["a missing role is the user's", [message("system", text("s")), { parts: [text("hi")] }], "hi"],
    ["roles in any case", [message("SYSTEM", text("s")), message("User", text("hi"))], "hi"],
    ["parts without a type", [{ role: "user", parts: [{ text: "hi" }] }], "hi"],
    ["one message that is not in a list", { role: "user", content: "hi" }, "hi"],
    ["JSON text", JSON.stringify(input("hi")), "hi"],
    ["JSON text with a margin", `\n ${JSON.stringify(input("hi"))}`, "hi"],
    ["truncated JSON is none", JSON.stringify(input("hi")).slice(0, -3), null],
    ["plain text is none", "hi", null],
    ["an empty list is none", [], null],
    ["blank text is none", input(" \n"), null],
    ["numbers are none", 7, null],
    ["strings are kept exactly", input("a\u0000\ud800 "), "a\u0000\ud800 "],
    [
      "a __proto__ key is only a key",
      JSON.parse('[{"__proto__":{"role":"user","content":"no"},"role":"user","content":"hi"}]'),
      "hi",
    ],
  ];
  for (const [name, value, expected] of cases) test(name, () => assert.equal(inputOf(value), expected));
});

suite("the reply in one span's messages", () => {
  const cases: [string, unknown, string | null][] = [
    [
      "the text parts of the last assistant message, without a separator",
      [...reply("one"), message("assistant", text("a"), text("b"))],
      "ab",
    ],
    [
      "reasoning is left out",
      [message("assistant", { type: "reasoning", content: "hm" }, text("yes"))],
      "yes",
    ],
    [
      "Anthropic's thinking is left out",
      [{ role: "assistant", content: [{ type: "thinking", text: "hm" }, text("yes")] }],
      "yes",
    ],
    [
      "Google's thoughts are left out",
      [{ role: "model", parts: [{ text: "hm", thought: true }, { text: "yes" }] }],
      "yes",
    ],
    [
      "tool calls and their results are left out",
      [message("assistant", text("yes"), toolCall, toolResult)],
      "yes",
    ],
    [
      "a last assistant message of only tool calls is no reply",
      [...reply("let me look"), message("assistant", toolCall)],
      null,
    ],
    ["a tool's message after it does not count", [...reply("yes"), message("tool", text("no"))], "yes"],
    ["a user's message is no reply", input("no"), null],
    ["of several choices the last", [...reply("one"), ...reply("two")], "two"],
    ["an empty role is the assistant's", [message("", text("yes"))], "yes"],
    ["Google's role model is the assistant's", [message("model", text("yes"))], "yes"],
    ["a content string", [{ role: "assistant", content: "yes" }], "yes"],
    ["JSON text", JSON.stringify(reply("14°C")), "14°C"],
    ["malformed JSON is none", "[{", null],
    ["JSON nested too deep is none", `[{"role":"assistant","content":"no","x":${nestedJson(300)}}]`, null],
  ];
  for (const [name, value, expected] of cases) test(name, () => assert.equal(replyOf(value), expected));
});

suite("where the reply is looked for", () => {
  const ai = { "gen_ai.request.model": "m" };
  const messages = (content: string) => ({ "gen_ai.output.messages": reply(content) });
  const plain = (content: string) => ({ "gen_ai.response.text": content });
  const rootOnly = timed("root", 9, messages("root"));
  const bare = timed("root", 9, {});

  const cases: [string, Span[], string | null, string | null][] = [
    ["the root's first", [rootOnly, timed("ai", 10, { ...ai, ...messages("ai") })], "root", "root"],
    [
      "then the latest AI span's, before a later plain span's",
      [bare, timed("ai", 5, { ...ai, ...messages("ai") }), timed("x", 8, messages("x"))],
      "ai",
      "x",
    ],
    [
      "of AI spans the one that ends last",
      [
        bare,
        timed("ai1", 10, { ...ai, ...messages("late") }),
        timed("ai2", 9, { ...ai, ...messages("early") }),
      ],
      "late",
      "late",
    ],
    [
      "gen_ai.system marks an AI span too",
      [bare, timed("ai", 5, { "gen_ai.system": "s", ...messages("ai") }), timed("x", 8, messages("x"))],
      "ai",
      "x",
    ],
    [
      "then the latest span having text",
      [bare, timed("x", 8, messages("x")), timed("y", 7, messages("y"))],
      "x",
      "x",
    ],
    [
      "a root without usable text is passed over",
      [timed("root", 9, { "gen_ai.output.messages": "[{" }), timed("x", 8, messages("x"))],
      "x",
      "x",
    ],
    [
      "no text anywhere is no reply",
      [bare, timed("x", 8, { "gen_ai.output.messages": [], "gen_ai.response.text": "" })],
      null,
      null,
    ],
    [
      "of spans that end together the one that starts last",
      [bare, { ...timed("x", 8, messages("x")), start_time_unix_nano: "3" }, timed("y", 8, messages("y"))],
      "x",
      "x",
    ],
    [
      "of spans with the same times the last",
      [bare, timed("x", 8, messages("x")), timed("y", 8, messages("y"))],
      "y",
      "y",
    ],
    [
      "of AI spans with the same times the last",
      [bare, timed("ai1", 8, { ...ai, ...messages("one") }), timed("ai2", 8, { ...ai, ...messages("two") })],
      "two",
      "two",
    ],
    [
      "of spans with the same times the last, also once a better one had no text",
      [bare, timed("w", 9, messages("")), timed("x", 8, messages("x")), timed("y", 8, messages("y"))],
      "y",
      "y",
    ],
    [
      "a span without an end is earlier than any with one",
      [bare, timed("x", 8, messages("x")), makeSpan("y", { attributes: messages("y") })],
      "x",
      "x",
    ],
    [
      "text attribute: the root's first",
      [timed("root", 1, plain("root")), timed("ai", 5, { ...ai, ...plain("ai") })],
      "root",
      "root",
    ],
    [
      "a text attribute that is no string is passed over",
      [timed("root", 1, { "gen_ai.response.text": { a: 1 } }), timed("x", 5, plain("x"))],
      "x",
      "x",
    ],
  ];
  for (const [name, spans, canonical, otlp] of cases) {
    test(name, () => {
      assert.equal(read(spans, "canonical").responseText?.text ?? null, canonical);
      assert.equal(read(spans, "otlp").responseText?.text ?? null, otlp);
    });
  }

  test("the trace shows the messages, the judge reads gen_ai.response.text, each with its source", () => {
    const found = read([timed("root", 9, plain("plain")), timed("ai", 5, { ...ai, ...messages("said") })]);
    assert.deepEqual(found.responseText, { text: "said", spanId: "ai", attribute: "gen_ai.output.messages" });
    assert.deepEqual(found.judgedText, { text: "plain", spanId: "root", attribute: "gen_ai.response.text" });
  });
  test("each uses the other's source if its own is missing or unusable", () => {
    assert.equal(read([timed("a", 1, messages("said"))]).judgedText?.text, "said");
    assert.equal(
      read([timed("a", 1, { "gen_ai.output.messages": "[", ...plain("plain") })]).responseText?.text,
      "plain",
    );
    assert.equal(
      read([timed("a", 1, { "gen_ai.output.messages": [message("assistant", toolCall)], ...plain("plain") })])
        .responseText?.text,
      "plain",
    );
  });
});

suite("where the input is looked for", () => {
  const ai = { "gen_ai.request.model": "m" };
  const messages = (content: string) => ({ "gen_ai.input.messages": input(content) });
  const prompt = (content: unknown) => ({ "gen_ai.prompt": content });
  const cases: [string, Span[], string | null][] = [
    [
      "the latest AI span that has it, before the root",
      [
        timed("root", 9, messages("root")),
        timed("ai1", 4, { ...ai, ...messages("one") }),
        timed("ai2", 5, { ...ai, ...messages("two") }),
        timed("ai3", 6, ai),
      ],
      "two",
    ],
    [
      "then the root, before a later span",
      [timed("root", 1, messages("root")), timed("x", 5, messages("x"))],
      "root",
    ],
    [
      "then the latest span that has it",
      [timed("root", 1, {}), timed("x", 5, messages("x")), timed("y", 4, messages("y"))],
      "x",
    ],
    [
      "unreadable messages fall through to the next span",
      [timed("root", 1, messages("root")), timed("ai", 5, { ...ai, "gen_ai.input.messages": "[{" })],
      "root",
    ],
    [
      "gen_ai.prompt only where no messages have text",
      [timed("root", 1, messages("root")), timed("ai", 5, { ...ai, ...prompt("prompt") })],
      "root",
    ],
    [
      "gen_ai.prompt in the same order of spans",
      [timed("root", 1, prompt("root")), timed("ai", 5, { ...ai, ...prompt("ai") })],
      "ai",
    ],
    [
      "gen_ai.prompt holding messages as JSON",
      [timed("root", 1, prompt(JSON.stringify([message("system", text("s")), ...input("hi")])))],
      "hi",
    ],
    [
      "gen_ai.prompt holding the user's own JSON",
      [timed("root", 1, prompt('{"content":"a","city":"Paris"}'))],
      '{"content":"a","city":"Paris"}',
    ],
    ["gen_ai.prompt that only looks like JSON", [timed("root", 1, prompt("[sic] hello"))], "[sic] hello"],
    ["nothing", [timed("root", 1, prompt("")), timed("x", 2, prompt(null))], null],
  ];
  for (const [name, spans, expected] of cases) {
    test(name, () => {
      for (const path of ["canonical", "otlp"] as const)
        assert.equal(read(spans, path).userInput?.text ?? null, expected);
    });
  }
  test("the source of the input is returned", () => {
    const found = read([timed("root", 1, prompt("hi"))]).userInput;
    assert.deepEqual(found, { text: "hi", spanId: "root", attribute: "gen_ai.prompt" });
  });
});

suite("spanText", () => {
  const span = (attributes: Attributes) => makeSpan("a", { attributes });
  test("prefers gen_ai.response.text to the messages", () => {
    const both = span({ "gen_ai.output.messages": reply("said"), "gen_ai.response.text": "plain" });
    assert.deepEqual(spanText(both), { text: "plain", spanId: "a", attribute: "gen_ai.response.text" });
    assert.equal(spanText(span({ "gen_ai.output.messages": reply("said") }))?.text, "said");
    assert.equal(spanText(span({})), null);
  });
});

suite("attributeOf", () => {
  const attributes: Attributes = { zero: 0, no: false, empty: "", none: null };
  Object.defineProperty(attributes, "__proto__", { value: "own", enumerable: true });
  const span = makeSpan("a", { attributes });
  test("distinguishes a value from its absence, and counts null as absent", () => {
    assert.deepEqual(
      ["zero", "no", "empty", "none", "gone"].map(key => attributeOf(span, key)),
      [0, false, "", undefined, undefined],
    );
  });
  test("sees only own attributes", () => {
    assert.equal(attributeOf(span, "__proto__"), "own");
    for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      assert.equal(attributeOf(makeSpan("b"), key), undefined);
    }
  });
});

suite("messagesOf", () => {
  test("returns role, text and parts, a plain content string as a part", () => {
    assert.deepEqual(messagesOf([{ role: "user", content: "hi" }, message("assistant", toolCall)]), [
      { role: "user", text: "hi", parts: [text("hi")] },
      { role: "assistant", text: null, parts: [toolCall] },
    ]);
  });
  test("returns null for a value without messages", () => {
    for (const value of ["hello", "[", "[1]", [], ["a"], 3, null, undefined])
      assert.equal(messagesOf(value), null);
  });
});

suite("tool calls", () => {
  const call = (attributes: Attributes) =>
    toolCallsOf([
      makeSpan("t", { parent_span_id: "p", attributes: { "gen_ai.tool.name": "f", ...attributes } }),
    ])[0];
  const cases: [string, unknown, unknown][] = [
    ["JSON text is parsed", '{"city":"Paris"}', { city: "Paris" }],
    ["a JSON scalar is parsed", "5", 5],
    ["JSON null is null", "null", null],
    ["text that is no JSON stands under value", "Paris", { value: "Paris" }],
    ["an empty text is no arguments", "", {}],
    ["so is a blank one", " \n", {}],
    ["JSON nested too deep stands under value", nestedJson(201), { value: nestedJson(201) }],
    ["structured arguments are kept", { city: ["Paris"] }, { city: ["Paris"] }],
    ["none is null", undefined, null],
  ];
  for (const [name, sent, expected] of cases) {
    test(name, () => assert.deepEqual(call({ "gen_ai.tool.call.arguments": sent })?.arguments, expected));
  }
  test("a call belongs to its span's parent", () => {
    assert.deepEqual(call({}), { spanId: "t", parentSpanId: "p", name: "f", arguments: null });
  });
  test("a span without a tool name is not a call", () => {
    const names = [undefined, null, "", 7, {}];
    assert.deepEqual(
      toolCallsOf(names.map((name, i) => makeSpan(`s${i}`, { attributes: { "gen_ai.tool.name": name } }))),
      [],
    );
  });
  test("JSON text beyond two million values in one trace stays text, under value", () => {
    const text = `[${"1,".repeat(799_999)}1]`;
    const attributes = { "gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": text };
    const calls = toolCallsOf([1, 2, 3].map(i => makeSpan(`s${i}`, { attributes })));
    assert.deepEqual(
      calls.map(call => Array.isArray(call.arguments)),
      [true, true, false],
    );
    assert.deepEqual(calls[2]!.arguments, { value: text });
  });
  test("a __proto__ argument pollutes nothing", () => {
    const made = call({ "gen_ai.tool.call.arguments": '{"__proto__":{"polluted":1}}' })?.arguments;
    assert.equal(JSON.stringify(made), '{"__proto__":{"polluted":1}}');
    assert.equal(({} as Attributes)["polluted"], undefined);
  });
});
