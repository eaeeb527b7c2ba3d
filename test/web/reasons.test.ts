// The dashboard's sentences of reasons, from code and data.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reason } from "../../src/model/run/reason.ts";
import { reasonFields } from "../../src/model/run/reason-text.ts";
import { reasonText, storedSentences } from "../../web/reasons.ts";

const formatted: [Reason, string][] = [
  [
    {
      code: "tool_call_count",
      data: { name: "refund", count: 0, min: 1, instead: { called: { names: ["a"], more: 1200 } } },
    },
    "No calls of “refund” (expected at least 1); called instead: “a” and 1,200 more.",
  ],
  [
    { code: "tool_call_count", data: { name: "refund", count: 1, min: 1, max: 1, negated: true } },
    "1 call of “refund” (expected any number but 1).",
  ],
  [
    { code: "tool_call_count", data: { name: "refund", count: 2, min: 1, negated: true } },
    "2 calls of “refund” (expected none).",
  ],
  [
    { code: "step_count", data: { name: "plan", count: 2, min: 0, max: 3, negated: true } },
    "2 steps with “plan” in the name (expected more than 3).",
  ],
  [
    { code: "redacted", data: { rules: ["email", "card"] } },
    "The privacy rules “email”, “card” redacted a part of what this check looks at, which could have changed its outcome.",
  ],
  [
    { code: "pattern_found", data: { pattern: "as an ai", negated: true } },
    "“as an ai” was found in the reply, where it must not be.",
  ],
  [
    { code: "pattern_not_found", data: { pattern: "as an ai", negated: true } },
    "“as an ai” was not found in the reply.",
  ],
  [
    {
      code: "tool_call_count",
      data: { name: "refund", count: 1, min: 1, withArguments: true, negated: true },
    },
    "1 call of “refund” with matching arguments (expected none).",
  ],
  [
    { code: "tool_call_count", data: { name: "refund", count: 0, min: 0, max: 0, negated: true } },
    "No calls of “refund” (expected at least 1).",
  ],
  [
    { code: "token_usage", data: { usages: [{ kind: "total", used: 12, max: 9_000 }], negated: true } },
    "The trace used 12 total tokens (expected more than 9,000).",
  ],
  [
    { code: "http_status", data: { status: 200, expected: [400, 404] } },
    "The HTTP status is 200 (expected one of 400, 404).",
  ],
  [
    { code: "http_status", data: { status: 200, expected: "2xx", negated: true } },
    "The HTTP status is 200 (expected any but 2xx).",
  ],
  [
    { code: "http_status", data: { status: 200, expected: [200, 201], negated: true } },
    "The HTTP status is 200 (expected none of 200, 201).",
  ],
  [
    { code: "duration", data: { ms: 900, maxMs: 2_500, negated: true } },
    "The trace took 900 ms (expected more than 2.5 s).",
  ],
  [
    { code: "value_matches", data: { field: "f", span: "s", negated: true } },
    "“f” of “s” is the value that it must not be.",
  ],
  [
    { code: "value_differs", data: { field: "f", span: "s", others: 1, negated: true } },
    "“f” of “s” is not the value that it must not be, nor is it in 1 more span.",
  ],
  [
    { code: "schema_valid", data: { field: "f", target: "t", negated: true } },
    "“f” of the span named like “t” matches the schema that it must not match.",
  ],
  [
    { code: "schema_invalid", data: { field: "f", target: "t", fault: "a: Required.", negated: true } },
    "“f” of the span named like “t” does not match the schema: a: Required.",
  ],
  [
    { code: "judge_score", data: { score: 0.9, threshold: 0.7, comment: "It is warm.", negated: true } },
    "The judge’s score is 0.9 (expected below 0.7): It is warm.",
  ],
  [
    { code: "step_count", data: { name: "plan", count: 2, min: 0, max: 1 } },
    "2 steps with “plan” in the name (expected at most 1).",
  ],
  [
    { code: "token_usage", data: { usages: [{ kind: "total", used: 12_345, max: 9_000 }] } },
    "The trace used 12,345 total tokens (limit 9,000).",
  ],
  [
    { code: "reply_too_long", data: { shown: 185_000, of: 1_200_000 } },
    "The reply is too long to judge: 1,200,000 characters, of which the judge can be shown 185,000.",
  ],
  [{ code: "duration", data: { ms: 61_000, maxMs: 2_500 } }, "The trace took 1 min 1 s (limit 2.5 s)."],
  [
    { code: "duration", data: { ms: 61_000, maxMs: 2_500, received: true } },
    "The reply took 1 min 1 s (limit 2.5 s).",
  ],
  [
    { code: "agent_error", data: { turn: 1_000, error: "bad_reply", message: "The reply is empty." } },
    "Agent error in turn 1,000: The reply is empty.",
  ],
  [
    { code: "agent_error", data: { error: "timeout", message: "h did not answer within 60 s." } },
    "Agent error: h did not answer within 60 s.",
  ],
  [
    { code: "pattern_not_found", data: { pattern: "refund", target: "llm" } },
    "“refund” was not found in a text of “llm”.",
  ],
  [
    { code: "judge_budget_spent", data: { tokens: 10_000 } },
    "The agent’s daily judge budget of 10,000 tokens is used up. It resets at 00:00 UTC.",
  ],
];

