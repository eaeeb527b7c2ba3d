// An agent's own rules: which spans they match, what they make of values, and that they go before conventions.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConventionRule, RuleTarget } from "../../../src/model/agent/read-by.ts";
import type { Span } from "../../../src/model/trace/trace.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { applyRules } from "../../../src/reading/conventions/rules.ts";
import { translateSpans } from "../../../src/reading/conventions/translate.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import { showConversation } from "../../../src/reading/conversation/view.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { identityOf } from "../../../src/reading/derived/identity.ts";
import { reportOf } from "../../../src/reading/derived/report.ts";
import { makeSpan, makeTrace } from "../../model/make-trace.ts";

function readBy(spans: Span[], conventionRules: ConventionRule[], conventions: string[] = []) {
  const stored = makeTrace(spans);
  const { trace, reading, matches } = readTraceBy(stored, { conventions, conventionRules });
  const derived = derive(trace, undefined, reading);
  const read = reading ? { ...trace, spans: translateSpans(trace.spans, reading) } : trace;
  const identity = identityOf(trace.spans, reading);
  const report = reportOf({ trace: stored, read, derived, reading, conventions, conventionRules });
  return { derived, identity, report, matches, spans: read.spans };
}

/** What one rule makes of a value, on one span. */
function made(to: RuleTarget, value: unknown): unknown {
  const trace = makeTrace([makeSpan("a", { attributes: { sent: value } })]);
  return applyRules(trace, [{ from: "sent", to }]).trace.spans[0]!.attributes[to];
}

const user = (content: string) => [{ role: "user", parts: [{ type: "text", content }] }];
const assistant = (content: string) => [{ role: "assistant", parts: [{ type: "text", content }] }];

const cases: [RuleTarget, unknown, unknown][] = [
  ["gen_ai.input.messages", "Where is it?", user("Where is it?")],
  ["gen_ai.input.messages", '[{"role":"user","content":"Where is it?"}]', user("Where is it?")],
  ["gen_ai.input.messages", [{ role: "human", content: "Hi" }], user("Hi")],
  ["gen_ai.input.messages", '{"order":7}', user('{"order":7}')],
  ["gen_ai.input.messages", { order: 7 }, undefined],
  ["gen_ai.input.messages", " ", undefined],
  ["gen_ai.input.messages", 7, undefined],
  ["gen_ai.input.messages", null, undefined],
  ["gen_ai.prompt", "Where is it?", "Where is it?"],
  ["gen_ai.prompt", '"Where is it?"', "Where is it?"],
  ["gen_ai.prompt", ["Where is it?"], undefined],
  ["gen_ai.output.messages", '{"answer":"In Lyon."}', assistant("In Lyon.")],
  ["gen_ai.response.text", '{"answer":"In Lyon."}', '{"answer":"In Lyon."}'],
  ["gen_ai.response.text", '"In Lyon."', "In Lyon."],
  ["gen_ai.response.text", ["In Lyon."], undefined],
  ["gen_ai.usage.input_tokens", 7, 7],
  ["gen_ai.usage.input_tokens", "7", 7],
  ["gen_ai.usage.input_tokens", "seven", undefined],
  ["gen_ai.usage.input_tokens", -1, undefined],
  ["gen_ai.usage.input_tokens", 1.5, undefined],
  ["gen_ai.usage.input_tokens", true, undefined],
  ["user.id", "ada", "ada"],
  ["user.id", 42, "42"],
  ["user.id", "", undefined],
  ["user.id", { id: 42 }, undefined],
  ["gen_ai.tool.name", "lookup", "lookup"],
  ["gen_ai.tool.call.arguments", '{"order":7}', { order: 7 }],
  ["gen_ai.tool.call.arguments", "{'order': 7}", { order: 7 }],
  ["gen_ai.tool.call.arguments", "7 Oak Street", { value: "7 Oak Street" }],
  ["gen_ai.tool.call.result", "[1,2]", [1, 2]],
  ["gen_ai.tool.call.result", false, false],
  ["http.response.status_code", "503", 503],
  ["http.response.status_code", 7, undefined],
];

for (const [to, value, wanted] of cases) {
  test(`a rule to ${to} makes ${JSON.stringify(wanted) ?? "nothing"} of ${JSON.stringify(value)}`, () => {
    assert.deepEqual(made(to, value), wanted);
  });
}

