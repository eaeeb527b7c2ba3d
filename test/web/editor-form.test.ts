// The lines of the editor's form: checks as sentences, sections of fields, and messages that nobody is asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AssertionType } from "../../src/model/test-case/assertion.ts";
import { conditionText, criteriaText, sentenceOf } from "../../web/pages/test/check-sentence.ts";
import { assertionsOf, begin, edit, freeId } from "../../web/pages/test/document.ts";
import { asksForMessage, withMessage } from "../../web/pages/test/message.ts";
import { firstOpen, foldsOf } from "../../web/pages/test/sections.ts";

const textOf = (type: AssertionType, fields: object) =>
  sentenceOf({ type, ...fields }, type, 0.7)
    ?.map(phrase => (typeof phrase === "string" ? phrase : phrase.code))
    .join("");

test("a check is the sentence of its results, also where defaults are left out", () => {
  for (const [type, fields, sentence] of [
    ["tool_call", { expected_name: "refund" }, "Must be called: refund."],
    ["tool_call", { expected_name: "refund", negate: true }, "Must not be called: refund."],
    ["http_status", { expected_status: "2xx" }, "HTTP status must be 2xx."],
    ["token_limit", { max_input: 10 }, "Must use at most 10 input tokens."],
    ["semantic", { criteria: ["Is kind."] }, "The judge must score the reply at least 0.7."],
  ] as const) {
    assert.equal(textOf(type, fields), sentence);
  }
});

test("an incomplete check, or one with a value of the wrong type, is no sentence", () => {
  for (const [type, fields] of [
    ["tool_call", {}],
    ["tool_call", { expected_name: "" }],
    ["tool_call", { expected_name: ["a"] }],
    ["tool_call", { expected_name: "a", min: "2" }],
    ["token_limit", {}],
    ["response_regex", { pattern: "a", flags: 5 }],
    ["response_time", { max_ms: "1" }],
    ["semantic", { criteria: "" }],
    ["semantic", { criteria: ["", ""] }],
    ["json_match", { target_node: "a", field: "" }],
  ] as const) {
    assert.equal(textOf(type, fields), undefined, JSON.stringify({ type, ...fields }));
  }
});

test("after the sentence come the criteria, and when the check is made", () => {
  assert.equal(
    criteriaText({ type: "semantic", criteria: ["Is kind.", "", "Is short."] }),
    "Is kind. Is short.",
  );
  assert.equal(criteriaText({ type: "tool_call", criteria: "x" }), "");
  assert.equal(conditionText({ turn: 2, depends_on: ["a", "b"] }), "Turn 2 only. Only if a, b pass.");
  assert.equal(conditionText({ turn: "last", depends_on: "a" }), "Last turn only. Only if a passes.");
  assert.equal(conditionText({ depends_on: [] }), "");
});

test("the path of an error leads to its section and its check", () => {
  const editing = begin({ assertions: [{}, {}] });
  const [, key] = editing.keys;
  for (const [path, folds] of [
    ["name", ["name"]],
    ["inputs[7].input", ["turns"]],
    ["threshold", ["checks"]],
    ["assertions", ["checks"]],
    ["assertions[1].pattern", ["checks", `check ${key}`]],
    ["assertions[9].pattern", ["checks"]],
    ["toString", []],
    ["", []],
  ] as const) {
    assert.deepEqual(foldsOf(path, editing), folds, path);
  }
});

test("what has to be written is open at first, and the checks", () => {
  assert.deepEqual(firstOpen({}), ["name", "scenario", "checks"]);
  assert.deepEqual(firstOpen({ name: "A", passiveBehavior: "always_run" }), ["checks"]);
  assert.deepEqual(firstOpen({ name: "A", scenario: "B" }), ["checks"]);
});

test("the message is asked for where it can be sent, or where there is more than one", () => {
  const one = { turns: [{ input: "" }] };
  assert.equal(asksForMessage(one, true), true);
  assert.equal(asksForMessage(one, false), false);
  assert.equal(asksForMessage({ turns: [] }, false), false);
  for (const more of [
    { turns: [{ input: "a" }, { input: "b" }] },
    { turns: "wrong" },
    { ...one, passiveBehavior: "manual_only" },
    { ...one, inputs: [{ input: "a" }] },
    { ...one, repeats: 2 },
  ]) {
    assert.equal(asksForMessage(more, false), true, JSON.stringify(more));
  }
});

test("a message that nobody is asked for is the scenario, or the name; what is written stays", () => {
  const inputOf = (document: object) => withMessage({ ...document })["turns"];
  assert.deepEqual(inputOf({ scenario: "A refund.", name: "N", turns: [{ input: "" }] }), [
    { input: "A refund." },
  ]);
  assert.deepEqual(inputOf({ scenario: " ", name: "N" }), [{ input: "N" }]);
  assert.deepEqual(inputOf({ name: "" }), [{ input: "Hello" }]);
  for (const turns of [[{ input: "Hi" }], [{ input: 5 }], [5], "wrong", [{ input: "" }, { input: "" }]]) {
    assert.equal(inputOf({ name: "N", turns }), turns);
  }
});

test("a removed check that is restored gets another ID if a new check has taken its own", () => {
  const [first, second] = [
    { id: "a1", type: "response_time", max_ms: 1 },
    { id: "a2", type: "response_time", max_ms: 2 },
  ];
  const removed = edit(begin({ assertions: [first, second] }), { kind: "remove", at: 0 });
  const restored = edit(removed, { kind: "restore", at: 0, value: first });
  assert.deepEqual(assertionsOf(restored.document), [first, second]);
  const added = { id: freeId(removed.document), type: "http_status", expected_status: 200 };
  const later = edit(edit(removed, { kind: "insert", at: 1, value: added }), {
    kind: "restore",
    at: 0,
    value: first,
  });
  assert.deepEqual(assertionsOf(later.document), [{ ...first, id: "a3" }, second, added]);
});

test("a new check does not get the ID of a removed one that others depend on", () => {
  const dependent = { id: "a2", type: "json_match", depends_on: "a1" };
  assert.equal(freeId({ assertions: [dependent] }), "a3");
  assert.equal(freeId({ assertions: [{ ...dependent, depends_on: ["a1", "a3"] }] }), "a4");
  assert.equal(freeId({ assertions: [{ id: "a2" }, "no object"] }), "a1");
});
