// The two sentences of a check: its rule, and what was found, for every type, negated or not, passed and failed.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Check } from "../../src/model/run/run.ts";
import { type Assertion, type AssertionType, assertionTypes } from "../../src/model/test-case/assertion.ts";
import { foundOf } from "../../web/pages/trace/evaluation/found-text.ts";
import { type Phrase, ruleOf } from "../../web/pages/trace/evaluation/rule-text.ts";
import { resultOf, root, span, tool } from "../evaluate/makers.ts";

type Fields = Record<string, unknown> & { type: AssertionType };

const start = 1_763_600_000_000_000_000n;

const spans = [
  root(
    {
      "gen_ai.response.text": "Your refund is on its way.",
      "gen_ai.usage.input_tokens": 812,
      "gen_ai.usage.output_tokens": 143,
      "http.response.status_code": 200,
    },
    { start_time_unix_nano: String(start), end_time_unix_nano: String(start + 2_400_000_000n) },
  ),
  span({ name: "classify request", attributes: { output: '{"category":"refund","priority":9}' } }),
  tool("apply_discount", { percent: 25, code: "SPRING" }),
  tool("get_order", { order: 1 }),
];

const plain = (phrases: Phrase[]) =>
  phrases.map(phrase => (typeof phrase === "string" ? phrase : phrase.code)).join("");

function sentences(fields: Fields): [outcome: string, rule: string, found: string] {
  const result = resultOf([fields], spans);
  const assertion = result.test.assertions[0]!;
  const check = result.checks[0]!;
  const { text, value } = foundOf(check, assertion);
  const found = value === undefined ? text : `${text} ${JSON.stringify(value)}`;
  return [check.outcome, plain(ruleOf(assertion, result.test.threshold)), found];
}

const discount = { type: "tool_call", expected_name: "apply_discount" } as const;
const classify = { type: "node_call", expected_name: "classify" } as const;
const output = { target_node: "classify", field: "output" };
const refund = {
  ...output,
  type: "json_match",
  expected_value: { category: "refund", priority: 9 },
} as const;
const schema = (type: string) => ({ ...output, type: "json_schema" as const, schema: { type } });
const negate = true;