test("a rule matches the span's exact name, or with * at the end its beginning, and any span without a name", () => {
  const spans = ["chat", "chat gpt", "Chat"].map(name => makeSpan(name, { name, attributes: { q: "Hi" } }));
  const matching = (spanName?: string) => {
    const rule: ConventionRule = {
      from: "q",
      to: "user.id",
      ...(spanName === undefined ? {} : { spanName }),
    };
    const { trace, matches } = applyRules(makeTrace(spans), [rule]);
    const named = trace.spans.filter(span => "user.id" in span.attributes).map(span => span.name);
    assert.deepEqual(matches, [named.length]);
    return named;
  };
  assert.deepEqual(matching(), ["chat", "chat gpt", "Chat"]);
  assert.deepEqual(matching("chat"), ["chat"]);
  assert.deepEqual(matching("chat*"), ["chat", "chat gpt"]);
  assert.deepEqual(matching("*"), ["chat", "chat gpt", "Chat"]);
  assert.deepEqual(matching("cha"), []);
});

test("a text for gen_ai.prompt is the user's input, with and without a convention", () => {
  const spans = [
    makeSpan("a", { attributes: { question: "Where is it?", "openinference.span.kind": "AGENT" } }),
  ];
  for (const conventions of [[], ["*"]]) {
    const { derived } = readBy(spans, [{ from: "question", to: "gen_ai.prompt" }], conventions);
    assert.equal(derived.userInput?.text, "Where is it?");
  }
});

const ownMessages = {
  "gen_ai.request.model": "gpt-4o",
  "gen_ai.input.messages": user("state of the agent"),
  "gen_ai.output.messages": assistant("raw reply"),
};
const ofOpenInference = {
  "openinference.span.kind": "LLM",
  "input.value": "state of the agent",
  "output.value": "raw reply",
};

for (const [writtenBy, attributes] of Object.entries({
  documented: ownMessages,
  convention: ofOpenInference,
})) {
  for (const conventions of [[], ["*"]]) {
    test(`the conversation shows the texts that rules give, and not what the span has there: ${writtenBy}, ${conventions.length} chosen`, () => {
      const { derived, spans } = readBy(
        [makeSpan("a", { attributes: { ...attributes, question: "Where is it?", answer: "In Lyon." } })],
        [
          { from: "question", to: "gen_ai.prompt" },
          { from: "answer", to: "gen_ai.response.text" },
        ],
        conventions,
      );
      assert.deepEqual([derived.userInput?.text, derived.responseText?.text], ["Where is it?", "In Lyon."]);
      const { turns } = showConversation(transcribe(spans), spans);
      assert.deepEqual(
        turns.map(turn => [
          turn.kind === "message" && turn.pieces.map(piece => piece.kind === "text" && piece.text).join(),
          turn.attribute,
          turn.translated?.convention,
        ]),
        [
          ["Where is it?", "question", "rules"],
          ["In Lyon.", "answer", "rules"],
        ],
      );
    });
  }
}

test("a list that is flattened into attributes is read by its prefix", () => {
  const attributes = { "app.messages.0.role": "user", "app.messages.0.content": "Where is it?" };
  const { derived, report } = readBy(
    [makeSpan("a", { attributes })],
    [{ from: "app.messages.*", to: "gen_ai.input.messages" }],
  );
  assert.equal(derived.userInput?.text, "Where is it?");
  assert.equal(report.translated[0]!.attribute, "app.messages.*");
});

test("of several rules for an attribute the first that has a value on the span counts", () => {
  const spans = [
    makeSpan("a", { attributes: { one: "1", two: "2" } }),
    makeSpan("b", { attributes: { one: "none", two: "20" } }),
  ];
  const rules: ConventionRule[] = [
    { from: "one", to: "gen_ai.usage.input_tokens" },
    { from: "two", to: "gen_ai.usage.input_tokens" },
  ];
  const { trace, matches } = applyRules(makeTrace(spans), rules);
  assert.deepEqual(matches, [1, 1]);
  assert.deepEqual(
    trace.spans.map(span => span.attributes["gen_ai.usage.input_tokens"]),
    [1, 20],
  );
});

const rules: ConventionRule[] = [
  { from: "app.question", to: "gen_ai.input.messages", spanName: "POST /chat" },
  { from: "app.answer", to: "gen_ai.response.text", spanName: "POST /chat" },
  { from: "app.tokens.in", to: "gen_ai.usage.input_tokens" },
  { from: "app.tokens.out", to: "gen_ai.usage.output_tokens" },
  { from: "app.user", to: "user.id" },
  { from: "fn.name", to: "gen_ai.tool.name", spanName: "fn *" },
  { from: "fn.args", to: "gen_ai.tool.call.arguments", spanName: "fn *" },
  { from: "fn.out", to: "gen_ai.tool.call.result", spanName: "fn *" },
];

