// Every type of assertion: when it passes, when it fails, and what negation turns round.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Span } from "../../src/model/trace/trace.ts";
import { assertRendered, checkOf, root, span, tool } from "./makers.ts";

const timed = (ms: number) =>
  root({}, { start_time_unix_nano: "1000000000000000000", end_time_unix_nano: `1000000000${ms}000000` });
const usage = (input?: unknown, output?: unknown, reasoning?: unknown) =>
  root({
    ...(input === undefined ? {} : { "gen_ai.usage.input_tokens": input }),
    ...(output === undefined ? {} : { "gen_ai.usage.output_tokens": output }),
    ...(reasoning === undefined ? {} : { "gen_ai.usage.reasoning.output_tokens": reasoning }),
  });
const replied = (text: string) => root({ "gen_ai.response.text": text });
const named = (...names: string[]) => [root(), ...names.map(name => span({ name }))];
const holding = (name: string, attributes: Span["attributes"]) => [root(), span({ name, attributes })];
const args = (expected_arguments: unknown, fields: object = {}) => ({
  type: "tool_call",
  expected_name: "refund",
  expected_arguments,
  ...fields,
});

type Case = [name: string, assertion: Record<string, unknown>, spans: Span[]];

/** Comparisons that hold: passed, and failed once negated. */
const hold: Case[] = [
  [
    "node_call: a part of the name, ignoring case",
    { type: "node_call", expected_name: "SEARCH" },
    named("Web search 2"),
  ],
  [
    "node_call: a part that ends in a sigma within the name",
    { type: "node_call", expected_name: "ΕΛΕΓΧΟΣ" },
    named("ΕΛΕΓΧΟΣΑ"),
  ],
  [
    "node_call: one sigma, and a name that ends in it",
    { type: "node_call", expected_name: "Σ" },
    named("ΟΔΟΣ"),
  ],
  ["node_call: the root alone", { type: "node_call", expected_name: "conv" }, [root()]],
  [
    "node_call: a span at any depth",
    { type: "node_call", expected_name: "deep" },
    [...named("a"), span({ name: "deep", parent_span_id: "gone" })],
  ],
  [
    "node_call: max reached",
    { type: "node_call", expected_name: "search", min: 2, max: 2 },
    named("search", "search"),
  ],
  [
    "node_call: never, as asked",
    { type: "node_call", expected_name: "search", min: 0, max: 0 },
    named("other"),
  ],
  ["tool_call: exactly this name", { type: "tool_call", expected_name: "refund" }, [root(), tool("refund")]],
  [
    "tool_call: never, as asked",
    { type: "tool_call", expected_name: "refund", min: 0, max: 0 },
    named("other"),
  ],
  [
    "tool_call: within the range",
    { type: "tool_call", expected_name: "a", min: 2, max: 3 },
    [root(), tool("a"), tool("a"), tool("b")],
  ],
  [
    "tool_call: arguments as JSON text",
    args({ amount: 5 }),
    [root(), tool("refund", '{"amount":5,"to":"x"}')],
  ],
  ["tool_call: arguments as an object", args({ amount: 5 }), [root(), tool("refund", { amount: 5 })]],
  [
    "tool_call: arguments that are no JSON, under value",
    args({ value: "five" }),
    [root(), tool("refund", "five")],
  ],
  [
    "tool_call: one call of several has the arguments",
    args({ n: 2 }),
    [root(), tool("refund", { n: 1 }), tool("refund", { n: 2 })],
  ],
  [
    "tool_call: exact arguments",
    args({ a: [1, { b: null }] }, { arguments_mode: "exact" }),
    [root(), tool("refund", { a: [1, { b: null }] })],
  ],
  [
    "token_limit: at the limit",
    { type: "token_limit", max_total: 15, max_input: 10, max_output: 5 },
    [usage(10, 5)],
  ],
  ["token_limit: reasoning", { type: "token_limit", max_reasoning: 3 }, [usage(10, 5, 3)]],
  [
    "token_limit: summed over the spans",
    { type: "token_limit", max_total: 6 },
    [
      root(),
      ...[1, 2].map(n =>
        span({ attributes: { "gen_ai.usage.input_tokens": n, "gen_ai.usage.output_tokens": String(n) } }),
      ),
    ],
  ],
  [
    "http_status: the status",
    { type: "http_status", expected_status: 200 },
    [root({ "http.response.status_code": 200 })],
  ],
  [
    "http_status: as text",
    { type: "http_status", expected_status: 200 },
    [root({ "http.response.status_code": "200" })],
  ],
  [
    "http_status: one of a list",
    { type: "http_status", expected_status: [200, 404] },
    [root({ "http.response.status_code": 404 })],
  ],
  [
    "http_status: of a class",
    { type: "http_status", expected_status: "2XX" },
    [root({ "http.response.status_code": 299 })],
  ],
  [
    "http_status: of a descendant",
    { type: "http_status", expected_status: 503 },
    [root(), span({ attributes: { "http.response.status_code": 503 } })],
  ],
  ["response_time: at the limit", { type: "response_time", max_ms: 250 }, [timed(250)]],
  [
    "response_regex: somewhere in the reply",
    { type: "response_regex", pattern: "\\d+ EUR" },
    [replied("It is 25 EUR.")],
  ],
  [
    "response_regex: ignoring case",
    { type: "response_regex", pattern: "eur", flags: "i" },
    [replied("It is 25 EUR.")],
  ],
  [
    "response_regex: a no-break space",
    { type: "response_regex", pattern: "10\\s€" },
    [replied("It costs 10\u00a0€.")],
  ],
  [
    "response_regex: an ideographic space",
    { type: "response_regex", pattern: "合計\\s100" },
    [replied("合計\u3000100")],
  ],
  [
    "response_regex: invisible characters in the text",
    { type: "response_regex", pattern: "^refund$" },
    [replied("\u200bre\u00adfu\u2060nd\ufeff")],
  ],
  [
    "response_regex: invisible characters in the pattern",
    { type: "response_regex", pattern: "re\u200bfund" },
    [replied("No refund.")],
  ],
  [
    "response_regex: an invisible character that the pattern names",
    { type: "response_regex", pattern: "re\\u200bfund" },
    [replied("re\u200bfund")],
  ],
  [
    "response_regex: any of the spans named",
    { type: "response_regex", pattern: "^b$", target_node: "LLM" },
    [
      root(),
      ...["a", "b", "c"].map(text => span({ name: "my llm", attributes: { "gen_ai.response.text": text } })),
    ],
  ],
  [
    "response_regex: a long reply",
    { type: "response_regex", pattern: "end$" },
    [replied(`${"x".repeat(60_000)}end`)],
  ],
  [
    "response_regex: the response text, whatever the messages say",
    { type: "response_regex", pattern: "^yes$" },
    [
      root({
        "gen_ai.response.text": "yes",
        "gen_ai.output.messages": [{ role: "assistant", parts: [{ type: "text", content: "no" }] }],
      }),
    ],
  ],
  [
    "response_regex: messages where the text is absent",
    { type: "response_regex", pattern: "^hello$" },
    [
      root({
        "gen_ai.output.messages": [{ role: "assistant", parts: [{ type: "text", content: "hello" }] }],
      }),
    ],
  ],
  [
    "json_match: a number",
    { type: "json_match", target_node: "STEP", field: "n", expected_value: 5 },
    holding("my step", { n: 5 }),
  ],
  [
    "json_match: keys in any order",
    { type: "json_match", target_node: "step", field: "o", expected_value: { a: 1, b: [2] } },
    holding("step", { o: { b: [2], a: 1 } }),
  ],
  [
    "json_match: JSON text, parsed",
    { type: "json_match", target_node: "step", field: "o", expected_value: { a: [true] } },
    holding("step", { o: '{"a":[true]}' }),
  ],
  [
    "json_match: JSON text, as text",
    { type: "json_match", target_node: "step", field: "o", expected_value: "[1]" },
    holding("step", { o: "[1]" }),
  ],
  [
    "json_match: null as text",
    { type: "json_match", target_node: "step", field: "o", expected_value: null },
    holding("step", { o: "null" }),
  ],
  [
    "json_match: a key with dots is one key",
    { type: "json_match", target_node: "step", field: "a.b", expected_value: 1 },
    holding("step", { "a.b": 1, a: { b: 2 } }),
  ],
  [
    "json_match: any of the spans named",
    { type: "json_match", target_node: "step", field: "n", expected_value: 2 },
    [root(), ...[1, 2, 3].map(n => span({ attributes: { n } }))],
  ],
  [
    "json_match: spans named by a part that ends in a sigma",
    { type: "json_match", target_node: "ΟΔΟΣ", field: "n", expected_value: 1 },
    [root(), span({ name: "ΟΔΟΣΗΜΑΝΣΗ", attributes: { n: 1 } })],
  ],
  [
    "json_match: a tool call's span",
    { type: "json_match", target_node: "call", field: "gen_ai.tool.name", expected_value: "refund" },
    [root(), tool("refund")],
  ],
  [
    "tool_call: a large integer in JSON text",
    args({ id: "9007199254740993" }),
    [root(), tool("refund", '{"id":9007199254740993}')],
  ],
];

