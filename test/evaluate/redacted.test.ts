// Checks that look at redacted texts: a redaction makes no verdict, and takes none that it could not have changed.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import { joinTurns } from "../../src/evaluate/turns.ts";
import { unanswered } from "../../src/model/judge/outcome.ts";
import type { Check } from "../../src/model/run/run.ts";
import type { MergedTrace, Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { assertRendered, root, scored, span, testCase, tool, traceOf } from "./makers.ts";

const pseudonym = "p_3f9a0c1b2d4e5f60718293";

function traceWith(rules: string[], spans: Span[]): MergedTrace {
  return { ...traceOf(...spans), redactions: Object.fromEntries(rules.map(rule => [rule, 1])) };
}

/** Schemas are answered as valid where the schema says so in its title. */
function checkOf(assertion: Record<string, unknown>, trace: MergedTrace): Check {
  const derived = derive(trace);
  const given = testCase({ assertions: [assertion] });
  const answers = noAnswers();
  for (const { key, question } of openQuestions(trace, derived, [given], answers).sandbox) {
    const holds = question.kind === "schema" && question.schema.includes("valid");
    answers.sandbox.set(key, { state: "ok", holds, faults: holds ? [] : ["It is not."] });
  }
  return evaluateTest(trace, derived, given, answers).checks[0]!;
}

const reply = (text: string) => [root({ "gen_ai.response.text": text })];
const regex = (pattern: string, more = {}) => ({ type: "response_regex", pattern, ...more });
const json = (expected_value: unknown, more = {}) => ({
  type: "json_match",
  target_node: "step",
  field: "o",
  expected_value,
  ...more,
});
const schema = (more: object, negate = false) => ({
  type: "json_schema",
  target_node: "step",
  field: "o",
  schema: { type: "object", ...more },
  negate,
});
const called = (expected_arguments: unknown, more = {}) => ({
  type: "tool_call",
  expected_name: "send",
  expected_arguments,
  ...more,
});
const step = (o: unknown) => [span({ attributes: { o } })];
const sent = (...all: unknown[]) => all.map(args => tool("send", args));

const tokens = (limits: object) => ({ type: "token_limit", ...limits });
const onBoth = (key: string) => (ofRoot: unknown, ofStep: unknown) => [
  root(ofRoot === undefined ? {} : { [key]: ofRoot }),
  span({ attributes: { [key]: ofStep } }),
];
const usage = onBoth("gen_ai.usage.input_tokens");
const status = onBoth("http.response.status_code");

type Row = [name: string, assertion: Record<string, unknown>, spans: Span[], outcome: string];

const rows: Row[] = [
  ["a pattern apart from the place holds", regex("order 7"), reply("Your order 7, ⟦email⟧."), "passed"],
  ["and fails under negate", regex("order 7", { negate: true }), reply("Your order 7, ⟦email⟧."), "failed"],
  ["a pattern that is nowhere", regex("order 8"), reply("Your order 7, ⟦email⟧."), "skipped"],
  ["and under negate", regex("@", { negate: true }), reply("Write to ⟦email⟧."), "skipped"],
  ["a pattern that matches the placeholder", regex("email"), reply("Write to ⟦email⟧."), "skipped"],
  [
    "a pattern that ends at the placeholder",
    regex("to ", { negate: true }),
    reply("Write to ⟦email⟧."),
    "skipped",
  ],
  [
    "a match after one that is the placeholder",
    regex("\\b(email|phone)\\b", { flags: "i" }),
    reply("Write to ⟦email⟧ or give us your phone number."),
    "passed",
  ],
  [
    "a match after one that is the placeholder, under negate",
    regex("\\b(email|phone)\\b", { flags: "i", negate: true }),
    reply("Write to ⟦email⟧ or give us your phone number."),
    "failed",
  ],
  [
    "matches that are all placeholders",
    regex("email", { negate: true }),
    reply("Write to ⟦email⟧ or to ⟦email⟧."),
    "skipped",
  ],
  ["a pseudonym", regex("anna", { negate: true }), reply(`For ${pseudonym}.`), "skipped"],
  [
    "what only looks like another rule's placeholder",
    regex("x", { negate: true }),
    reply("⟦card⟧"),
    "passed",
  ],
  ["a placeholder that was typed", regex("@", { negate: true }), reply("[email]"), "passed"],
  ["a text that took too long to check", regex("@", { negate: true }), reply("[unchecked]"), "skipped"],
  ["a text that was not changed", regex("@", { negate: true }), reply("Nothing."), "passed"],

  ["another value", json("a@b.example"), step("⟦email⟧"), "skipped"],
  ["another value under negate", json("a@b.example", { negate: true }), step("⟦email⟧"), "skipped"],
  ["the placeholder itself", json("⟦email⟧"), step("⟦email⟧"), "skipped"],
  ["a value within JSON", json({ to: "a@b.example" }), step('{"to":"⟦email⟧"}'), "skipped"],
  ["a value that differs elsewhere", json({ to: "x", n: 8 }), step('{"to":"⟦email⟧","n":7}'), "failed"],
  [
    "a value that differs elsewhere, under negate",
    json({ to: "x", n: 8 }, { negate: true }),
    step({ to: "⟦email⟧", n: 7 }),
    "passed",
  ],
  ["a number that became a text", json(4_111, { negate: true }), step("⟦email⟧"), "skipped"],
  ["a number of which a part did", json(4_111, { negate: true }), step("41⟦email⟧"), "skipped"],
  ["a text that never was a number", json(4_111), step("Not ⟦email⟧"), "failed"],
  ["a span that was not changed holds", json(7), [...step("⟦email⟧"), ...step(7)], "passed"],

  ["a schema of types", schema({ title: "valid" }), step('{"to":"⟦email⟧"}'), "passed"],
  ["a schema of types that is not met", schema({}), step('{"to":"⟦email⟧"}'), "failed"],
  [
    "a schema with a pattern",
    schema({ title: "valid", properties: { to: { pattern: "@" } } }),
    step('{"to":"⟦email⟧"}'),
    "skipped",
  ],
  [
    "a schema with a pattern under negate",
    schema({ properties: { to: { pattern: "@" } } }, true),
    step('{"to":"⟦email⟧"}'),
    "skipped",
  ],

  ["a schema of a number that became a text", schema({ type: "integer" }), step("⟦email⟧"), "skipped"],
  [
    "a schema of a number that became a pseudonym, under negate",
    schema({ type: "integer" }, true),
    step(pseudonym),
    "skipped",
  ],
  ["a schema of numbers, one a pseudonym", schema({}), step({ account: pseudonym }), "skipped"],
  ["a schema of texts, one a pseudonym", schema({}), step(`{"account":"${pseudonym}"}`), "failed"],
  ["a schema and what never was JSON", schema({}), step("Sent to ⟦email⟧"), "failed"],

  ["arguments that were a number", called(4_111, { negate: true }), sent("⟦email⟧"), "skipped"],
  ["arguments that were any JSON", called({ order: 7 }, { negate: true }), sent("⟦email⟧"), "skipped"],
  ["arguments that never were JSON", called({ order: 7 }), sent("to ⟦email⟧"), "failed"],
  ["an argument of the name value", called({ order: 7 }), sent({ value: "⟦email⟧" }), "failed"],
  ["an expected address", called({ to: "a@b.example" }), sent({ to: "⟦email⟧" }), "skipped"],
  [
    "an expected address under negate",
    called({ to: "a@b.example" }, { negate: true }),
    sent({ to: "⟦email⟧" }),
    "skipped",
  ],
  ["another argument that matches", called({ order: 7 }), sent({ order: 7, to: "⟦email⟧" }), "passed"],
  [
    "another argument that differs",
    called({ order: 8, to: "a@b.example" }),
    sent({ order: 7, to: "⟦email⟧" }),
    "failed",
  ],
  ["that it is there", called({ to: { $exists: true } }), sent({ to: "⟦email⟧" }), "passed"],
  ["its pattern", called({ to: { $regex: "@" } }), sent({ to: "⟦email⟧" }), "skipped"],
  [
    "a choice of objects",
    called({ to: { $in: [{ at: "a@b.example" }] } }),
    sent({ to: { at: "⟦email⟧" } }),
    "skipped",
  ],
  ["enough other calls", called({ to: "x" }), sent({ to: "x" }, { to: "⟦email⟧" }), "passed"],
  [
    "at most one, and one that may be the second",
    called({ to: "x" }, { min: 0, max: 1 }),
    sent({ to: "x" }, { to: "⟦email⟧" }),
    "skipped",
  ],
  [
    "exact arguments",
    called({ order: 7 }, { arguments_mode: "exact" }),
    sent({ order: 7, to: "⟦email⟧" }),
    "failed",
  ],
  ["a number of the root", tokens({ max_input: 5 }), usage("⟦email⟧", 3), "skipped"],
  [
    "a number of the root, under negate",
    tokens({ max_input: 2, negate: true }),
    usage("⟦email⟧", 3),
    "skipped",
  ],
  ["a number of another span", tokens({ max_input: 5 }), usage(undefined, "⟦email⟧"), "skipped"],
  [
    "a number of another span than the root, which has one",
    tokens({ max_input: 5 }),
    usage(3, "⟦email⟧"),
    "passed",
  ],
  [
    "a total that the other side exceeds",
    tokens({ max_total: 5 }),
    [root({ "gen_ai.usage.input_tokens": "⟦email⟧", "gen_ai.usage.output_tokens": 6 })],
    "failed",
  ],
  ["no text of digits", tokens({ max_input: 5 }), usage("by ⟦email⟧", 3), "passed"],
  ["a status", { type: "http_status", expected_status: 200 }, status("⟦email⟧", 200), "skipped"],
  [
    "a status of another span than the root",
    { type: "http_status", expected_status: 200 },
    status(200, "⟦email⟧"),
    "passed",
  ],

  ["a name that was changed", { type: "tool_call", expected_name: "send" }, [tool("⟦email⟧")], "skipped"],
  [
    "a name under negate",
    { type: "tool_call", expected_name: "send", negate: true },
    [tool("⟦email⟧")],
    "skipped",
  ],
];

for (const [name, assertion, spans, outcome] of rows) {
  test(`${assertion["type"]}: ${name}`, () => {
    const check = checkOf(assertion, traceWith(["email", "pseudonym", "unchecked"], spans));
    assert.equal(check.outcome, outcome);
    assertRendered(check);
    assert.equal(check.skipped, outcome === "skipped" ? "redacted" : undefined);
    if (outcome !== "skipped") return;
    const rule = /pseudonym/.test(name) ? "pseudonym" : /too long/.test(name) ? "unchecked" : "email";
    assert.deepEqual(check.reasonData, { rules: [rule] });
    assert.ok(check.evidence.length > 0);
  });
}

suite("semantic checks", () => {
  const polite = { type: "semantic", criteria: "The reply is polite." };

  test("the judge is told which rules redacted something, and nothing otherwise", () => {
    const given = testCase({ assertions: [polite] });
    const asked = (trace: MergedTrace) =>
      openQuestions(trace, derive(trace), [given], noAnswers()).semantic[0]!.question.redacted;
    assert.deepEqual(asked(traceWith(["phone", "email"], reply("Hello"))), ["email", "phone"]);
    assert.equal(asked(traceOf(...reply("Hello"))), undefined);
  });

  test("an answer that a redaction leaves undecided is a skip of its own", () => {
    const trace = traceWith(["email"], reply("Write to ⟦email⟧."));
    const derived = derive(trace);
    const given = testCase({ assertions: [polite] });
    const answers = noAnswers();
    const { key } = openQuestions(trace, derived, [given], answers).semantic[0]!;
    answers.semantic.set(key, unanswered("undecided", { code: "redacted", data: { rules: ["email"] } }));
    const [check] = evaluateTest(trace, derived, given, answers).checks;
    assert.equal(check!.skipped, "redacted");
    answers.semantic.set(key, scored(1));
    assert.equal(evaluateTest(trace, derived, given, answers).checks[0]!.outcome, "passed");
  });
});

test("in joined turns each turn has its own redactions", () => {
  const turn = (trace: MergedTrace) => ({ trace, derived: derive(trace) });
  const changed = turn(traceWith(["email"], reply("Write to ⟦email⟧.")));
  const plain = turn(traceOf(...reply("Write to ⟦email⟧.")));
  const skips = (turns: (typeof plain)[], at: number) => {
    const { trace, derived } = joinTurns(turns);
    const given = testCase({
      turns: [{ input: "a" }, { input: "b" }],
      passiveBehavior: "manual_only",
      assertions: [regex("@", { negate: true, turn: at })],
    });
    return evaluateTest(trace, derived, given, noAnswers()).checks[0]!.skipped;
  };
  assert.equal(skips([changed, plain], 1), "redacted");
  assert.equal(skips([changed, plain], 2), undefined);
});

test("a redacted number of tokens is part of the evidence, unless the root's counts", () => {
  const key = "gen_ai.usage.input_tokens";
  const placesOf = (ofRoot: unknown, ofStep: unknown) => {
    const spans = [root({ [key]: ofRoot }), span({ span_id: "step", attributes: { [key]: ofStep } })];
    const trace = traceWith(["email"], spans);
    const given = testCase({ assertions: [{ type: "token_limit", max_input: 5 }] });
    return evaluateTest(trace, derive(trace), given, noAnswers()).checks[0]!.evidence.map(one => one.spanId);
  };
  assert.deepEqual(placesOf("⟦email⟧", 3), ["root", "step"]);
  assert.deepEqual(placesOf(3, "⟦email⟧"), ["root"]);
});
