// Drafts say what was seen: limits with room, tools with the arguments worth naming, steps that will come again.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { candidatesFor, valueAt } from "../../src/editor/draft-assertion.ts";
import { roundUp, shortValues } from "../../src/editor/draft-parts.ts";
import { proposeTest } from "../../src/editor/draft-test.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { root, span, tool, traceOf } from "../evaluate/makers.ts";

const propose = (...spans: Span[]) => {
  const trace = traceOf(...spans);
  return proposeTest(trace, derive(trace));
};
const first = (...spans: Span[]) => propose(...spans).assertions.map(([best]) => best);

test("a limit is rounded up to two digits and is never below what was seen", () => {
  assert.deepEqual([0, 7, 99, 101, 1_234, 98_765].map(roundUp), [0, 7, 99, 110, 1_300, 99_000]);
  fc.assert(
    fc.property(fc.double({ min: 0, max: Number.MAX_SAFE_INTEGER, noNaN: true }), value => {
      assert.ok(roundUp(value) >= value && Number.isSafeInteger(roundUp(value)));
    }),
  );
});

test("the input becomes the turn, the scenario and the name, on one line", () => {
  const { name, scenario, turns } = propose(root({ "gen_ai.prompt": "Where is\nmy order\0?" }));
  assert.deepEqual(turns, [{ input: "Where is\nmy order\0?" }]);
  assert.equal(name, "Like: Where is my order?");
  assert.equal(scenario, "The user writes something like: Where is my order?");
});

test("without an input there is no turn and no scenario, and the trace's name serves", () => {
  const { name, scenario, turns } = propose(root());
  assert.deepEqual([name, scenario, turns], ["Like: conversation", "", []]);
});

test("each tool is expected once, with the short arguments of its first call", () => {
  const calls = [
    tool("find", { id: 7, deep: { ok: true, list: [1] }, text: "x".repeat(201), $odd: 1 }),
    tool("find", { id: 8 }),
    tool("send"),
  ];
  assert.deepEqual(first(root(), ...calls), [
    { type: "tool_call", expected_name: "find", expected_arguments: { id: 7, deep: { ok: true } } },
    { type: "tool_call", expected_name: "send" },
  ]);
});

test("the steps nearest the root come first; tools and names made up for one run are no steps", () => {
  const spans = [
    root(),
    span({ span_id: "a", name: "plan" }),
    span({ name: "search", parent_span_id: "a" }),
    span({ name: "answer" }),
    span({ name: "task 3f2a9c1e" }),
  ];
  assert.deepEqual(
    first(...spans),
    ["plan", "answer", "search"].map(expected_name => ({ type: "node_call", expected_name })),
  );
});

test("status, tokens and time are expected with room above what was seen", () => {
  const attributes = {
    "http.response.status_code": 201,
    "gen_ai.usage.input_tokens": 900,
    "gen_ai.usage.output_tokens": 101,
  };
  const times = { start_time_unix_nano: "1000000000", end_time_unix_nano: "2234000000" };
  assert.deepEqual(first(root(attributes, times)), [
    { type: "http_status", expected_status: 201 },
    { type: "token_limit", max_total: 1_600 },
    { type: "response_time", max_ms: 2_500 },
  ]);
});

test("with one side of the usage alone, the limit is on that side", () => {
  assert.deepEqual(first(root({ "gen_ai.usage.output_tokens": 10 })), [
    { type: "token_limit", max_output: 15 },
  ]);
});

test("nothing is named of arguments that no document could compare", () => {
  for (const value of [null, [1], {}, { $gt: 1 }, { a: { b: { c: { d: 1 } } } }, Number.POSITIVE_INFINITY]) {
    assert.equal(shortValues(value), undefined);
  }
});

const order = { items: [{ sku: "a-1" }, { sku: "b-2" }], total: 12.5 };
const conversation = [
  root({ "http.response.status_code": "200", "gen_ai.response.text": "It costs $12.50 (all in).\nThanks" }),
  span({
    span_id: "cart",
    name: "cart",
    attributes: { "app.order": JSON.stringify(order), "app.tier": "gold" },
  }),
  { ...tool("pay", JSON.stringify({ order, card: { last4: "4242" } })), span_id: "pay" },
  span({ span_id: "model", name: "chat", attributes: { "gen_ai.usage.input_tokens": 100 } }),
];

const about = (spanId: string, attribute: string | null, path: (string | number)[] = []) => {
  const found = conversation.find(({ span_id }) => span_id === spanId)!;
  return candidatesFor(derive(traceOf(...conversation)), { span: found, attribute, path })[0];
};

test("the kind of assertion follows from what was chosen", () => {
  assert.deepEqual(about("root", "http.response.status_code"), { type: "http_status", expected_status: 200 });
  assert.deepEqual(about("root", "gen_ai.response.text"), {
    type: "response_regex",
    pattern: "It costs \\$12\\.50 \\(all in\\)\\.",
  });
  assert.deepEqual(about("model", "gen_ai.usage.input_tokens"), { type: "token_limit", max_input: 150 });
  assert.deepEqual(about("cart", null), { type: "node_call", expected_name: "cart" });
  assert.deepEqual(about("pay", null), { type: "tool_call", expected_name: "pay" });
  assert.deepEqual(about("pay", "gen_ai.tool.name"), { type: "tool_call", expected_name: "pay" });
  assert.deepEqual(about("cart", "app.tier"), {
    type: "json_match",
    target_node: "cart",
    field: "app.tier",
    expected_value: "gold",
  });
  assert.deepEqual(about("cart", "app.order"), {
    type: "json_match",
    target_node: "cart",
    field: "app.order",
    expected_value: order,
  });
});

test("a status is expected only where it is read as the trace's status", () => {
  const attribute = "http.response.status_code";
  // Number() throws on the first, and gives 200 for the others.
  for (const [value, path] of [
    [{ toString: false }, []],
    [[200], []],
    [" 200 ", []],
    [{ code: 200 }, ["code"]],
  ] as const) {
    const odd = span({ name: "odd", attributes: { [attribute]: value } });
    const derived = derive(traceOf(root({ [attribute]: 200 }), odd));
    const [best] = candidatesFor(derived, { span: odd, attribute, path: [...path] });
    assert.equal(best?.type, path.length > 0 ? "json_schema" : "json_match", JSON.stringify(value));
  }
});

test("a part of the arguments becomes partial arguments, an item of a list one of its items", () => {
  assert.deepEqual(about("pay", "gen_ai.tool.call.arguments", ["order", "items", 1, "sku"]), {
    type: "tool_call",
    expected_name: "pay",
    expected_arguments: { order: { items: [{ sku: "b-2" }] } },
  });
});

test("a part of any other attribute becomes a schema that asks for this part alone", () => {
  assert.deepEqual(about("cart", "app.order", ["total"]), {
    type: "json_schema",
    target_node: "cart",
    field: "app.order",
    schema: { type: "object", required: ["total"], properties: { total: { const: 12.5 } } },
    match: "any",
  });
});

test("a path leads through JSON text to own keys only", () => {
  const place = (path: (string | number)[]) => ({ span: conversation[1]!, attribute: "app.order", path });
  assert.equal(valueAt(place(["items", 0, "sku"])), "a-1");
  for (const path of [["items", 2], ["constructor"], ["total", "toFixed"], ["items", 0, "sku", 0]]) {
    assert.equal(valueAt(place(path)), undefined);
  }
});