const table: [Fields, outcome: string, rule: string, found: string][] = [
  [discount, "passed", "Must be called: apply_discount.", "It was called once."],
  [{ ...discount, negate }, "failed", "Must not be called: apply_discount.", "It was called once."],
  [
    { ...discount, expected_arguments: {} },
    "passed",
    "Must be called: apply_discount with any arguments.",
    "It was called once.",
  ],
  [
    { ...discount, expected_arguments: {}, arguments_mode: "exact", negate },
    "passed",
    "Must not be called: apply_discount with no arguments.",
    "It was called, but with other arguments.",
  ],
  [
    { ...discount, expected_arguments: { percent: { $gt: 20 } }, negate },
    "failed",
    "Must not be called: apply_discount with percent > 20.",
    "It was called once.",
  ],
  [
    { ...discount, expected_arguments: { percent: { $gt: 30 } }, negate },
    "passed",
    "Must not be called: apply_discount with percent > 30.",
    "It was called, but with other arguments.",
  ],
  [
    { ...discount, expected_arguments: { percent: 30, code: { $regex: "^S" } }, arguments_mode: "exact" },
    "failed",
    "Must be called: apply_discount with exactly percent = 30 and code matching ^S.",
    "It was called, but with other arguments.",
  ],
  [
    {
      ...discount,
      expected_arguments: { a: { $in: [1, 2] }, b: { $exists: true }, c: { $exists: false }, d: "x", e: 1 },
    },
    "failed",
    'Must be called: apply_discount with a one of [1,2], b present, c absent, d = "x" and 1 more.',
    "It was called, but with other arguments.",
  ],
  [
    { ...discount, expected_name: "applyDiscount", negate },
    "passed",
    "Must not be called: applyDiscount.",
    "It was not called.",
  ],
  [
    { ...discount, min: 2 },
    "failed",
    "Must be called at least twice: apply_discount.",
    "It was called once.",
  ],
  [{ ...discount, min: 0, max: 0 }, "failed", "Must not be called: apply_discount.", "It was called once."],
  [
    { ...discount, min: 0, max: 0, negate },
    "passed",
    "Must be called: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 2, negate },
    "passed",
    "Must be called fewer than twice: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 0, max: 3 },
    "passed",
    "Must be called at most 3 times: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 0, max: 3, negate },
    "failed",
    "Must be called more than 3 times: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 1, max: 1, negate },
    "failed",
    "Must not be called exactly once: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 1, max: 2 },
    "passed",
    "Must be called once or twice: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 1, max: 2, negate },
    "failed",
    "Must not be called once or twice: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 2, max: 4 },
    "failed",
    "Must be called 2 to 4 times: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 0 },
    "passed",
    "May be called any number of times: apply_discount.",
    "It was called once.",
  ],
  [
    { ...discount, min: 0, negate },
    "failed",
    "Can never pass: must not be called any number of times: apply_discount.",
    "It was called once.",
  ],
  [classify, "passed", "Must run: a step with classify in its name.", "Such a step ran once."],
  [
    { ...classify, negate },
    "failed",
    "Must not run: a step with classify in its name.",
    "Such a step ran once.",
  ],
  [
    { ...classify, expected_name: "clasify" },
    "failed",
    "Must run: a step with clasify in its name.",
    "No such step ran.",
  ],
  [
    { ...classify, expected_name: "clasify", negate },
    "passed",
    "Must not run: a step with clasify in its name.",
    "No such step ran.",
  ],
  [
    { type: "token_limit", max_total: 500, max_output: 200 },
    "failed",
    "Must use at most 500 tokens in total and at most 200 output tokens.",
    "The trace used 955 tokens in total (455 over the limit) and 143 output tokens (72% of the limit).",
  ],
  [
    { type: "token_limit", max_input: 1, max_output: 1, negate },
    "passed",
    "Must use more than 1 input token or more than 1 output token.",
    "The trace used 812 input tokens and 143 output tokens.",
  ],
  [
    { type: "token_limit", max_input: 2_000 },
    "passed",
    "Must use at most 2,000 input tokens.",
    "The trace used 812 input tokens (41% of the limit).",
  ],
  [
    { type: "token_limit", max_total: 2_000, max_output: 200, negate },
    "failed",
    "Must use more than 2,000 tokens in total or more than 200 output tokens.",
    "The trace used 955 tokens in total and 143 output tokens.",
  ],
  [
    { type: "token_limit", max_total: 500, negate },
    "passed",
    "Must use more than 500 tokens in total.",
    "The trace used 955 tokens in total.",
  ],
  [{ type: "http_status", expected_status: "2xx" }, "passed", "HTTP status must be 2xx.", "It was 200."],
  [
    { type: "http_status", expected_status: [400, 404] },
    "failed",
    "HTTP status must be one of 400, 404.",
    "It was 200.",
  ],
  [{ type: "http_status", expected_status: [404] }, "failed", "HTTP status must be 404.", "It was 200."],
  [
    { type: "http_status", expected_status: "2xx", negate },
    "failed",
    "HTTP status must not be 2xx.",
    "It was 200.",
  ],
  [
    { type: "http_status", expected_status: [400, 404], negate },
    "passed",
    "HTTP status must not be one of 400, 404.",
    "It was 200.",
  ],
  [
    { type: "response_time", max_ms: 1_500 },
    "failed",
    "Must take at most 1.5 s.",
    "It took 2.4 s, 900 ms over the limit.",
  ],
  [
    { type: "response_time", max_ms: 2_399.5 },
    "failed",
    "Must take at most 2,399.5 ms.",
    "It took 2.4 s, 500 µs over the limit.",
  ],
  [
    { type: "response_time", max_ms: 2_399.9999 },
    "failed",
    "Must take at most 2,399.9999 ms.",
    "It took 2.4 s, 0.1 µs over the limit.",
  ],
  [
    { type: "response_time", max_ms: 90_000 },
    "passed",
    "Must take at most 1 min 30 s.",
    "It took 2.4 s, 3% of the limit.",
  ],
  [
    { type: "response_time", max_ms: 5_000, negate },
    "failed",
    "Must take longer than 5 s.",
    "It took 2.4 s.",
  ],
  [
    { type: "response_time", max_ms: 1_000, negate },
    "passed",
    "Must take longer than 1 s.",
    "It took 2.4 s.",
  ],
  [
    { type: "response_regex", pattern: "refund", flags: "i" },
    "passed",
    "The reply must match refund, ignoring case.",
    "Found in the reply:",
  ],
  [
    { type: "response_regex", pattern: "refund", negate },
    "failed",
    "The reply must not match refund.",
    "Found in the reply:",
  ],
  [
    { type: "response_regex", pattern: "sorry", target_node: "conversation" },
    "failed",
    "A text of a span with conversation in its name must match sorry.",
    "Not found:",
  ],
  [
    { type: "response_regex", pattern: "sorry", target_node: "conversation", negate },
    "passed",
    "No text of a span with conversation in its name may match sorry.",
    "Not found:",
  ],
  [
    { type: "response_regex", pattern: "sorry", target_node: "conversation", match: "all", negate },
    "passed",
    "Not every text of a span with conversation in its name may match sorry.",
    "Not found:",
  ],
  [
    { ...refund, match: "all" },
    "passed",
    'output of every span with classify in its name must be {"category":"refund","priority":9}.',
    "Found in “classify request”.",
  ],
  [
    { ...refund, match: "all", negate },
    "failed",
    'output of at least one span with classify in its name must not be {"category":"refund","priority":9}.',
    "Found in “classify request”.",
  ],
  [
    refund,
    "passed",
    'output of a span with classify in its name must be {"category":"refund","priority":9}.',
    "Found in “classify request”.",
  ],
  [
    { ...refund, expected_value: "refund" },
    "failed",
    'output of a span with classify in its name must be "refund".',
    `In “classify request” it is ${JSON.stringify('{"category":"refund","priority":9}')}`,
  ],
  [
    { ...refund, negate },
    "failed",
    'output of no span with classify in its name may be {"category":"refund","priority":9}.',
    "Found in “classify request”.",
  ],
  [
    { ...refund, expected_value: "refund", negate },
    "passed",
    'output of no span with classify in its name may be "refund".',
    `In “classify request” it is ${JSON.stringify('{"category":"refund","priority":9}')}`,
  ],
];