/** Comparisons that do not hold: failed, and passed once negated. */
const fall: Case[] = [
  ["node_call: another name", { type: "node_call", expected_name: "search" }, named("other")],
  [
    "node_call: a tool call is no node",
    { type: "node_call", expected_name: "refund" },
    [...named("other"), tool("refund")],
  ],
  ["node_call: too often", { type: "node_call", expected_name: "search", max: 1 }, named("search", "search")],
  ["tool_call: another case", { type: "tool_call", expected_name: "refund" }, [root(), tool("Refund")]],
  [
    "tool_call: a part of the name",
    { type: "tool_call", expected_name: "refund" },
    [root(), tool("refund_all")],
  ],
  ["tool_call: no tool calls at all", { type: "tool_call", expected_name: "refund" }, named("other")],
  ["tool_call: other arguments", args({ amount: 5 }), [root(), tool("refund", { amount: "5" })]],
  [
    "tool_call: more arguments than exactly these",
    args({ a: 1 }, { arguments_mode: "exact" }),
    [root(), tool("refund", { a: 1, b: 2 })],
  ],
  [
    "tool_call: too few with these arguments",
    args({ a: 1 }, { min: 2 }),
    [root(), tool("refund", { a: 1 }), tool("refund", { a: 2 })],
  ],
  [
    "token_limit: one of the limits exceeded",
    { type: "token_limit", max_total: 100, max_output: 4 },
    [usage(10, 5)],
  ],
  ["token_limit: one side alone exceeds the total", { type: "token_limit", max_total: 9 }, [usage(10)]],
  [
    "http_status: another",
    { type: "http_status", expected_status: 200 },
    [root({ "http.response.status_code": 500 })],
  ],
  [
    "http_status: none of a list",
    { type: "http_status", expected_status: [200, 201] },
    [root({ "http.response.status_code": 202 })],
  ],
  [
    "http_status: another class",
    { type: "http_status", expected_status: "2xx" },
    [root({ "http.response.status_code": 300 })],
  ],
  ["response_time: over the limit", { type: "response_time", max_ms: 249.9 }, [timed(250)]],
  ["response_regex: another case", { type: "response_regex", pattern: "eur" }, [replied("It is 25 EUR.")]],
  [
    "response_regex: an invisible character that is not there",
    { type: "response_regex", pattern: "\u200b" },
    [replied("refund")],
  ],
  [
    "response_regex: nothing but an invisible character",
    { type: "response_regex", pattern: "\\S" },
    [replied("\u200b")],
  ],
  [
    "response_regex: none of the spans named",
    { type: "response_regex", pattern: "^d$", target_node: "llm" },
    [root(), span({ name: "llm", attributes: { "gen_ai.response.text": "a" } })],
  ],
  [
    "json_match: another value",
    { type: "json_match", target_node: "step", field: "n", expected_value: 5 },
    holding("step", { n: 6 }),
  ],
  [
    "json_match: another large integer",
    { type: "json_match", target_node: "step", field: "n", expected_value: "9007199254740992" },
    holding("step", { n: "9007199254740993" }),
  ],
  [
    "json_match: another large integer in JSON text",
    { type: "json_match", target_node: "step", field: "n", expected_value: { id: "9007199254740992" } },
    holding("step", { n: '{"id":9007199254740993}' }),
  ],
  [
    "tool_call: another large integer in JSON text",
    args({ id: "9007199254740992" }),
    [root(), tool("refund", '{"id":9007199254740993}')],
  ],
  [
    "json_match: text is no number",
    { type: "json_match", target_node: "step", field: "n", expected_value: 5 },
    holding("step", { n: '"five"' }),
  ],
  [
    "json_match: one key more",
    { type: "json_match", target_node: "step", field: "o", expected_value: { a: 1 } },
    holding("step", { o: { a: 1, b: 2 } }),
  ],
  [
    "json_match: one key less",
    { type: "json_match", target_node: "step", field: "o", expected_value: { a: 1, b: 2 } },
    holding("step", { o: { a: 1 } }),
  ],
  [
    "json_match: a list in another order",
    { type: "json_match", target_node: "step", field: "o", expected_value: [1, 2] },
    holding("step", { o: [2, 1] }),
  ],
];

