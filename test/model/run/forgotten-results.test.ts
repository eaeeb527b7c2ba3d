// What is left of results once the content of their trace is forgotten, by type of check and by reason.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forgottenResults } from "../../../src/model/run/forgotten-results.ts";
import type { Reason } from "../../../src/model/run/reason.ts";
import { reasonFields } from "../../../src/model/run/reason-text.ts";
import type { Applicability, Check, Result } from "../../../src/model/run/run.ts";

const secret = "canary";
const place = { spanId: "s", attribute: "gen_ai.response.text" };

function checkOf(fields: Partial<Check> & Pick<Check, "type">, reason: Reason): Check {
  const seen = { expected: { pattern: "own" }, actual: null, evidence: [{ ...place, value: secret }] };
  return { id: "c", outcome: "passed", ...seen, ...reasonFields(reason), ...fields };
}

function left(check: Check): Check {
  const result = { testId: "t", name: "Test", outcome: "passed", checks: [check], ...reasonFields(counted) };
  const judged = { results: [result as unknown as Result], tests: [] };
  return forgottenResults(judged).results[0]!.checks[0]!;
}

const counted: Reason = {
  code: "checks_counted",
  data: { outcome: "passed", counts: { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 } },
};
const score = (comment: string): Reason => ({
  code: "judge_score",
  data: { score: 1, threshold: 0.7, comment },
});

test("a check keeps its outcome, what it expected and its places, by type", () => {
  const cases: [Check, expected: unknown][] = [
    [
      checkOf(
        { type: "response_regex", actual: secret, match: { before: secret, text: secret, after: secret } },
        { code: "pattern_found", data: { pattern: "own" } },
      ),
      null,
    ],
    [
      checkOf(
        { type: "json_match", actual: secret },
        { code: "value_matches", data: { field: "f", span: "s" } },
      ),
      null,
    ],
    [
      checkOf(
        {
          type: "tool_call",
          actual: { count: 0, called: ["lookup"], differences: [{ spanId: "s", differences: [secret] }] },
        },
        { code: "tool_call_count", data: { name: "lookup", count: 0, min: 1, instead: "other_arguments" } },
      ),
      { count: 0, called: ["lookup"] },
    ],
    [
      checkOf(
        { type: "token_limit", actual: { input: 12 } },
        {
          code: "token_usage",
          data: { usages: [{ kind: "input", used: 12, max: 20 }] },
        },
      ),
      { input: 12 },
    ],
    [
      checkOf(
        {
          type: "semantic",
          score: 1,
          actual: {
            score: 1,
            model: "m",
            criteria: [
              {
                criterion: "Own words",
                verdict: "met",
                evidence: secret,
                reason: secret,
                quotes: [{ as: "evidence", text: secret, from: "reply", ...place }],
              },
            ],
          },
        },
        score(secret),
      ),
      {
        score: 1,
        model: "m",
        criteria: [
          {
            criterion: "Own words",
            verdict: "met",
            evidence: "",
            reason: "",
            quotes: [{ as: "evidence", text: "", from: "reply", ...place }],
          },
        ],
      },
    ],
  ];
  for (const [check, actual] of cases) {
    const kept = left(check);
    assert.deepEqual(kept.actual, actual, check.type);
    assert.deepEqual(kept.evidence, [place]);
    assert.deepEqual(
      [kept.outcome, kept.expected, kept.score, kept.reasonCode],
      [check.outcome, check.expected, check.score, check.reasonCode],
    );
    assert.doesNotMatch(JSON.stringify(kept), /canary/);
    // Forgetting again changes nothing.
    assert.deepEqual(left(kept), kept);
  }
});

test("reasons lose what quotes the trace or the judge, and remain sentences", () => {
  const cases: [Reason, string][] = [
    [score(secret), "The judge's score is 1 (threshold: 0.7)."],
    [
      { code: "judge_score", data: { score: 1, threshold: 0.7, comment: secret, negated: true } },
      "The judge's score is 1 (expected: below 0.7).",
    ],
    [{ code: "judge_undecided", data: { comment: secret } }, "The judge could not decide."],
    [
      { code: "judge_withheld", data: { comment: secret } },
      "The judge could not decide: the project does not let it see what tools returned.",
    ],
    [
      { code: "schema_invalid", data: { field: "f", target: "t", fault: secret } },
      '"f" of the span named like "t" is invalid.',
    ],
    [{ code: "sandbox_failed", data: { message: secret } }, "This could not be checked."],
    [
      { code: "http_status", data: { status: 200, expected: 200 } },
      "The HTTP status is 200 (expected: 200).",
    ],
  ];
  for (const [reason, sentence] of cases) {
    assert.equal(left(checkOf({ type: "response_regex" }, reason)).reason, sentence);
  }
});

test("what the judge said about a scenario goes, and which scenarios matched stays", () => {
  const matched: Applicability = {
    testId: "t",
    name: "Test",
    applied: true,
    why: "scenario_matched",
    reason: secret,
    model: "m",
  };
  const { reason: _, ...without } = matched;
  assert.deepEqual(forgottenResults({ results: [], tests: [matched] }).tests, [without]);
});