const root = makeSpan("root", {
  name: "POST /chat",
  attributes: { "app.question": "Where is my parcel?", "app.answer": "In Lyon.", "app.user": 42 },
});
const model = makeSpan("model", {
  parent_span_id: "root",
  attributes: { "app.tokens.in": "43", "app.tokens.out": 14 },
});
const tool = makeSpan("tool", {
  name: "fn lookup",
  parent_span_id: "root",
  attributes: { "fn.name": "lookup", "fn.args": '{"order":7}', "fn.out": "In Lyon" },
});

test("rules read a trace that no convention knows, and each value names its attribute", () => {
  const { derived, identity, report, spans } = readBy([root, model, tool], rules);
  assert.equal(derived.userInput?.text, "Where is my parcel?");
  assert.equal(derived.responseText?.text, "In Lyon.");
  assert.equal(derived.judgedText?.text, "In Lyon.");
  assert.deepEqual(derived.tokens, { input: 43, output: 14, reasoning: null, cached: null, total: 57 });
  assert.deepEqual(
    derived.toolCalls.map(call => [call.name, call.arguments, call.parentSpanId]),
    [["lookup", { order: 7 }, "root"]],
  );
  assert.equal(identity.userId, "42");
  assert.deepEqual(
    report.translated.map(({ field, spanId, attribute, convention, replaced }) => [
      ...[field, spanId, attribute, convention, replaced],
    ]),
    [
      ["userInput", "root", "app.question", "rules", null],
      ["responseText", "root", "app.answer", "rules", null],
      ["tokens", "model", "app.tokens.in", "rules", null],
      ["userId", "root", "app.user", "rules", null],
    ],
  );
  const { turns } = showConversation(transcribe(spans), spans);
  assert.deepEqual(
    turns.map(({ kind, attribute, translated }) => [kind, attribute, translated?.convention]),
    [
      ["message", "app.question", "rules"],
      ["tool_call", "fn.args", "rules"],
      ["message", "app.answer", "rules"],
    ],
  );
});

test("rules go before what the span documents, and the report says what they replaced", () => {
  const documented = makeSpan("call", {
    parent_span_id: "root",
    attributes: {
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.input.messages": [{ role: "user", content: "rewritten question" }],
      "gen_ai.response.text": "draft",
      "user.id": "somebody",
    },
  });
  const { derived, identity, report } = readBy([root, documented], rules);
  assert.equal(derived.userInput?.text, "Where is my parcel?");
  assert.equal(derived.judgedText?.text, "In Lyon.");
  assert.equal(identity.userId, "42");
  const replaced = Object.fromEntries(report.translated.map(one => [one.field, one.replaced]));
  assert.deepEqual(replaced, {
    userInput: "rewritten question",
    responseText: "draft",
    userId: "somebody",
  });
});

test("a value that a convention reads from another span, or counts otherwise, is reported with what it replaced", () => {
  const call = (id: string, at: number, asked: unknown[], reply: string) =>
    makeSpan(id, {
      parent_span_id: "agent",
      start_time_unix_nano: String(at),
      end_time_unix_nano: String(at + 1),
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.input.messages": asked,
        "gen_ai.output.messages": assistant(reply),
        "gen_ai.usage.reasoning.output_tokens": 3,
      },
    });
  const spans = [
    makeSpan("agent", {
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": user("Where is it?"),
        "gen_ai.usage.reasoning.output_tokens": 5,
      },
    }),
    call("first", 1, user("Where is it?"), "Which one?"),
    call(
      "second",
      3,
      [...user("Where is it?"), ...assistant("Which one?"), ...user("The blue one.")],
      "In Lyon.",
    ),
  ];
  const { derived, report } = readBy(spans, [], ["*"]);
  assert.equal(derived.userInput?.text, "Where is it?");
  const convention = "opentelemetry";
  assert.deepEqual(report.translated, [
    {
      ...{ field: "userInput", spanId: "agent", attribute: "gen_ai.input.messages", event: null, convention },
      replaced: "The blue one.",
    },
    {
      ...{ field: "tokens", spanId: "first", attribute: "gen_ai.usage.reasoning.output_tokens", event: null },
      convention,
      replaced: { input: null, output: null, reasoning: 5, cached: null, total: null },
    },
  ]);
  assert.deepEqual(
    readBy(spans.slice(0, 2), [], ["*"]).report.translated.map(one => one.field),
    ["tokens"],
  );
});