suite("comparisons", () => {
  for (const [outcome, negated, cases] of [
    ["passed", "failed", hold],
    ["failed", "passed", fall],
  ] as const) {
    for (const [name, assertion, spans] of cases) {
      test(`${name}: ${outcome}, and ${negated} when negated`, () => {
        const check = checkOf(assertion, spans);
        assert.equal(check.outcome, outcome, check.reason);
        assert.match(check.reason, /^\S.*[^.]\.$/s);
        assert.equal(check.skipped, undefined);
        const turned = checkOf({ ...assertion, negate: true }, spans);
        assert.equal(turned.outcome, negated, turned.reason);
        assert.doesNotMatch(turned.reason, /negated/i);
        assert.equal(turned.reasonData?.["negated"], true);
        for (const one of [check, turned]) assertRendered(one);
      });
    }
  }
});

suite("what a check shows", () => {
  test("node_call shows the nodes it matched, or the names it searched", () => {
    const found = checkOf({ type: "node_call", expected_name: "b" }, named("a", "b1", "b2"));
    assert.deepEqual(found.expected, { expected_name: "b", min: 1 });
    assert.deepEqual(found.actual, { count: 2, names: ["b1", "b2"] });
    assert.deepEqual(
      found.evidence.map(({ attribute, value }) => [attribute, value]),
      [
        [null, "b1"],
        [null, "b2"],
      ],
    );
    const missed = checkOf({ type: "node_call", expected_name: "z" }, named("a"));
    assert.deepEqual(missed.actual, { count: 0, searched: ["conversation", "a"] });
  });

  test("node_call lists a bounded number of names", () => {
    const { actual, evidence, reason } = checkOf(
      { type: "node_call", expected_name: "z" },
      named(...Array.from({ length: 500 }, (_, at) => `n${at}`)),
    );
    assert.equal((actual as { searched: string[] }).searched.length, 50);
    assert.equal(evidence.length, 20);
    assert.ok(reason.length < 400);
  });

  test("tool_call names the near miss", () => {
    const check = checkOf({ type: "tool_call", expected_name: "get_weather" }, [
      root(),
      tool("getWeather"),
      tool("mail"),
    ]);
    assert.deepEqual(check.actual, { count: 0, called: ["getWeather", "mail"], nearMisses: ["getWeather"] });
    assert.match(check.reason, /must match exactly, and "getWeather" does not/);
  });

  test("tool_call shows where the arguments differ", () => {
    const call = tool("refund", '{"amount":5,"order":{"id":"B"}}');
    const check = checkOf(args({ amount: { $gt: 10 }, order: { id: "A", on: 1 } }), [root(), call]);
    assert.deepEqual(check.actual, {
      count: 0,
      called: ["refund"],
      differences: [
        {
          spanId: call.span_id,
          differences: [
            { path: "amount", expected: { $gt: 10 }, actual: 5 },
            { path: "order.id", expected: "A", actual: "B" },
            { path: "order.on", expected: 1 },
          ],
        },
      ],
    });
    assert.deepEqual(check.evidence, [
      {
        spanId: call.span_id,
        attribute: "gen_ai.tool.call.arguments",
        value: { amount: 5, order: { id: "B" } },
      },
    ]);
  });

  test("tool_call says that the trace has no arguments, not that they differ", () => {
    const check = checkOf(args({ amount: 5 }), [root(), tool("refund"), tool("refund")]);
    assert.equal(check.outcome, "failed");
    assert.match(check.reason, /; the trace has no arguments for these calls\.$/);
    const some = checkOf(args({ amount: 5 }), [root(), tool("refund"), tool("refund", '{"amount":6}')]);
    assert.match(some.reason, /; the arguments differ\.$/);
  });

  test("token_limit points at the usage it counted", () => {
    const check = checkOf({ type: "token_limit", max_total: 9 }, [usage(10, 5)]);
    assert.deepEqual([check.expected, check.actual], [{ max_total: 9 }, { total: 15 }]);
    assert.deepEqual(check.evidence, [
      { spanId: "root", attribute: "gen_ai.usage.input_tokens", value: 10 },
      { spanId: "root", attribute: "gen_ai.usage.output_tokens", value: 5 },
    ]);
    assert.equal(check.reason, "The trace used 15 total tokens (limit: 9).");
  });

  test("token_limit points at no usage that it did not count", () => {
    const key = "gen_ai.usage.input_tokens";
    const evidenceOf = (...spans: Span[]) =>
      checkOf({ type: "token_limit", max_input: 9 }, spans).evidence.map(({ spanId, value }) => [
        spanId,
        value,
      ]);
    const call = (parent: string) =>
      span({ span_id: "call", parent_span_id: parent, attributes: { [key]: 10 } });
    const agent = span({
      span_id: "agent",
      attributes: { [key]: 10, "gen_ai.operation.name": "invoke_agent" },
    });
    assert.deepEqual(evidenceOf(root({ [key]: "n/a" }), call("root")), [["call", 10]]);
    assert.deepEqual(evidenceOf(root(), agent, call("agent")), [["call", 10]]);
    assert.deepEqual(evidenceOf(root({ [key]: 10 }), call("root")), [["root", 10]]);
    assert.deepEqual(evidenceOf(root(), agent), [["agent", 10]]);
  });

  test("http_status and response_time show what they compared", () => {
    const status = checkOf({ type: "http_status", expected_status: "2xx" }, [
      root({ "http.response.status_code": "404" }),
    ]);
    assert.deepEqual([status.expected, status.actual], ["2xx", 404]);
    assert.equal(status.evidence[0]?.attribute, "http.response.status_code");
    const time = checkOf({ type: "response_time", max_ms: 100 }, [timed(250)]);
    assert.deepEqual([time.expected, time.actual], [{ max_ms: 100 }, 250]);
  });

  test("response_time shows as many digits as tell the duration from the limit", () => {
    const took = (nanos: string) =>
      checkOf({ type: "response_time", max_ms: 1000 }, [
        root({}, { start_time_unix_nano: "1000000000000000000", end_time_unix_nano: `100000000${nanos}` }),
      ]);
    const over = took("1000000001");
    assert.deepEqual(
      [over.outcome, over.reason],
      ["failed", "The trace took 1000.000001 ms (limit: 1000 ms)."],
    );
    assert.equal(took("1000000000").reason, "The trace took 1000 ms (limit: 1000 ms).");
    assert.equal(took("0999999999").reason, "The trace took 1000 ms (limit: 1000 ms).");
    assert.equal(took("1234567891").reason, "The trace took 1234.568 ms (limit: 1000 ms).");
  });

  test("response_regex shows what it matched", () => {
    const check = checkOf({ type: "response_regex", pattern: "\\d+ EUR" }, [replied("It is 25 EUR.")]);
    assert.equal(check.actual, "25 EUR");
    assert.deepEqual(check.evidence, [
      { spanId: "root", attribute: "gen_ai.response.text", value: "It is 25 EUR." },
    ]);
  });

  test("long values are shown shortened, and no character is cut in half", () => {
    const spans = holding("step", { o: `${"x".repeat(498)}😀😀` });
    const { actual } = checkOf(
      { type: "json_match", target_node: "step", field: "o", expected_value: 1 },
      spans,
    );
    assert.equal(actual, `${"x".repeat(498)}…`);
    const list = Array.from({ length: 10_000 }, (_, at) => at);
    const check = checkOf(
      { type: "json_match", target_node: "step", field: "o", expected_value: 1 },
      holding("step", { o: list }),
    );
    assert.match(String(check.evidence[0]?.value), /^\[0,1,2,.*…$/);
    assert.ok(String(check.evidence[0]?.value).length <= 500);
  });
});

test("response_regex: what matched is kept as it was sent, invisible characters included", () => {
  const text = "No \u200bre\u200b\u00adfund\u200b, sorry.";
  assert.deepEqual(checkOf({ type: "response_regex", pattern: "refund" }, [replied(text)]).match, {
    before: "No \u200b",
    text: "re\u200b\u00adfund",
    after: "\u200b, sorry.",
  });
});

test("response_regex: what matched is kept with the text around it, cut between characters", () => {
  const far = "😀".repeat(70);
  const found = (text: string) =>
    checkOf({ type: "response_regex", pattern: "\\d+ EUR" }, [replied(text)]).match;
  assert.deepEqual(found("It is 25 EUR."), { before: "It is ", text: "25 EUR", after: "." });
  const match = found(`x${far}25 EUR${far}`)!;
  assert.equal(match.text, "25 EUR");
  assert.ok(match.before.length <= 121 && match.after.length <= 120);
  assert.ok((match.before + match.after).isWellFormed());
  assert.equal(found("It is free."), undefined);
});
