// Warnings about checks that look for what privacy rules redact.

import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInRules, type RedactionRules } from "../../src/model/redaction.ts";
import { parseTestCase } from "../../src/model/test-case/test-case.ts";
import { privacyWarnings, samples } from "../../src/redaction/privacy-warnings.ts";
import { openRedactor } from "../../src/redaction.ts";

const none: RedactionRules = { builtIn: [], rules: [], pseudonyms: [] };
const all: RedactionRules = { ...none, builtIn: ["*"] };

function warned(assertion: Record<string, unknown>, rules: RedactionRules = all): string[] {
  const document = parseTestCase({
    name: "a test",
    turns: [{ input: "hello" }],
    passiveBehavior: "always_run",
    assertions: [assertion],
  });
  return privacyWarnings(document, rules).map(({ path }) => path);
}

const value = (expected_value: unknown, field = "o") => ({
  type: "json_match",
  target_node: "step",
  field,
  expected_value,
});
const regex = (pattern: string) => ({ type: "response_regex", pattern });
const criterion = (criteria: unknown) => ({ type: "semantic", criteria });

test("each built-in rule has a sample that it finds", () => {
  assert.deepEqual(Object.keys(samples), [...builtInRules]);
  for (const rule of builtInRules) {
    const redactor = openRedactor({ ...none, builtIn: [rule] }, text => text)!;
    assert.deepEqual(Object.keys(redactor.text(samples[rule]).counts), [rule]);
  }
});

for (const [assertion, path] of [
  [value("ann@shop.example"), ".expected_value"],
  [value({ to: ["ann@shop.example"] }), ".expected_value"],
  [
    { type: "tool_call", expected_name: "send", expected_arguments: { to: "ann@shop.example" } },
    ".expected_arguments",
  ],
  [
    {
      type: "tool_call",
      expected_name: "pay",
      expected_arguments: { card: { $in: ["4111 1111 1111 1111"] } },
    },
    ".expected_arguments",
  ],
  [regex("[\\w.]+@[\\w.]+"), ".pattern"],
  [regex("ann@shop\\.example"), ".pattern"],
  [regex("(\\d{4} ?){4}"), ".pattern"],
  [criterion("Never reveals an email address."), ".criteria"],
  [criterion(["Is polite.", "Writes to ann@shop.example."]), ".criteria[1]"],
] as [Record<string, unknown>, string][]) {
  test(`${JSON.stringify(assertion)} is warned about`, () => {
    assert.deepEqual(warned(assertion), [`assertions[0]${path}`]);
    assert.deepEqual(warned(assertion, none), []);
    assert.deepEqual(warned(assertion, { ...none, builtIn: ["ip"] }), []);
  });
}

for (const assertion of [
  value("shipped"),
  value(7),
  { type: "tool_call", expected_name: "send" },
  regex("thank you"),
  regex("\\d+"),
  regex(".*"),
  regex("\\w+"),
  criterion("Names the order number."),
  { type: "node_call", expected_name: "email" },
]) {
  test(`${JSON.stringify(assertion)} is not`, () => assert.deepEqual(warned(assertion), []));
}

test("own rules and pseudonyms count as well", () => {
  const own = { ...none, rules: [{ name: "customer", pattern: "C-\\d{5}" }] };
  assert.deepEqual(warned(value("C-10423"), own), ["assertions[0].expected_value"]);
  assert.deepEqual(warned(regex("C-10423"), own), ["assertions[0].pattern"]);
  const pseudonyms = { ...none, pseudonyms: ["user.id"] };
  assert.deepEqual(warned(value("anna", "user.id"), pseudonyms), ["assertions[0].field"]);
});
