// Questions are asked only where an answer counts, and an answer that did not come passes and fails nothing.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Validator } from "@cfworker/json-schema";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import type { Answers } from "../../src/evaluate/finding.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import type { SemanticAnswer } from "../../src/model/judge/judge.ts";
import { unanswered } from "../../src/model/judge/outcome.ts";
import { reasonText } from "../../src/model/run/reason-text.ts";
import type { Check, SemanticActual } from "../../src/model/run/run.ts";
import type { SandboxAnswer } from "../../src/model/sandbox.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { serverError, unansweredBy } from "../support/judge-answers.ts";
import { root, scored, span, testCase, traceOf } from "./makers.ts";

const polite = { type: "semantic", criteria: "The reply is polite." };
const shaped = { type: "json_schema", target_node: "step", field: "o", schema: { type: "object" } };
const reply = { "gen_ai.response.text": "Dear customer", "gen_ai.prompt": "hello" };
const valid: SandboxAnswer = { state: "ok", holds: true, faults: [] };

/** Asks in rounds as a run does, and keeps what was asked. */
function judged(
  fields: Record<string, unknown>,
  spans: Span[],
  answer: { semantic?: (response: string) => SemanticAnswer; sandbox?: (text: string) => SandboxAnswer } = {},
) {
  const trace = traceOf(...spans);
  const derived = derive(trace);
  const testOf = testCase(fields);
  const answers: Answers = noAnswers();
  const rounds: string[][] = [];
  for (;;) {
    const open = openQuestions(trace, derived, [testOf], answers);
    if (open.semantic.length + open.sandbox.length === 0) break;
    rounds.push([
      ...open.semantic.map(({ question }) => question.assertionId),
      ...open.sandbox.map(({ question }) => question.kind),
    ]);
    assert.ok(rounds.length < 10, "asking comes to an end");
    for (const { key, question } of open.semantic)
      answers.semantic.set(key, answer.semantic!(question.response));
    for (const { key, question } of open.sandbox) {
      answers.sandbox.set(key, answer.sandbox!(question.kind === "schema" ? question.value : question.text));
    }
  }
  return { result: evaluateTest(trace, derived, testOf, answers), rounds };
}

const onlyCheck = (...given: Parameters<typeof judged>): Check => judged(...given).result.checks[0]!;