for (const [reason, sentence] of formatted) {
  test(sentence, () => assert.equal(reasonText(reasonFields(reason)), sentence));
}

test("a result without a code, or with one of a later version, keeps the sentence that came with it", () => {
  const reason = "It used 15 tokens of at most 9.";
  assert.equal(reasonText({ reason }), reason);
  assert.equal(reasonText({ reason, reasonCode: "of_next_year", reasonData: { a: 1 } }), reason);
  assert.equal(reasonText({ reason, reasonCode: "toString" }), reason);
});

test("the judge's reasons are formatted from code and data", () => {
  const tried = { tries: 1_200 };
  const examples: [Reason, string][] = [
    [
      { code: "judge_http_error", data: { status: 429, waitMs: 90_000, ...tried } },
      "The judge answered with status 429 (not called again for 1 min 30 s; 1,200 tries).",
    ],
    [{ code: "judge_timeout", data: { tries: 1 } }, "The judge did not answer in time."],
    [
      { code: "judge_unreachable", data: { why: "the connection was refused", tries: 2 } },
      "The judge could not be reached: the connection was refused (2 tries).",
    ],
    [
      { code: "judge_undecided", data: { comment: "It is vague.", criteria: ["Is kind."] } },
      "The judge could not decide “Is kind.”: It is vague.",
    ],
    [
      { code: "judge_votes_split", data: { passed: 1, failed: 1, undecided: 1 } },
      "The judge could not decide: of 3 votes, 1 reached the threshold, 1 did not, and 1 was undecided.",
    ],
    [
      {
        code: "judge_score",
        data: {
          ...{ score: 0.875, threshold: 0.7, votes: { passed: 2, of: 3 } },
          criteria: { met: 1, of: 4, inapplicable: 1, undecided: 2 },
        },
      },
      "The judge’s score is 0.875 (threshold 0.7; 2 of 3 votes reach it): 1 of 4 criteria are fully met, 1 does not apply, 2 are undecided.",
    ],
    [
      { code: "judge_not_sampled", data: { percent: 2.5 } },
      "Not sampled: 2.5% of this agent’s traces are judged.",
    ],
    [{ code: "judge_silent", data: { seconds: 90 } }, "The judge did not answer within 1 min 30 s."],
  ];
  for (const [reason, sentence] of examples) assert.equal(reasonText(reasonFields(reason)), sentence);
});

test("every other code shows its stored sentence", () => {
  assert.equal(new Set(storedSentences).size, storedSentences.length);
  for (const reasonCode of storedSentences) {
    assert.equal(reasonText({ reason: "As stored.", reasonCode, reasonData: {} }), "As stored.");
  }
});