suite("the sentences of a check", () => {
  for (const [fields, outcome, rule, found] of table) {
    test(`${outcome}: ${rule} ${found}`, () => assert.deepEqual(sentences(fields), [outcome, rule, found]));
  }

  for (const [fields, holds, rule, found] of [
    [
      schema("object"),
      true,
      "of every span with classify in its name must match the schema.",
      "A value matches.",
    ],
    [schema("array"), false, "must match the schema.", "The value does not match:"],
    [{ ...schema("object"), negate }, true, "may match the schema.", "A value matches."],
    [{ ...schema("array"), negate }, false, "may match the schema.", "The value does not match:"],
    [
      { type: "semantic", criteria: "Is warm." },
      true,
      "The judge must score the reply at least 0.7.",
      "The score is 0.9 of 1.",
    ],
    [
      { type: "semantic", criteria: "Is warm.", threshold: 0.95, negate },
      false,
      "The judge must score the reply below 0.95.",
      "The score is 0.9 of 1.",
    ],
    [
      { type: "semantic", criteria: "Is warm.", target_node: "draft", negate },
      true,
      "The judge must score every text of a span with draft in its name below 0.7.",
      "The score is 0.9 of 1.",
    ],
  ] as [Fields, boolean, string, string][]) {
    test(`${fields.type}${fields["negate"] ? ", negated" : ""}: ${rule} ${found}`, () => {
      const assertion = { id: "a", negate: false, depends_on: [], ...fields } as Assertion;
      const reasonCode =
        fields.type === "semantic" ? "judge_score" : holds ? "schema_valid" : "schema_invalid";
      const outcome = holds !== assertion.negate ? "passed" : "failed";
      const check = { type: fields.type, outcome, reasonCode, score: 0.9, actual: null } as unknown as Check;
      assert.ok(plain(ruleOf(assertion, 0.7)).endsWith(rule), plain(ruleOf(assertion, 0.7)));
      assert.deepEqual(foundOf(check, assertion), { text: found });
    });
  }

  test("a semantic check whose span does not exist says so as other checks do", () => {
    const check = { outcome: "failed", reasonCode: "no_span", actual: { searched: [] } } as unknown as Check;
    const assertion = {
      type: "semantic",
      criteria: "Is warm.",
      target_node: "draft",
    } as unknown as Assertion;
    assert.deepEqual(foundOf(check, assertion), { text: "No span has “draft” in its name." });
  });

  test("a shortened value ends the sentence with its ellipsis alone", () => {
    const long = "a".repeat(100);
    const shortened = `"${"a".repeat(78)}…`;
    for (const [fields, rule] of [
      [
        { ...discount, expected_arguments: { code: long } },
        `Must be called: apply_discount with code = ${shortened}`,
      ],
      [
        { ...refund, expected_value: long },
        `output of a span with classify in its name must be ${shortened}`,
      ],
      [
        { type: "semantic", criteria: "Is warm.", threshold: long },
        `The judge must score the reply at least ${shortened}`,
      ],
      [
        { ...discount, expected_arguments: { code: long, percent: 1 } },
        `Must be called: apply_discount with code = ${shortened} and percent = 1.`,
      ],
    ] as [Fields, string][]) {
      const assertion = { id: "a", negate: false, min: 1, depends_on: [], ...fields } as unknown as Assertion;
      assert.equal(plain(ruleOf(assertion, 0.7)), rule);
    }
  });

  test("every type of assertion has its sentences in the tables above", () => {
    const shown = new Set([...table.map(([{ type }]) => type), "json_schema", "semantic"]);
    assert.deepEqual(shown, new Set(assertionTypes));
  });

  test("a value that several spans could have had names the number of spans", () => {
    const many = [...spans, span({ name: "classify again", attributes: { output: 3 } })];
    const result = resultOf([{ ...refund, expected_value: 1 }], many);
    const found = foundOf(result.checks[0]!, result.test.assertions[0]!);
    assert.equal(found.text, "Found in none of 2 spans; in “classify request” it is");
  });

  test("a check that compared nothing keeps the sentence of its reason", () => {
    const absent = { type: "http_status", expected_status: 200, negate: true } as const;
    const [check] = resultOf([absent], [span({ span_id: "root", parent_span_id: null })]).checks;
    const { text } = foundOf(check!, { ...absent, id: "a", depends_on: [] });
    assert.equal(text, "The trace has no HTTP status: http.response.status_code is missing.");
  });

  test("no span with the name is one short sentence, because the names are listed below it", () => {
    const result = resultOf([{ ...refund, target_node: "escalate" }], spans);
    const { text } = foundOf(result.checks[0]!, result.test.assertions[0]!);
    assert.equal(text, "No span has “escalate” in its name.");
  });
});

test("of a check whose trace was forgotten, no sentence says that there was no value", () => {
  const base = { id: "a", outcome: "failed", expected: null, actual: null, evidence: [], forgotten: true };
  const cases: [AssertionType, Partial<Check>, string][] = [
    [
      "json_match",
      { reasonCode: "value_differs", reasonData: { field: "f", span: "answer", others: 0 } },
      "Another value was found in “answer”.",
    ],
    ["json_schema", { reasonCode: "schema_invalid", reasonData: { fault: "" } }, "The value does not match."],
    ["response_regex", { reasonCode: "pattern_not_found", reasonData: {} }, "Not found in the reply."],
  ];
  for (const [type, fields, text] of cases) {
    const check = { ...base, type, reason: "", ...fields } as Check;
    assert.deepEqual(foundOf(check, { type, negate: false } as Assertion), { text });
  }
});
