// token_limit in conversations of several turns, some of which tell no usage.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers } from "../../src/evaluate/questions.ts";
import { joinTurns, placedInTurns } from "../../src/evaluate/turns.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { root, testCase, traceOf } from "./makers.ts";

type Usage = { input?: number; output?: number; reasoning?: number };

function checkOf(assertion: object, ...usages: Usage[]) {
  const turns = usages.map(({ input, output, reasoning }) => {
    const trace = traceOf(
      root({
        ...(input === undefined ? {} : { "gen_ai.usage.input_tokens": input }),
        ...(output === undefined ? {} : { "gen_ai.usage.output_tokens": output }),
        ...(reasoning === undefined ? {} : { "gen_ai.usage.reasoning.output_tokens": reasoning }),
      }),
    );
    return { trace, derived: derive(trace) };
  });
  const { trace, derived } = joinTurns(turns);
  const fields = { turns: usages.map(() => ({ input: "a" })), passiveBehavior: "manual_only" };
  const assertions = [{ type: "token_limit", ...assertion }];
  const { checks } = placedInTurns(
    evaluateTest(trace, derived, testCase({ ...fields, assertions }), noAnswers()),
  );
  return checks[0]!;
}

suite("token_limit over several turns", () => {
  test("sums the turns", () => {
    const turns = [
      { input: 3, output: 4 },
      { input: 5, output: 6 },
    ];
    assert.equal(checkOf({ max_total: 18 }, ...turns).outcome, "passed");
    assert.equal(checkOf({ max_total: 17 }, ...turns).outcome, "failed");
  });

  test("is unknown where a turn tells no usage, and says which, also if negated", () => {
    for (const negate of [false, true]) {
      const { outcome, reason, actual, evidence } = checkOf(
        { max_total: 10, negate },
        {},
        { input: 3, output: 4 },
      );
      assert.equal(outcome, "missing_instrumentation");
      assert.equal(
        reason,
        "Turn 1 has no token usage: gen_ai.usage.input_tokens and gen_ai.usage.output_tokens are missing.",
      );
      assert.deepEqual(actual, { total: 7 });
      assert.deepEqual(
        evidence.map(({ turn, attribute }) => [turn, attribute]),
        [
          [1, "gen_ai.usage.input_tokens"],
          [1, "gen_ai.usage.output_tokens"],
        ],
      );
    }
  });

  test("points at the usage that is there, and at the turn without the other", () => {
    const { outcome, reason, evidence } = checkOf({ max_total: 10 }, { input: 1, output: 2 }, { input: 3 });
    assert.equal(outcome, "missing_instrumentation");
    assert.equal(reason, "Turn 2 has no count of output tokens: gen_ai.usage.output_tokens is missing.");
    assert.deepEqual(
      evidence.map(({ turn, attribute }) => [turn, attribute]),
      [
        [1, "gen_ai.usage.input_tokens"],
        [2, "gen_ai.usage.input_tokens"],
        [2, "gen_ai.usage.output_tokens"],
      ],
    );
  });

  test("fails where the turns that tell it exceed the limit already", () => {
    assert.equal(checkOf({ max_total: 6 }, {}, { input: 3, output: 4 }).outcome, "failed");
    assert.equal(checkOf({ max_input: 2 }, { output: 1 }, { input: 3, output: 4 }).outcome, "failed");
  });

  test("names no turn where all lack it, or different turns lack different numbers", () => {
    assert.match(checkOf({ max_total: 9 }, {}, {}).reason, /^The trace has no token usage/);
    assert.match(
      checkOf({ max_total: 9 }, { input: 1 }, { output: 1 }).reason,
      /^The trace has no token usage/,
    );
  });

  test("counts no reasoning in turns that tell their output alone", () => {
    const first = { output: 5, reasoning: 2 };
    assert.equal(checkOf({ max_reasoning: 2 }, first, { output: 5 }).outcome, "passed");
    assert.equal(checkOf({ max_reasoning: 2 }, first, {}).outcome, "missing_instrumentation");
  });
});