suite("semantic checks", () => {
  test("say to the judge whether another check fails the test anyway", () => {
    const trace = traceOf(root(reply));
    const failsAnyway = (pattern: string) => {
      const given = testCase({ assertions: [{ type: "response_regex", pattern }, polite] });
      return openQuestions(trace, derive(trace), [given], noAnswers()).semantic[0]!.question.testFails;
    };
    assert.deepEqual([failsAnyway("Dear"), failsAnyway("Hi")], [undefined, true]);
  });

  for (const [score, threshold, outcome] of [
    [0.7, undefined, "passed"],
    [0.69, undefined, "failed"],
    [0.69, 0.5, "passed"],
    [0, 0, "passed"],
    [0.99, 1, "failed"],
  ] as const) {
    test(`a score of ${score} by the threshold ${threshold ?? "of the test"} has ${outcome}`, () => {
      const assertion = threshold === undefined ? polite : { ...polite, threshold };
      const check = onlyCheck({ assertions: [assertion] }, [root(reply)], { semantic: () => scored(score) });
      assert.equal(check.outcome, outcome);
      assert.equal(check.score, score);
      assert.deepEqual(check.expected, { criteria: polite.criteria, threshold: threshold ?? 0.7 });
      assert.deepEqual(check.actual, {
        score,
        criteria: [
          { criterion: polite.criteria, verdict: "met", evidence: "", reason: "The reply says so." },
        ],
        votes: { passed: outcome === "passed" ? 1 : 0, of: 1, scores: [score] },
        provider: "openai_compatible",
        model: "local",
        promptVersion: "1",
        cached: false,
        material: { context: "conversation_and_tools", shown: {}, leftOut: {}, complete: true },
      });
      assert.deepEqual(check.evidence, [
        { spanId: "root", attribute: "gen_ai.response.text", value: "Dear customer" },
      ]);
    });
  }

  for (const text of ["…", "👍", "?!", "\u200b", "\u3164", "❤️ ❤️"]) {
    test(`the reply ${JSON.stringify(text)} has no words: it fails, and passes negated, and nothing is asked`, () => {
      for (const negate of [false, true]) {
        const spans = [root({ "gen_ai.response.text": text })];
        const { result, rounds } = judged({ assertions: [{ ...polite, negate }] }, spans);
        const [check] = result.checks as [Check];
        assert.deepEqual(
          [check.outcome, check.reason],
          [negate ? "passed" : "failed", "The reply contains no words."],
        );
        assert.deepEqual(rounds, []);
      }
    });
  }

  test("a check whose criteria all do not apply is skipped, and of several texts those are left out", () => {
    const none = unanswered("undecided", { code: "does_not_apply", data: { comment: "Nobody asked." } });
    for (const negate of [false, true]) {
      const check = onlyCheck({ assertions: [{ ...polite, negate }] }, [root(reply)], {
        semantic: () => none,
      });
      assert.deepEqual(
        [check.outcome, check.skipped, check.reasonCode, check.reason],
        ["skipped", "does_not_apply", "does_not_apply", "The check does not apply: Nobody asked."],
      );
    }
    const spans = [root(), ...["a", "b"].map(text => span({ attributes: { "gen_ai.response.text": text } }))];
    const fields = { assertions: [{ ...polite, target_node: "step" }] };
    const answer = (score: number) => ({
      semantic: (response: string) => (response === "a" ? none : scored(score)),
    });
    assert.equal(onlyCheck(fields, spans, answer(1)).outcome, "passed");
    assert.equal(onlyCheck(fields, spans, answer(0)).outcome, "failed");
  });

  test("a judge that is the agent's own model, in whatever snapshot, is noticed", () => {
    const sameAs = (model: string) => {
      const spans = [root({ ...reply, "gen_ai.request.model": model })];
      return (
        onlyCheck({ assertions: [polite] }, spans, { semantic: () => scored(1) }).actual as SemanticActual
      ).sameModel;
    };
    for (const model of ["local", "LOCAL", "openai/local", "local-2026-01-01", "local:latest"])
      assert.equal(sameAs(model), true, model);
    for (const model of ["local-mini", "other", "local-2"]) assert.equal(sameAs(model), undefined, model);
  });

  test("negation turns a score round", () => {
    const fields = { assertions: [{ ...polite, negate: true }] };
    assert.equal(onlyCheck(fields, [root(reply)], { semantic: () => scored(0.9) }).outcome, "failed");
    assert.equal(onlyCheck(fields, [root(reply)], { semantic: () => scored(0.1) }).outcome, "passed");
  });

  test("the judge is told the scenario, the input, the response, the criteria and the reference", () => {
    const trace = traceOf(root(reply));
    const asked = testCase({
      scenario: "a greeting",
      assertions: [{ ...polite, id: "p", reference: "Dear X" }],
    });
    const { semantic } = openQuestions(trace, derive(trace), [asked], noAnswers());
    const replyPlace = { spanId: "root", attribute: "gen_ai.response.text" };
    assert.deepEqual(
      semantic.map(({ question }) => question),
      [
        {
          testId: asked.id,
          assertionId: "p",
          scenario: "a greeting",
          userInput: "hello",
          response: "Dear customer",
          criteria: [polite.criteria],
          threshold: 0.7,
          negate: false,
          reference: "Dear X",
          // Of the conversation, the judge is shown where input and reply stand.
          material: {
            items: [
              { kind: "user", text: "", spanId: "root", attribute: "gen_ai.prompt", is: "user_input" },
              { kind: "assistant", text: "", ...replyPlace, is: "reply" },
            ],
            tools: true,
            leftOut: {},
            complete: true,
          },
          replyPlace,
          inputPlace: { spanId: "root", attribute: "gen_ai.prompt" },
        },
      ],
    );
  });

  test("of two tests that ask about the same reply under the same id, each gets its own answer", () => {
    const trace = traceOf(root(reply));
    const derived = derive(trace);
    const tests = [testCase({ assertions: [polite] }), testCase({ assertions: [polite], threshold: 0.2 })];
    const answers = noAnswers();
    const { semantic } = openQuestions(trace, derived, tests, answers);
    for (const { key, question } of semantic)
      answers.semantic.set(key, scored(question.testId === tests[0]!.id ? 0.9 : 0.1));
    assert.deepEqual(
      tests.map(test => evaluateTest(trace, derived, test, answers).outcome),
      ["passed", "failed"],
    );
  });

  test("of several spans aimed at, each text is asked about once and one that suffices is enough", () => {
    const spans = [
      root(),
      ...["a", "b", "a", "c"].map(text => span({ attributes: { "gen_ai.response.text": text } })),
    ];
    const fields = { assertions: [{ ...polite, target_node: "step", match: "any" }] };
    const { result, rounds } = judged(fields, spans, {
      semantic: response => scored(response === "b" ? 0.8 : 0.1),
    });
    assert.deepEqual(rounds, [["a1", "a1", "a1"]]);
    assert.equal(result.checks[0]?.outcome, "passed");
    assert.deepEqual(
      result.checks[0]?.evidence.map(({ value }) => value),
      ["b"],
    );
    const mixed = judged(fields, spans, {
      semantic: response => (response === "b" ? unansweredBy.later : scored(0.1)),
    });
    assert.equal(mixed.result.checks[0]?.skipped, "judge_unavailable");
    const unheard: Record<string, SemanticAnswer> = {
      a: unansweredBy.undecided,
      b: serverError(503, 1),
      c: unansweredBy.later,
    };
    const skippedOf = (states: Record<string, SemanticAnswer>) =>
      judged(fields, spans, { semantic: response => states[response]! }).result.checks[0]?.skipped;
    assert.equal(skippedOf(unheard), "waiting");
    assert.equal(skippedOf({ ...unheard, b: unheard["a"]! }), "judge_unavailable");
    assert.equal(skippedOf({ a: unheard["c"]!, b: unheard["a"]!, c: unheard["a"]! }), "judge_unavailable");
    const none = judged(fields, spans, { semantic: response => scored(response === "c" ? 0.6 : 0.1) });
    assert.deepEqual([none.result.checks[0]?.outcome, none.result.checks[0]?.score], ["failed", 0.6]);
  });
});

