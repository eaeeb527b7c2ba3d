// What a run comes to: which tests apply and why not, outcomes, scores and counts.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { applyingTests, routingQuestion } from "../../src/evaluate/applicability.ts";
import { evaluate } from "../../src/evaluate/evaluate.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import type { RouteLabel } from "../../src/model/judge/call.ts";
import type { RoutingAnswer } from "../../src/model/judge/judge.ts";
import type { Outcome } from "../../src/model/run/outcome.ts";
import { reasonText } from "../../src/model/run/reason-text.ts";
import type { TestCase } from "../../src/model/test-case/document.ts";
import { documentOf } from "../../src/model/test-case/test-case.ts";
import type { MergedTrace } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { arbitrarySpan } from "../model/make-trace.ts";
import { unansweredBy } from "../support/judge-answers.ts";
import { root, testCase, traceOf } from "./makers.ts";

const heard = traceOf(root({ "gen_ai.prompt": "I want a refund", "http.response.status_code": 200 }));
const unheard = traceOf(root({ "http.response.status_code": 200 }));
const passing = { type: "http_status", expected_status: 200 };
const failing = { type: "http_status", expected_status: 500 };
const missing = { type: "response_time", max_ms: 5 };
const skipping = { type: "semantic", criteria: "x", threshold: "odd" };

const always = testCase({ name: "always", assertions: [passing] });
const relevant = testCase({ name: "relevant", passiveBehavior: "run_when_relevant", assertions: [passing] });
const manual = testCase({ passiveBehavior: "manual_only", assertions: [passing] });
const disabled = testCase({
  status: "disabled",
  passiveBehavior: "run_when_relevant",
  assertions: [passing],
});
const long = testCase({ turns: [{ input: "a" }, { input: "b" }], assertions: [passing] });

function run(tests: TestCase[], routing: RoutingAnswer | null = null, trace = heard) {
  return evaluate({ trace, derived: derive(trace), tests, routing, answers: noAnswers() });
}

const read = (trace: MergedTrace) => ({ spans: trace.spans, derived: derive(trace) });

function labelled(...labels: [test: TestCase, label: RouteLabel][]): RoutingAnswer {
  return {
    code: "ok",
    labels: new Map(labels.map(([{ id }, label]) => [id, { label, reason: `It is ${label}.` }])),
  };
}

