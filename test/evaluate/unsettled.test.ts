// What a missing answer leaves: a run waits only for answers that count, and only an outage is worth judging again.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { evaluate } from "../../src/evaluate/evaluate.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import { isOutage, isWaiting } from "../../src/evaluate/unsettled.ts";
import type { RoutingAnswer, SemanticAnswer } from "../../src/model/judge/judge.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { serverError, unansweredBy, undecided as undecidedAnswer } from "../support/judge-answers.ts";
import { root, scored, span, testCase, traceOf } from "./makers.ts";

const waiting = serverError(503, 1);

const polite = { id: "polite", type: "semantic", criteria: "The reply is polite." };
const relevant = { passiveBehavior: "run_when_relevant" };

/** What tests come to where the judge answers so, by the reply. */
function judged(
  tests: Record<string, unknown>[],
  answer: (reply: string) => SemanticAnswer,
  routing: RoutingAnswer | null = null,
) {
  const trace = traceOf(
    root({ "gen_ai.prompt": "hello" }),
    ...["Good day", "Hello"].map(text => span({ attributes: { "gen_ai.response.text": text } })),
  );
  const derived = derive(trace);
  const made = tests.map(testCase);
  const answers = noAnswers();
  for (const { key, question } of openQuestions(trace, derived, made, answers).semantic) {
    answers.semantic.set(key, answer(question.response));
  }
  return evaluate({ trace, derived, tests: made, routing, answers });
}

suite("a run", () => {
  test("waits for a check or a scenario of which the judge is asked later", () => {
    assert.equal(isWaiting(judged([{ assertions: [polite] }], () => waiting)), true);
    assert.equal(isWaiting(judged([relevant], () => scored(1), waiting)), true);
    assert.equal(isWaiting(judged([{ assertions: [polite] }], () => scored(0))), false);
    assert.equal(isWaiting(judged([relevant], () => scored(1), unansweredBy.later)), false);
  });

  test("does not wait for an answer on which nothing depends", () => {
    const anyOfTwo = [{ assertions: [{ ...polite, target_node: "step", match: "any" }] }];
    const oneWaits = (other: number) => (reply: string) => (reply === "Hello" ? waiting : scored(other));
    assert.equal(isWaiting(judged(anyOfTwo, oneWaits(1))), false);
    assert.equal(isWaiting(judged(anyOfTwo, oneWaits(0))), true);
  });

  test("in which a check waits lets wait what depends on it, and says so instead of passing", () => {
    const after = { id: "after", type: "response_regex", pattern: ".", depends_on: ["polite"] };
    const plain = { id: "plain", type: "response_regex", pattern: "." };
    const [result] = judged([{ assertions: [plain, polite, after] }], () => waiting).results;
    assert.deepEqual(
      result!.checks.map(({ outcome, skipped }) => skipped ?? outcome),
      ["passed", "waiting", "waiting"],
    );
    assert.equal(result!.reason, "Waiting for the judge, 1 of 3 checked");
  });

  test("in which one dependency waits and another did not pass skips what depends on both at once", () => {
    const plain = { id: "plain", type: "response_regex", pattern: "absent" };
    for (const depends_on of [
      ["polite", "plain"],
      ["plain", "polite"],
    ]) {
      const after = { id: "after", type: "response_regex", pattern: ".", depends_on };
      const [result] = judged([{ assertions: [plain, polite, after] }], () => waiting).results;
      const { skipped, reason } = result!.checks[2]!;
      assert.deepEqual([skipped, reason], ["dependency", 'Depends on "plain", which did not pass.']);
    }
  });

  test("that has failed already says so, whatever it waits for", () => {
    const plain = { id: "plain", type: "response_regex", pattern: "absent" };
    const [result] = judged([{ assertions: [plain, polite] }], () => waiting).results;
    assert.equal(result!.reason, "Failed, 1 of 2 checked, 1 failed, 1 skipped");
  });
});

suite("an outage", () => {
  for (const [code, is] of [
    ["later", true],
    ["refused", true],
    ["aborted", true],
    ["unusable", true],
    ["not_configured", false],
    ["budget", false],
    ["not_sampled", false],
  ] as const) {
    test(`is ${is ? "" : "not "}a check or a scenario without an answer because of "${code}"`, () => {
      const check = judged([{ assertions: [polite] }], () => unansweredBy[code]);
      assert.equal(isOutage(check, null), is);
      const routing = unansweredBy[code];
      assert.equal(
        isOutage(
          judged([relevant], () => scored(1), routing),
          routing,
        ),
        is,
      );
      // Of several calls about scenarios one may have failed.
      const labels = new Map();
      const left = judged([relevant], () => scored(1), { code: "ok", labels });
      const unlabelled = new Map([[left.tests[0]!.testId, unansweredBy[code]]]);
      assert.equal(isOutage(left, { code: "ok", labels, unlabelled }), is);
    });
  }

  test("is a scenario that the judge left out, and not one it could not decide about", () => {
    const routing: RoutingAnswer = { code: "ok", labels: new Map() };
    assert.equal(
      isOutage(
        judged([relevant], () => scored(1), routing),
        routing,
      ),
      true,
    );
    const undecided = judged([{ assertions: [polite] }], () => undecidedAnswer);
    assert.equal(isOutage(undecided, null), false);
  });
});