suite("outages", () => {
  const codes = {
    not_configured: "no_judge",
    later: "judge_unavailable",
    refused: "judge_unavailable",
    aborted: "judge_unavailable",
    not_sampled: "not_sampled",
    unusable: "judge_unusable",
    budget: "budget",
    undecided: "undecided",
  } as const;
  for (const [code, skipped] of Object.entries(codes) as [keyof typeof codes, Check["skipped"]][]) {
    test(`a judge whose answer is ${code} skips the check with its reason, negated or not`, () => {
      for (const negate of [false, true]) {
        const check = onlyCheck({ assertions: [{ ...polite, negate }] }, [root(reply)], {
          semantic: () => unansweredBy[code],
        });
        assert.deepEqual(
          [check.outcome, check.skipped, check.reason],
          ["skipped", skipped, reasonText(unansweredBy[code].detail)],
        );
      }
    });
  }

  for (const threshold of [null, "0.7", -0.1, 1.1, [], {}, true]) {
    test(`the threshold ${JSON.stringify(threshold)} skips the check and asks nothing`, () => {
      for (const fields of [
        { threshold, assertions: [polite] },
        { assertions: [{ ...polite, threshold }] },
      ]) {
        const { result, rounds } = judged(fields, [root(reply)]);
        assert.deepEqual([result.checks[0]?.skipped, rounds], ["threshold", []]);
      }
    });
  }

  test("an assertion's own threshold stands in for a test's that is not valid", () => {
    const fields = { threshold: "high", assertions: [{ ...polite, threshold: 0.5 }] };
    assert.equal(onlyCheck(fields, [root(reply)], { semantic: () => scored(0.5) }).outcome, "passed");
  });

  test("without a reply nothing is asked", () => {
    assert.deepEqual(judged({ assertions: [polite] }, [root()]).rounds, []);
  });

  test("an answer that never came skips the check", () => {
    const trace = traceOf(root({ ...reply, o: {} }), span({ attributes: { o: {} } }));
    const { checks, outcome } = evaluateTest(
      trace,
      derive(trace),
      testCase({ assertions: [polite, shaped] }),
      noAnswers(),
    );
    assert.deepEqual(
      checks.map(({ skipped }) => skipped),
      ["judge_unavailable", "limit"],
    );
    assert.equal(outcome, "skipped");
  });

  test("a skipped check leaves the rest of the test to be judged", () => {
    const fields = { assertions: [polite, { type: "node_call", expected_name: "conv" }] };
    const { result } = judged(fields, [root(reply)], { semantic: () => unansweredBy.later });
    assert.deepEqual(
      [result.outcome, result.score, result.reason],
      ["passed", 1, "Passed, 1 of 2 checked, 1 skipped"],
    );
  });
});