suite("routing", () => {
  test("the judge is asked once, about the eligible run-when-relevant tests alone", () => {
    assert.deepEqual(routingQuestion(read(heard), [always, relevant, manual, disabled, long]), {
      userInput: "I want a refund",
      scenarios: [{ testId: relevant.id, scenario: relevant.scenario }],
    });
  });

  test("without such a test, or without user input, nothing is asked", () => {
    assert.equal(routingQuestion(read(heard), [always, manual, disabled, long]), null);
    assert.equal(routingQuestion(read(unheard), [relevant]), null);
  });

  test("without conditional tests routing is not needed, user input or not", () => {
    for (const trace of [heard, unheard])
      assert.equal(run([always, disabled], null, trace).routing, "not_needed");
  });

  for (const [label, why] of [
    ["match", "scenario_matched"],
    ["unsure", "scenario_unsure"],
  ] as const) {
    test(`${label} runs the test`, () => {
      const { routing, results, tests } = run([relevant], labelled([relevant, label]));
      assert.equal(routing, "ok");
      assert.equal(results[0]?.outcome, "passed");
      assert.deepEqual(tests, [
        { testId: relevant.id, name: "relevant", applied: true, why, reason: `It is ${label}.` },
      ]);
    });
  }

  test("no_match leaves a skipped result that counts nothing", () => {
    const { routing, results, tests, counts, score } = run(
      [always, relevant],
      labelled([relevant, "no_match"]),
    );
    assert.equal(routing, "ok");
    assert.deepEqual(results[1], {
      testId: relevant.id,
      name: "relevant",
      outcome: "skipped",
      score: null,
      reason: "Skipped, the scenario does not match: It is no_match.",
      reasonCode: "scenario_no_match",
      reasonData: { comment: "It is no_match." },
      counts: { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 },
      checks: [],
      fullyEvaluated: true,
      test: documentOf(relevant),
      testVersion: relevant.version,
    });
    assert.deepEqual([tests[1]?.applied, tests[1]?.why], [false, "scenario_no_match"]);
    assert.deepEqual([counts.passed, counts.skipped, score], [1, 1, 1]);
  });

  test("without user input conditional tests leave no result, and always-run tests run", () => {
    const { routing, results, tests } = run([always, relevant], null, unheard);
    assert.equal(routing, "no_user_input");
    assert.deepEqual(
      results.map(({ testId }) => testId),
      [always.id],
    );
    assert.deepEqual(
      tests.map(({ why }) => why),
      ["always_run", "no_user_input"],
    );
  });

  for (const code of ["not_configured", "later", "unusable"] as const) {
    test(`a routing answer that is ${code} leaves no conditional result, and always-run tests run`, () => {
      const { routing, results, tests } = run([always, relevant], unansweredBy[code]);
      assert.equal(routing, "unavailable");
      assert.deepEqual(
        results.map(({ testId }) => testId),
        [always.id],
      );
      assert.deepEqual(tests[1], {
        testId: relevant.id,
        name: "relevant",
        applied: false,
        why: "routing_unavailable",
        reason: reasonText(unansweredBy[code].detail),
      });
    });
  }

  test("an answer that was due and is not there counts as unavailable", () => {
    assert.equal(run([relevant], null).routing, "unavailable");
  });

  test("a test that the answer leaves out is unavailable, the others are routed", () => {
    const other = testCase({ passiveBehavior: "run_when_relevant", assertions: [passing] });
    const unlabelled = new Map([[relevant.id, unansweredBy.later]]);
    const answer = { ...labelled([other, "match"]), unlabelled };
    const { routing, results, tests } = run([relevant, other], answer);
    assert.equal(routing, "ok");
    assert.deepEqual(
      results.map(({ testId }) => testId),
      [other.id],
    );
    assert.deepEqual(
      tests.map(({ why }) => why),
      ["routing_unavailable", "scenario_matched"],
    );
    assert.equal(tests[0]!.reason, reasonText(unansweredBy.later.detail));
  });

  test("an answer that leaves out every test is no routing", () => {
    assert.equal(run([relevant], labelled()).routing, "unavailable");
  });
});

suite("applicability", () => {
  test("every test of the agent is accounted for", () => {
    const tests = [always, manual, disabled, long, relevant];
    const verdict = run(tests, labelled([relevant, "match"]));
    assert.deepEqual(
      verdict.tests.map(({ testId, applied, why }) => [testId, applied, why]),
      [
        [always.id, true, "always_run"],
        [manual.id, false, "manual_only"],
        [disabled.id, false, "disabled"],
        [long.id, false, "multi_turn"],
        [relevant.id, true, "scenario_matched"],
      ],
    );
    assert.deepEqual(
      verdict.results.map(({ testId }) => testId),
      [always.id, relevant.id],
    );
  });

  test("the tests whose questions are asked are those that apply", () => {
    const tests = [disabled, relevant, always];
    assert.deepEqual(applyingTests(derive(heard), tests, labelled([relevant, "no_match"])), [always]);
    assert.deepEqual(applyingTests(derive(heard), tests, labelled([relevant, "unsure"])), [relevant, always]);
  });

  test("a result keeps the test as it was judged, without its ids", () => {
    assert.deepEqual(run([always]).results[0]?.test, documentOf(always));
  });
});

const outcomes: [assertions: object[], outcome: Outcome, score: number | null, reason: string][] = [
  [[passing, passing], "passed", 1, "Passed, 2 of 2 checked"],
  [[passing, skipping], "passed", 1, "Passed, 1 of 2 checked, 1 skipped"],
  [[passing, failing], "failed", 0.5, "Failed, 2 of 2 checked, 1 failed"],
  [
    [failing, missing, skipping],
    "failed",
    0,
    "Failed, 1 of 3 checked, 1 failed, 1 skipped, 1 missing instrumentation",
  ],
  [
    [passing, missing],
    "missing_instrumentation",
    1,
    "Missing instrumentation, 1 of 2 checked, 1 missing instrumentation",
  ],
  [
    [missing, skipping],
    "missing_instrumentation",
    null,
    "Missing instrumentation, 0 of 2 checked, 1 skipped, 1 missing instrumentation",
  ],
  [[skipping], "skipped", null, "Skipped, 0 of 1 checked, 1 skipped"],
];