test("rules go before the convention that recognizes the span, which gives the rest", () => {
  const llm = makeSpan("llm", {
    parent_span_id: "root",
    attributes: {
      "openinference.span.kind": "LLM",
      "input.value": "system state",
      "output.value": "In Lyon.",
      "llm.token_count.prompt": 43,
      "llm.token_count.completion": 14,
      "llm.model_name": "gpt-4o",
      "app.question": "Where is my parcel?",
      "app.prompt_tokens": 40,
      "session.id": "by the convention",
      "app.chat": "by the rule",
    },
  });
  const step = makeSpan("root", {
    attributes: { "openinference.span.kind": "CHAIN", "input.value": "dump" },
  });
  const { derived, identity, report, spans } = readBy(
    [step, llm],
    [
      { from: "app.question", to: "gen_ai.input.messages" },
      { from: "app.prompt_tokens", to: "gen_ai.usage.input_tokens" },
      { from: "app.chat", to: "gen_ai.conversation.id" },
    ],
    ["openinference"],
  );
  assert.equal(derived.userInput?.text, "Where is my parcel?");
  assert.equal(derived.responseText?.text, "In Lyon.");
  assert.deepEqual([derived.tokens.input, derived.tokens.output], [40, 14]);
  assert.equal(identity.conversationId, "by the rule");
  assert.equal(identity.model, "gpt-4o");
  const sources = Object.fromEntries(
    report.translated.map(one => [one.field, [one.attribute, one.convention]]),
  );
  assert.deepEqual(sources, {
    userInput: ["app.question", "rules"],
    responseText: ["output.value", "openinference"],
    tokens: ["app.prompt_tokens", "rules"],
    model: ["llm.model_name", "openinference"],
    conversationId: ["app.chat", "rules"],
  });
  const { turns } = showConversation(transcribe(spans), spans);
  assert.deepEqual(
    turns.map(({ attribute, translated }) => [attribute, translated?.convention]),
    [
      ["app.question", "rules"],
      ["output.value", "openinference"],
    ],
  );
});

test("a rule for one thing leaves events and attributes of the convention to it in their order", () => {
  const llm = makeSpan("llm", {
    attributes: { "openinference.span.kind": "LLM", "input.value": "Where is my parcel?", "app.user": "ada" },
    events: [{ name: "gen_ai.user.message", attributes: { content: "of the event" } }],
  });
  const { derived, identity } = readBy([llm], [{ from: "app.user", to: "user.id" }], ["openinference"]);
  assert.deepEqual([derived.userInput?.text, identity.userId], ["Where is my parcel?", "ada"]);
});

test("a rule that names a tool makes a convention's step a call, with the arguments that the convention reads", () => {
  const step = makeSpan("step", {
    attributes: { "openinference.span.kind": "CHAIN", fn: "lookup", args: '{"order":7}', "input.value": "x" },
  });
  const named: ConventionRule = { from: "fn", to: "gen_ai.tool.name" };
  const given: ConventionRule = { from: "args", to: "gen_ai.tool.call.arguments" };
  const call = (ruled: ConventionRule[]) =>
    readBy([step], ruled, ["openinference"]).derived.toolCalls.map(one => [one.name, one.arguments]);
  assert.deepEqual(call([]), []);
  assert.deepEqual(call([named]), [["lookup", null]]);
  assert.deepEqual(call([named, given]), [["lookup", { order: 7 }]]);
});

test("counts that rules give the root are those of the trace", () => {
  const llm = makeSpan("llm", {
    parent_span_id: "root",
    attributes: {
      "openinference.span.kind": "LLM",
      "llm.token_count.prompt": 43,
      "llm.token_count.completion": 14,
    },
  });
  const total: ConventionRule = { from: "app.total", to: "gen_ai.usage.input_tokens" };
  for (const kind of [{}, { "openinference.span.kind": "AGENT" }]) {
    const top = makeSpan("root", { attributes: { ...kind, "app.total": 100 } });
    const { tokens } = readBy([top, llm], [total], ["openinference"]).derived;
    assert.deepEqual([tokens.input, tokens.output, tokens.total], [100, 14, 114]);
  }
});

test("ids that rules give several spans count if they agree", () => {
  const spans = ["a", "b"].map((id, at) =>
    makeSpan(id, { attributes: { chat: `chat ${at}`, same: "one", "session.id": "sent" } }),
  );
  const idBy = (from: string) =>
    readBy(spans, [{ from, to: "gen_ai.conversation.id" }]).identity.conversationId;
  assert.deepEqual([idBy("chat"), idBy("same"), idBy("none")], [null, "one", "sent"]);
});

test("a trace whose texts have more values than fit on the heap is read as without rules", () => {
  const text = `[${"[],".repeat(100_000)}[]]`;
  const spans = Array.from({ length: 11 }, (_, at) => makeSpan(`${at}`, { attributes: { q: text } }));
  const { trace, matches } = applyRules(makeTrace(spans), [{ from: "q", to: "gen_ai.tool.call.result" }]);
  assert.deepEqual(matches, [0]);
  assert.equal(trace.spans[0], spans[0]);
});