suite("schemas and costly patterns", () => {
  const long = "9007199254740993";
  for (const [what, field, schema, outcome, fault] of [
    ["an integer", { id: long }, { properties: { id: { type: "integer" } } }, "passed"],
    ["its text", { id: long }, { properties: { id: { type: "string" } } }, "passed"],
    [
      "integers in lists",
      { ids: [[long], long] },
      { properties: { ids: { items: { minLength: 99 } } } },
      "passed",
    ],
    ["a limit", { id: long }, { properties: { id: { type: "integer", maximum: 5 } } }, "failed", "maximum"],
    ["another fault", { id: long }, { required: ["a"] }, "failed", "required"],
    ["a key", { [long]: 1 }, { required: [long] }, "passed"],
    ["a text in a text", { a: `:"${long}",` }, { properties: { a: { const: `:"${long}",` } } }, "passed"],
  ] as const) {
    test(`a long integer in a structured attribute may be an integer or a text: ${what}`, () => {
      const validator = new Validator(JSON.parse(JSON.stringify(schema)), "2020-12");
      const sandbox = (text: string): SandboxAnswer => {
        const { valid: holds, errors } = validator.validate(JSON.parse(text));
        return { state: "ok", holds, faults: errors.slice(-1).map(({ keyword }) => keyword) };
      };
      const spans = [root(), span({ attributes: { o: field } })];
      const check = onlyCheck({ assertions: [{ ...shaped, schema }] }, spans, { sandbox });
      assert.equal(check.outcome, outcome);
      if (fault) assert.match(check.reason, new RegExp(`is invalid: ${fault}$`));
    });
  }

  const spans = [root(), span({ attributes: { o: '{"a":1}' } })];

  test("an attribute's JSON text is validated as it is, another value as its JSON", () => {
    const seen: string[] = [];
    const sandbox = (text: string) => {
      seen.push(text);
      return valid;
    };
    judged(
      { assertions: [shaped] },
      [...spans, span({ attributes: { o: { b: [2] } } }), span({ attributes: { o: "no json" } })],
      { sandbox },
    );
    assert.deepEqual(seen, ['{"a":1}', '{"b":[2]}', "no json"]);
  });

  test("a valid value passes, and fails when negated", () => {
    assert.equal(onlyCheck({ assertions: [shaped] }, spans, { sandbox: () => valid }).outcome, "passed");
    assert.equal(
      onlyCheck({ assertions: [{ ...shaped, negate: true }] }, spans, { sandbox: () => valid }).outcome,
      "failed",
    );
  });

  test("an invalid value fails with what is wrong, and passes when negated", () => {
    const sandbox = (): SandboxAnswer => ({ state: "ok", holds: false, faults: ["a: Too small."] });
    const check = onlyCheck({ assertions: [shaped] }, spans, { sandbox });
    assert.deepEqual(
      [check.outcome, check.actual],
      ["failed", { value: '{"a":1}', faults: ["a: Too small."] }],
    );
    assert.match(check.reason, /is invalid: a: Too small\.$/);
    assert.equal(
      onlyCheck({ assertions: [{ ...shaped, negate: true }] }, spans, { sandbox }).outcome,
      "passed",
    );
  });

  test("one valid value of several is enough, and same values are validated once", () => {
    const several = [root(), ...["1", "{}", "1"].map(o => span({ attributes: { o } }))];
    const { result, rounds } = judged({ assertions: [{ ...shaped, match: "any" }] }, several, {
      sandbox: text => ({ state: "ok", holds: text === "{}", faults: [] }),
    });
    assert.deepEqual([result.checks[0]?.outcome, rounds], ["passed", [["schema", "schema"]]]);
  });

  for (const state of ["timeout", "unavailable"] as const) {
    test(`a sandbox's ${state} skips the check, negated or not`, () => {
      for (const negate of [false, true]) {
        const reason = { code: "sandbox_timeout", data: { ms: 250 } } as const;
        const sandbox = (): SandboxAnswer => ({ state, reason });
        const check = onlyCheck({ assertions: [{ ...shaped, negate }] }, spans, { sandbox });
        assert.deepEqual(
          [check.outcome, check.skipped, check.reason, check.reasonCode, check.reasonData],
          ["skipped", "limit", "This check took longer than its limit of 250 ms.", reason.code, reason.data],
        );
      }
    });
  }

  test("a value too long to be validated is skipped, unless another one is enough", () => {
    const long = span({ attributes: { o: "x".repeat(1_000_001) } });
    assert.equal(onlyCheck({ assertions: [shaped] }, [root(), long]).skipped, "limit");
    assert.equal(
      onlyCheck({ assertions: [{ ...shaped, match: "any" }] }, [...spans, long], { sandbox: () => valid })
        .outcome,
      "passed",
    );
  });

  test("a pattern too costly to search on the spot is searched in the sandbox", () => {
    const regex = { type: "response_regex", pattern: "[ab]{500}[cd]" };
    const long = [root({ "gen_ai.response.text": "ab".repeat(2000) })];
    for (const [holds, outcome] of [
      [true, "passed"],
      [false, "failed"],
    ] as const) {
      const { result, rounds } = judged({ assertions: [regex] }, long, {
        sandbox: () => ({ state: "ok", holds, faults: [] }),
      });
      assert.deepEqual([result.checks[0]?.outcome, rounds], [outcome, [["pattern"]]]);
    }
    const late = onlyCheck({ assertions: [regex] }, long, {
      sandbox: () => ({ state: "timeout", reason: { code: "sandbox_timeout", data: { ms: 250 } } }),
    });
    assert.equal(late.skipped, "limit");
  });

  test("a pattern not found in the part of a text that is searched is skipped, not failed", () => {
    const huge = [root({ "gen_ai.response.text": "x".repeat(1_000_001) })];
    const regex = { type: "response_regex", pattern: "y" };
    const check = onlyCheck({ assertions: [regex] }, huge, {
      sandbox: () => ({ state: "ok", holds: false, faults: [] }),
    });
    assert.equal(check.skipped, "limit");
  });

  test("a pattern that looks at the end of a text is skipped where only a part is searched, also under negate", () => {
    const huge = [root({ "gen_ai.response.text": `${"x".repeat(1_000_000)} secret` })];
    const sandbox = (): SandboxAnswer => ({ state: "ok", holds: true, faults: [] });
    for (const negate of [false, true]) {
      for (const [pattern, skipped] of [
        ["^[^s]*$", "limit"],
        ["x\\z", "limit"],
        ["x\\b", "limit"],
        ["^x+", undefined],
      ]) {
        const check = onlyCheck({ assertions: [{ type: "response_regex", pattern, negate }] }, huge, {
          sandbox,
        });
        assert.equal(check.skipped, skipped, pattern);
      }
    }
  });

  test("of very many values only the latest are looked at, and what they leave open is skipped", () => {
    const many = [root(), ...Array.from({ length: 30 }, (_, at) => span({ attributes: { o: String(at) } }))];
    const seen: string[] = [];
    const sandbox = (text: string): SandboxAnswer => {
      seen.push(text);
      return { state: "ok", holds: false, faults: [] };
    };
    const outcomeOf = ({ outcome, skipped }: Check) => [outcome, skipped];
    const anyShaped = { assertions: [{ ...shaped, match: "any" }] };
    assert.deepEqual(outcomeOf(onlyCheck(anyShaped, many, { sandbox })), ["skipped", "limit"]);
    assert.deepEqual([seen.length, seen[0], seen.at(-1)], [20, "10", "29"]);
    const [top, ...values] = many;
    const twenty = onlyCheck(anyShaped, [top!, ...values.slice(10)], { sandbox });
    assert.deepEqual(outcomeOf(twenty), ["failed", undefined]);
  });

  test("arguments too large to compare skip the check", () => {
    const items = Array.from({ length: 3000 }, (_, at) => ({ n: at }));
    const call = span({ attributes: { "gen_ai.tool.name": "x", "gen_ai.tool.call.arguments": items } });
    const assertion = { type: "tool_call", expected_name: "x", expected_arguments: items.toReversed() };
    assert.equal(onlyCheck({ assertions: [assertion] }, [root(), call]).skipped, "limit");
  });
});