suite("outcomes", () => {
  for (const [assertions, outcome, score, reason] of outcomes) {
    test(reason, () => {
      const [result] = run([testCase({ assertions })]).results;
      assert.deepEqual([result?.outcome, result?.score, result?.reason], [outcome, score, reason]);
      assert.deepEqual([result?.reasonCode, result?.reasonData], ["checks_counted", undefined]);
      assert.equal(result?.checks.length, assertions.length);
    });
  }

  test("a run is formed from its tests' outcomes in the same way", () => {
    const tests = outcomes.map(([assertions]) => testCase({ assertions }));
    const verdict = run(tests);
    assert.deepEqual(verdict.counts, { passed: 2, failed: 2, skipped: 1, missing_instrumentation: 2 });
    assert.deepEqual([verdict.verdict, verdict.score], ["failed", 0.5]);
    assert.equal(
      reasonText({ code: "checks_counted", data: { outcome: "failed", counts: verdict.counts } }),
      "Failed, 4 of 7 checked, 2 failed, 1 skipped, 2 missing instrumentation",
    );
  });

  test("a run without results has no verdict", () => {
    const { verdict, score, counts } = run([disabled]);
    assert.deepEqual([verdict, score], [null, null]);
    assert.deepEqual(counts, { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 });
  });
});

test("whatever the spans and the tests hold, a trace is judged, and every check says something", () => {
  const name = fc.oneof(
    fc.constantFrom("a", "step", "gen_ai.tool.name", "__proto__", "toString"),
    fc.string({ minLength: 1 }),
  );
  const negate = fc.boolean();
  const assertion = fc.oneof(
    fc.record({ type: fc.constant("node_call"), negate, expected_name: name, min: fc.nat(2) }),
    fc.record({
      type: fc.constant("tool_call"),
      negate,
      expected_name: name,
      expected_arguments: fc.jsonValue().filter(withoutOperators),
      arguments_mode: fc.constantFrom("partial", "exact"),
    }),
    fc.record({ type: fc.constant("token_limit"), negate, max_total: fc.nat(), max_reasoning: fc.nat() }),
    fc.record({
      type: fc.constant("http_status"),
      negate,
      expected_status: fc.constantFrom(200, [404], "5xx"),
    }),
    fc.record({ type: fc.constant("response_time"), negate, max_ms: fc.nat() }),
    fc.record({
      type: fc.constant("response_regex"),
      negate,
      pattern: fc.constantFrom("a", "^.*$", "\\p{L}{1,50}[xy]"),
      flags: fc.constantFrom("", "ims"),
      target_node: name,
    }),
    fc.record({ type: fc.constant("response_regex"), negate, pattern: fc.constantFrom("a", "\\x00") }),
    fc.record({
      type: fc.constant("semantic"),
      negate,
      criteria: name.filter(text => text.trim() !== ""),
      threshold: fc.jsonValue(),
      target_node: name,
    }),
    fc.record({
      type: fc.constant("json_match"),
      negate,
      target_node: name,
      field: name,
      expected_value: fc.jsonValue(),
    }),
    fc.record({
      type: fc.constant("json_schema"),
      negate,
      target_node: name,
      field: name,
      schema: fc.boolean(),
    }),
  );
  fc.assert(
    fc.property(
      fc.array(arbitrarySpan, { maxLength: 8 }),
      fc.array(assertion, { minLength: 1, maxLength: 6 }),
      (spans, assertions) => {
        const trace = traceOf(...spans);
        const derived = derive(trace);
        const tests = [testCase({ assertions })];
        openQuestions(trace, derived, tests, noAnswers());
        const [result] = evaluate({ trace, derived, tests, routing: null, answers: noAnswers() }).results;
        assert.equal(result?.checks.length, assertions.length);
        for (const { reason, evidence } of result.checks) {
          assert.match(reason, /\S/);
          assert.ok(evidence.length <= 20);
        }
        JSON.stringify(result);
      },
    ),
    { numRuns: 300 },
  );
});

function withoutOperators(value: unknown): boolean {
  return !JSON.stringify(value).includes("$");
}
