// Missing instrumentation: each check reports what is missing in the trace, and negation does not change that.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Outcome } from "../../src/model/run/outcome.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { assertRendered, checkOf, root, span, tool } from "./makers.ts";

const broken = root({}, { status: { code: 2 } });
const silent = span({ name: "llm" });
const schema = { type: "object" };
const call = (input?: unknown, output?: unknown, fields: Partial<Span> = {}) =>
  span({
    name: "chat",
    attributes: {
      "gen_ai.request.model": "m",
      ...(input === undefined ? {} : { "gen_ai.usage.input_tokens": input }),
      ...(output === undefined ? {} : { "gen_ai.usage.output_tokens": output }),
    },
    ...fields,
  });

const cases: [
  name: string,
  assertion: Record<string, unknown>,
  spans: Span[],
  outcome: Outcome,
  says: RegExp,
][] = [
  [
    "token_limit without usage",
    { type: "token_limit", max_total: 5 },
    [root()],
    "missing_instrumentation",
    /^The trace has no token usage: gen_ai\.usage\.input_tokens and gen_ai\.usage\.output_tokens are missing\.$/,
  ],
  [
    "token_limit with one side of the total absent",
    { type: "token_limit", max_total: 10 },
    [root({ "gen_ai.usage.input_tokens": 10 })],
    "missing_instrumentation",
    /output_tokens is missing/,
  ],
  [
    "token_limit with one of its limits unknown",
    { type: "token_limit", max_input: 10, max_output: 10 },
    [root({ "gen_ai.usage.input_tokens": 5 })],
    "missing_instrumentation",
    /output_tokens is missing/,
  ],
  [
    "token_limit without reasoning tokens",
    { type: "token_limit", max_reasoning: 10 },
    [root({ "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 5 })],
    "missing_instrumentation",
    /^The trace has no count of reasoning tokens: gen_ai\.usage\.reasoning\.output_tokens is missing\.$/,
  ],
  [
    "token_limit with usage beyond 2^53−1",
    { type: "token_limit", max_input: 10 },
    [root({ "gen_ai.usage.input_tokens": "9007199254740992" })],
    "missing_instrumentation",
    /no usable count of input tokens: gen_ai\.usage\.input_tokens is not a whole number up to 2\^53−1\.$/,
  ],
  [
    "token_limit with usage that is no whole number on one side",
    { type: "token_limit", max_total: 10 },
    [root(), span({ name: "llm", attributes: { "gen_ai.usage.output_tokens": 1.5 } })],
    "missing_instrumentation",
    /input_tokens is missing, and gen_ai\.usage\.output_tokens is not a whole number/,
  ],
  [
    "http_status with a status that is no status code",
    { type: "http_status", expected_status: 200 },
    [root({ "http.response.status_code": "OK" })],
    "missing_instrumentation",
    /no usable HTTP status: http\.response\.status_code is not a whole number from 100 to 999\.$/,
  ],
  [
    "http_status without a status",
    { type: "http_status", expected_status: 200 },
    [root(), silent],
    "missing_instrumentation",
    /status_code is missing/,
  ],
  [
    "node_call with nothing beside the root",
    { type: "node_call", expected_name: "search" },
    [root()],
    "missing_instrumentation",
    /no steps/,
  ],
  [
    "node_call with only tool calls beside the root",
    { type: "node_call", expected_name: "refund" },
    [root(), tool("refund")],
    "missing_instrumentation",
    /no steps/,
  ],
  [
    "node_call with min 0 and nothing beside the root",
    { type: "node_call", expected_name: "x", min: 0 },
    [root()],
    "missing_instrumentation",
    /no steps/,
  ],
  [
    "response_time without a duration",
    { type: "response_time", max_ms: 5 },
    [root()],
    "missing_instrumentation",
    /no duration/,
  ],
  [
    "response_regex without a reply",
    { type: "response_regex", pattern: "a" },
    [root(), silent],
    "missing_instrumentation",
    /no reply text/,
  ],
  [
    "semantic without a reply",
    { type: "semantic", criteria: "a" },
    [root()],
    "missing_instrumentation",
    /no reply text/,
  ],
  [
    "response_regex without a reply on a failed trace",
    { type: "response_regex", pattern: "a" },
    [broken],
    "failed",
    /failed without a reply/,
  ],
  [
    "semantic without a reply on a failed trace",
    { type: "semantic", criteria: "a" },
    [broken],
    "failed",
    /failed without a reply/,
  ],
  [
    "response_regex aimed at a span that is not there",
    { type: "response_regex", pattern: "a", target_node: "x" },
    [root()],
    "failed",
    /No span is named like "x"/,
  ],
  [
    "response_regex aimed at a span without a text",
    { type: "response_regex", pattern: "a", target_node: "llm" },
    [root({ "gen_ai.response.text": "a" }), silent],
    "missing_instrumentation",
    /has a text/,
  ],
  [
    "semantic aimed at a span that is not there",
    { type: "semantic", criteria: "a", target_node: "x" },
    [root()],
    "failed",
    /No span is named like "x"/,
  ],
  [
    "semantic aimed at a span without a text",
    { type: "semantic", criteria: "a", target_node: "llm" },
    [root(), silent],
    "missing_instrumentation",
    /has a text/,
  ],
  [
    "json_match without such a span",
    { type: "json_match", target_node: "x", field: "f", expected_value: 1 },
    [root()],
    "failed",
    /No span is named like "x"/,
  ],
  [
    "json_match without such an attribute",
    { type: "json_match", target_node: "llm", field: "f", expected_value: 1 },
    [root({ f: 1 }), silent],
    "failed",
    /has the attribute "f"/,
  ],
  [
    "json_match of a null attribute",
    { type: "json_match", target_node: "llm", field: "f", expected_value: 1 },
    [root(), span({ name: "llm", attributes: { f: null } })],
    "failed",
    /has the attribute "f"/,
  ],
  [
    "json_match of what every object inherits",
    { type: "json_match", target_node: "llm", field: "toString", expected_value: 1 },
    [root(), silent],
    "failed",
    /has the attribute/,
  ],
  [
    "json_schema without such a span",
    { type: "json_schema", target_node: "x", field: "f", schema },
    [root()],
    "failed",
    /No span is named like "x"/,
  ],
  [
    "json_schema without such an attribute",
    { type: "json_schema", target_node: "llm", field: "f", schema },
    [root(), silent],
    "failed",
    /has the attribute "f"/,
  ],
  [
    "token_limit where a model call tells no usage",
    { type: "token_limit", max_total: 50 },
    [root(), call(10, 5), call()],
    "missing_instrumentation",
    /^1 model call has no usable token usage, so the sum is unknown: "chat"\.$/,
  ],
  [
    "token_limit where a model call tells usage that cannot be read",
    { type: "token_limit", max_input: 50 },
    [root(), call(10, 5), call("n/a", -1)],
    "missing_instrumentation",
    /1 model call has no usable token usage/,
  ],
  [
    "token_limit where a model call tells one side alone",
    { type: "token_limit", max_output: 50 },
    [root(), call(10, 5), call(10)],
    "missing_instrumentation",
    /1 model call has no usable token usage/,
  ],
  [
    "any check of a trace without spans",
    { type: "node_call", expected_name: "x" },
    [],
    "missing_instrumentation",
    /no steps/,
  ],
];

suite("missing", () => {
  for (const [name, assertion, spans, outcome, says] of cases) {
    test(`${name} is ${outcome}, negated or not`, () => {
      for (const negate of [false, true]) {
        const check = checkOf({ ...assertion, negate }, spans);
        assert.equal(check.outcome, outcome);
        assert.match(check.reason, says);
        assertRendered(check);
      }
    });
  }

  test("a missing attribute is shown where it was looked for", () => {
    const { evidence } = checkOf({ type: "http_status", expected_status: 200 }, [root()]);
    assert.deepEqual(evidence, [{ spanId: "root", attribute: "http.response.status_code" }]);
  });

  test("the root alone is enough for node_call when it matches", () => {
    assert.equal(
      checkOf({ type: "node_call", expected_name: "conv", negate: true }, [root()]).outcome,
      "failed",
    );
  });

  test("what model calls tell decides where they exceed the limit, or all that were made tell it", () => {
    const limit = (max: number, ...spans: Span[]) =>
      checkOf({ type: "token_limit", max_total: max }, spans).outcome;
    assert.equal(limit(14, root(), call(10, 5), call()), "failed");
    assert.equal(
      limit(15, root({ "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 }), call()),
      "passed",
    );
    assert.equal(
      limit(
        15,
        root(),
        call(10, 5),
        call(undefined, undefined, broken.status ? { status: broken.status } : {}),
      ),
      "passed",
    );
    const agent = span({
      span_id: "agent",
      attributes: { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 },
    });
    assert.equal(limit(15, root(), agent, call(undefined, undefined, { parent_span_id: "agent" })), "passed");
    const none = { "gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0 };
    assert.equal(limit(14, root(none), call(10, 5)), "failed");
    assert.equal(limit(14, root(none)), "passed");
    const reasoned = { ...call(10, 5), span_id: "r" };
    reasoned.attributes["gen_ai.usage.reasoning.output_tokens"] = 3;
    const thought = { type: "token_limit", max_reasoning: 3 };
    assert.equal(checkOf(thought, [root(), reasoned, call(10, 5)]).outcome, "passed");
    assert.equal(checkOf(thought, [root(), reasoned, call()]).outcome, "missing_instrumentation");
  });

  test("a step that failed below a root that did not was handled: no reply is missing", () => {
    const failed = span({ name: "search", status: { code: 2 } });
    for (const negate of [false, true]) {
      const regex = { type: "response_regex", pattern: "a", negate };
      assert.equal(checkOf(regex, [root(), failed]).outcome, "missing_instrumentation");
      assert.equal(checkOf(regex, [broken, failed]).outcome, "failed");
    }
  });

  test("a failed trace that did reply is judged by its reply", () => {
    const spans = [root({ "gen_ai.response.text": "sorry" }, { status: { code: 2 } })];
    assert.equal(checkOf({ type: "response_regex", pattern: "sorry" }, spans).outcome, "passed");
  });

  const forbidden = { type: "tool_call", expected_name: "refund", expected_arguments: { amount: 5 } };
  const withoutArguments: [
    name: string,
    assertion: Record<string, unknown>,
    calls: unknown[],
    outcome: Outcome,
    says: RegExp,
  ][] = [
    [
      "a call without arguments does not let a check pass that forbids some",
      { negate: true },
      [undefined],
      "missing_instrumentation",
      /no arguments for a call of "refund": gen_ai.tool.call.arguments is missing or null/,
    ],
    [
      "nor does one beside calls with others",
      { min: 0, max: 0 },
      [{ amount: 4 }, undefined],
      "missing_instrumentation",
      /a call of "refund"/,
    ],
    [
      "with max, calls without arguments could be more than that",
      { max: 2 },
      [{ amount: 5 }, undefined, undefined],
      "missing_instrumentation",
      /2 calls of "refund"/,
    ],
    [
      "with max, one could be the one that is wanted",
      { max: 1 },
      [{ amount: 4 }, undefined],
      "missing_instrumentation",
      /a call of "refund"/,
    ],
    ["with max, they could not", { max: 2 }, [{ amount: 5 }, undefined], "passed", /1 call of "refund"/],
    [
      "a forbidden call is found beside one",
      { negate: true },
      [{ amount: 5 }, undefined],
      "failed",
      /1 call/,
    ],
    ["calls with other arguments pass", { negate: true }, [{}, { amount: 4 }], "passed", /No calls/],
    ["a check that wants arguments fails", {}, [undefined], "failed", /no arguments for these calls/],
  ];
  for (const [name, assertion, calls, outcome, says] of withoutArguments) {
    test(`tool_call: ${name}`, () => {
      const spans = calls.map(call => tool("refund", call));
      const check = checkOf({ ...forbidden, ...assertion }, [root(), ...spans]);
      assert.equal(check.outcome, outcome);
      assert.match(check.reason, says);
      assertRendered(check);
    });
  }

  const unreadable: [what: string, sent: unknown][] = [
    ["cut JSON", '{"amount": 5'],
    ["a Python dict", "{'amount': 5}"],
    ["a Python call", "refund(amount=5)"],
    ["named values", "amount=5, to='x'"],
    ["JSON in JSON", JSON.stringify('{"amount": 5}')],
    ["a list", [{ amount: 5 }]],
    ["a list as text", "[5]"],
    ["a number", 5],
    ["keyword arguments", { kwargs: { amount: 5 } }],
    ["positional arguments", '{"args": [5], "kwargs": {}}'],
    ["an object one level deeper", { input: '{"amount": 5}' }],
  ];
  for (const [what, sent] of unreadable) {
    test(`tool_call: ${what} in place of the arguments is not absent`, () => {
      const spans = [root(), tool("refund", sent)];
      for (const fields of [{ negate: true }, { min: 0, max: 0 }, { max: 1 }]) {
        const check = checkOf({ ...forbidden, ...fields }, spans);
        assert.equal(check.outcome, "missing_instrumentation", check.reason);
        assert.match(check.reason, /^The arguments of a call of "refund" cannot be read/);
        assertRendered(check);
      }
      const absent = { ...forbidden, expected_arguments: { approved: { $exists: false } } };
      assert.equal(checkOf(absent, spans).outcome, "failed");
      assert.equal(checkOf({ ...absent, negate: true }, spans).outcome, "missing_instrumentation");
      const wanted = checkOf(forbidden, spans);
      assert.equal(wanted.outcome, "failed");
      assert.match(wanted.reason, /the arguments cannot be read/);
      // The name is read.
      const { expected_arguments: _, ...named } = forbidden;
      assert.equal(checkOf({ ...named, negate: true }, spans).outcome, "failed");
    });
  }

  test("tool_call: arguments that were read are absent where they are", () => {
    const outcomeOf = (expected_arguments: unknown, sent: unknown) =>
      checkOf({ ...forbidden, expected_arguments, negate: true }, [root(), tool("refund", sent)]).outcome;
    for (const [expected, sent] of [
      [{ amount: 5 }, ""],
      [{ amount: 5 }, " "],
      [{ amount: 5 }, { input: "hello" }],
      [{ value: "six" }, "five"],
      [{ kwargs: { a: 1 } }, { kwargs: { a: 2 } }],
      [[1], [2]],
    ])
      assert.equal(outcomeOf(expected, sent), "passed", JSON.stringify(sent));
    assert.equal(outcomeOf({ value: "5" }, '{"value": "5'), "missing_instrumentation");
    assert.equal(outcomeOf({ order: { id: 5 } }, { order: '{"id": 5}' }), "missing_instrumentation");
    assert.equal(outcomeOf({ order: { id: 5 } }, { order: "none" }), "passed");
    const exact = { ...forbidden, expected_arguments: {}, arguments_mode: "exact" };
    assert.equal(checkOf(exact, [root(), tool("refund", "")]).outcome, "passed");
  });

  test("tool_call shows the calls without arguments", () => {
    const { actual, evidence } = checkOf({ ...forbidden, negate: true }, [root(), tool("refund")]);
    assert.deepEqual(actual, { count: null, called: ["refund"] });
    assert.deepEqual(evidence, [{ spanId: evidence[0]!.spanId, attribute: "gen_ai.tool.call.arguments" }]);
  });
});