suite("dependencies", () => {
  const fast = { type: "response_time", max_ms: 1, id: "fast" };
  const sure = { type: "node_call", expected_name: "conv", id: "sure" };

  test("a check whose dependency passed is checked", () => {
    const { result } = judged({ assertions: [{ ...sure, id: "b", depends_on: "sure" }, sure] }, [root()]);
    assert.deepEqual(
      result.checks.map(({ outcome }) => outcome),
      ["passed", "passed"],
    );
  });

  test("a check whose dependency did not pass is skipped, whatever kept it from passing", () => {
    const missing = fast;
    const failing = { ...sure, negate: true, id: "failing" };
    const skipped = { ...polite, threshold: "odd", id: "skipped" };
    for (const dependency of [missing, failing, skipped]) {
      const { result } = judged({ assertions: [dependency, { ...sure, depends_on: dependency.id }] }, [
        root(reply),
      ]);
      assert.deepEqual([result.checks[1]?.outcome, result.checks[1]?.skipped], ["skipped", "dependency"]);
      assert.match(result.checks[1]!.reason, new RegExp(`"${dependency.id}"`));
    }
  });

  test("a skipped dependency skips what depends on it, and nothing is turned round", () => {
    const assertions = [
      { ...sure, negate: true },
      { ...sure, id: "b", depends_on: "sure" },
      { ...sure, id: "c", negate: true, depends_on: "b" },
    ];
    const { result } = judged({ assertions }, [root()]);
    assert.deepEqual(
      result.checks.map(({ skipped }) => skipped),
      [undefined, "dependency", "dependency"],
    );
    assert.equal(result.reason, "Failed, 1 of 3 checked, 1 failed, 2 skipped");
  });

  test("a semantic check whose dependency did not pass is never asked", () => {
    const { rounds } = judged({ assertions: [fast, { ...polite, depends_on: "fast" }] }, [root(reply)]);
    assert.deepEqual(rounds, []);
  });

  test("a semantic check that depends on another is asked once that one has passed", () => {
    const assertions = [
      { ...polite, id: "last", depends_on: ["first", "middle"] },
      { ...polite, id: "first" },
      { ...polite, id: "middle", depends_on: "first" },
    ];
    const { result, rounds } = judged({ assertions }, [root(reply)], { semantic: () => scored(1) });
    assert.deepEqual(rounds, [["first"], ["middle"], ["last"]]);
    assert.equal(result.counts.passed, 3);
    const stopped = judged({ assertions }, [root(reply)], { semantic: () => scored(0) });
    assert.deepEqual(stopped.rounds, [["first"]]);
    assert.deepEqual(
      stopped.result.checks.map(({ outcome }) => outcome),
      ["skipped", "failed", "skipped"],
    );
  });

  test("tests that need no answer ask nothing", () => {
    assert.deepEqual(judged({ assertions: [fast, sure] }, [root(reply)]).rounds, []);
  });
});
