// Where a quoted passage is: code searches, and the judge's own word for it is only a hint.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Asked, QuoteFinder } from "../../src/judge/quotes.ts";
import type { GivenVerdict } from "../../src/model/judge/call.ts";
import type { MaterialItem, Quote } from "../../src/model/judge/material.ts";

const item = (
  spanId: string,
  kind: MaterialItem["kind"],
  text: string,
  more: Partial<MaterialItem> = {},
) => ({
  ...{ spanId, kind, text, attribute: "a", ...more },
});

const asked: Asked = {
  response: "It is sunny in London, 18 degrees.",
  userInput: "And in London?",
  reference: "Sunny.",
  replyPlace: { spanId: "root", attribute: "gen_ai.response.text" },
  inputPlace: { spanId: "llm", attribute: "gen_ai.input.messages" },
  material: {
    items: [
      item("s1", "system", "Say degrees."),
      item("s2", "user", "And in Paris?"),
      item("s3", "assistant", "It rains in Paris, 9 degrees."),
      item("s4", "user", "", { is: "user_input" }),
      item("s5", "tool_call", '{"city":"London"}', { name: "weather" }),
      item("s6", "tool_result", "sunny, 18 degrees"),
      item("s7", "tool_call", '{"city":"London"}', { name: "weather" }),
      item("s8", "tool_result", "sunny, 18 degrees"),
      item("s9", "assistant", "", { is: "reply" }),
    ],
    tools: true,
    leftOut: {},
    complete: true,
  },
};

const found = (more: Partial<GivenVerdict>): string[] => {
  const given: GivenVerdict = {
    ...{ verdict: "met", evidence: "", reason: "Because.", quotation: "empty" },
    ...{ comparedWith: "", comparison: "empty", evidenceHint: null, comparisonHint: null },
    ...more,
  };
  return new QuoteFinder()
    .quotesOf(given, asked)
    .map(({ as, from, spanId }: Quote) => `${as} ${from} ${spanId}`);
};

suite("the evidence of a verdict", () => {
  for (const [evidence, evidenceHint, expected] of [
    ["sunny in London", null, "evidence reply root"],
    ["It rains in Paris", null, "evidence assistant s3"],
    // In the reply as well as before it.
    ["degrees", null, "evidence reply root"],
    ["degrees", 2, "evidence assistant s3"],
    // The newest of equal calls, unless the judge named another one.
    ['weather({"city":"London"})', null, "evidence tool_call s7"],
    ['weather({"city":"London"})', 4, "evidence tool_call s5"],
    // A hint at what does not have the passage, or is not the agent's, is none.
    ["It rains in Paris", 4, "evidence assistant s3"],
    ["degrees", 5, "evidence reply root"],
    ["sunny in London", 99, "evidence reply root"],
  ] as const) {
    test(`“${evidence}”, by a hint at ${evidenceHint}, is ${expected}`, () => {
      assert.deepEqual(found({ evidence, evidenceHint, quotation: "found" }), [expected]);
    });
  }

  test("is only compared with if it is not the agent's own", () => {
    const elsewhere = { evidence: "Say degrees", quotation: "elsewhere", verdict: "not_met" } as const;
    assert.deepEqual(found(elsewhere), ["comparison system s1"]);
  });

  test("has no place if it says nothing", () => {
    assert.deepEqual(found({ evidence: "it is", quotation: "trivial" }), []);
    assert.deepEqual(found({}), []);
  });
});

suite("what a verdict compares with", () => {
  for (const [comparedWith, comparisonHint, expected] of [
    ["18 degrees", null, "comparison tool_result s8"],
    ["18 degrees", 5, "comparison tool_result s6"],
    ["And in Paris", null, "comparison user s2"],
    ["And in London", null, "comparison user llm"],
    ["Sunny", "reference", "comparison reference null"],
    ["It rains", null, "comparison assistant s3"],
  ] as const) {
    test(`“${comparedWith}”, by a hint at ${comparisonHint}, is ${expected}`, () => {
      assert.deepEqual(found({ comparedWith, comparisonHint, comparison: "found" }), [expected]);
    });
  }

  test("has no place if it says nothing", () => {
    assert.deepEqual(found({ comparedWith: "in", comparison: "trivial" }), []);
  });
});
