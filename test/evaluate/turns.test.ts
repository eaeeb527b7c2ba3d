// Several turns judged as one conversation, and assertions that look at one turn alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import { joinTurns, placedInTurns } from "../../src/evaluate/turns.ts";
import type { SemanticAnswer } from "../../src/model/judge/judge.ts";
import type { Quote } from "../../src/model/judge/material.ts";
import { unanswered } from "../../src/model/judge/outcome.ts";
import { Refusal } from "../../src/model/refusal.ts";
import type { Check, SemanticActual } from "../../src/model/run/run.ts";
import { parseTestCase } from "../../src/model/test-case/test-case.ts";
import type { Turn } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { unansweredBy } from "../support/judge-answers.ts";
import { root, scored, span, testCase, tool, traceOf } from "./makers.ts";

/** A turn of 100 ms and 10 tokens whose spans have the ids of every other turn's. */
function turn(reply: string | null, status: number, tools: string[] = [], tokens: number | null = 10): Turn {
  const trace = traceOf(
    root(
      {
        "gen_ai.prompt": `ask for ${reply}`,
        ...(reply === null ? {} : { "gen_ai.response.text": reply }),
        "http.response.status_code": status,
        ...(tokens === null ? {} : { "gen_ai.usage.input_tokens": tokens }),
      },
      { start_time_unix_nano: "1000000000", end_time_unix_nano: "1100000000" },
    ),
    ...tools.map((name, at) => span({ ...tool(name), span_id: `tool:${at}` })),
  );
  return { trace, derived: derive(trace) };
}

const threeTurns = {
  turns: [{ input: "a" }, { input: "b" }, { input: "c" }],
  passiveBehavior: "manual_only",
};

function outcomesOf(turns: Turn[], assertions: object[], fields: object = threeTurns) {
  const { trace, derived } = joinTurns(turns);
  const result = evaluateTest(trace, derived, testCase({ ...fields, assertions }), noAnswers());
  return placedInTurns(result).checks;
}

test("a joined conversation has the last turn's input, reply and status, and everybody's tools, time and tokens", () => {
  const { derived } = joinTurns([turn("one", 500, ["find"]), turn("two", 200, ["find", "book"])]);
  assert.equal(derived.userInput?.text, "ask for two");
  assert.equal(derived.judgedText?.text, "two");
  assert.equal(derived.httpStatus?.value, 200);
  assert.equal(derived.durationMs, 200);
  assert.equal(derived.tokens.total, 20);
  assert.deepEqual(
    derived.toolCalls.map(({ name }) => name),
    ["find", "find", "book"],
  );
});

test("a last turn without a reply is not given an earlier turn's", () => {
  const { derived } = joinTurns([turn("one", 200), turn(null, 500)]);
  assert.equal(derived.judgedText, null);
});

test("tokens of turns that say none are not invented, and a turn without times leaves the duration unknown", () => {
  const untimed = traceOf(root());
  const joined = joinTurns([turn("one", 200, [], null), { trace: untimed, derived: derive(untimed) }]);
  assert.equal(joined.derived.tokens.total, null);
  assert.equal(joined.derived.durationMs, null);
});

test("an assertion without a turn sees the whole conversation", () => {
  const [calls, status] = outcomesOf(
    [turn("one", 200, ["find"]), turn("two", 200, ["find"]), turn("three", 201, ["book"])],
    [
      { type: "tool_call", expected_name: "find", min: 2, max: 2 },
      { type: "http_status", expected_status: 201 },
    ],
  );
  assert.equal(calls?.outcome, "passed");
  assert.equal(status?.outcome, "passed");
});

test("node_call is missing instrumentation where a turn shows no step beside its root that could decide", () => {
  const assertions = [
    { type: "node_call", expected_name: "search" },
    { type: "node_call", expected_name: "search", negate: true },
    { type: "node_call", expected_name: "search", max: 1, min: 0 },
    { type: "node_call", expected_name: "conversation", min: 2 },
  ];
  const unseen = "missing_instrumentation";
  assert.deepEqual(
    outcomesOf([turn("one", 200, ["find"]), turn("two", 200)], assertions).map(({ outcome }) => outcome),
    [unseen, unseen, unseen, "passed"],
  );
  const trace = traceOf(root(), span({ name: "search" }), span({ name: "search" }));
  const withSteps = { trace, derived: derive(trace) };
  assert.deepEqual(
    outcomesOf([turn("one", 200), withSteps], assertions).map(({ outcome }) => outcome),
    ["passed", "failed", "failed", "passed"],
  );
  const [check] = outcomesOf([turn("one", 200), withSteps], [{ ...assertions[0]!, min: 3 }]);
  assert.match(check!.reason, /^Turn 1 has no steps/);
});

test("an assertion with a turn sees that turn alone", () => {
  const turns = [turn("one", 200, ["find"]), turn("two", 404, ["look"]), turn("three", 201, ["book"])];
  const assertions = [
    { type: "tool_call", expected_name: "find", max: 1, turn: 1 },
    { type: "tool_call", expected_name: "find", min: 0, max: 0, turn: 2 },
    { type: "http_status", expected_status: 404, turn: 2 },
    { type: "response_regex", pattern: "three", turn: "last" },
    { type: "response_regex", pattern: "three", turn: 1 },
    { type: "response_time", max_ms: 100, turn: 3 },
    { type: "response_time", max_ms: 100 },
  ];
  assert.deepEqual(
    outcomesOf(turns, assertions).map(({ outcome }) => outcome),
    ["passed", "passed", "passed", "passed", "failed", "passed", "failed"],
  );
});

test("with “each”, every turn has to pass, and a text without a turn is the last reply", () => {
  const turns = [turn("one", 200, ["find"]), turn("two", 200, ["find"]), turn("three", 200, ["other"])];
  const assertions = [
    { type: "response_regex", pattern: "two" },
    { type: "response_regex", pattern: "two", negate: true },
    { type: "response_regex", pattern: "two", negate: true, turn: "each" },
    { type: "response_regex", pattern: "one|two", turn: "each" },
    { type: "response_regex", pattern: "one|two|three", turn: "each" },
    { type: "response_regex", pattern: "four", negate: true, turn: "each" },
    { type: "tool_call", expected_name: "find", turn: "each" },
    { type: "tool_call", expected_name: "find", max: 1, min: 0, turn: "each" },
    { type: "token_limit", max_output: 5, turn: "each" },
    { type: "http_status", expected_status: 200, turn: "each" },
  ];
  const missing = "missing_instrumentation";
  const checks = outcomesOf(turns, assertions);
  assert.deepEqual(
    checks.map(({ outcome }) => outcome),
    ["failed", "passed", "failed", "failed", "passed", "passed", "failed", "passed", missing, "passed"],
  );
  assert.deepEqual(
    [checks[2], checks[3], checks[6]].map(check => check!.evidence[0]?.turn),
    [2, 3, 3],
  );
  const ended = outcomesOf(turns.slice(0, 2), assertions.slice(4, 6));
  assert.deepEqual(
    ended.map(({ outcome, reasonCode }) => [outcome, reasonCode]),
    [
      ["failed", "turn_not_reached"],
      ["failed", "turn_not_reached"],
    ],
  );
});

test("with “each”, the judge is asked about each reply, and turns to which no criterion applies are left out", () => {
  const { trace, derived } = joinTurns([turn("one", 200), turn("two", 200)]);
  const assertions = [{ type: "semantic", criteria: "If asked, answers.", turn: "each" }];
  const fields = { ...threeTurns, turns: [{ input: "a" }, { input: "b" }], assertions };
  const asked = testCase(fields);
  const outcomeWith = (...answers: SemanticAnswer[]) => {
    const given = noAnswers();
    const { semantic } = openQuestions(trace, derived, [asked], given);
    for (const [at, { key }] of semantic.entries()) given.semantic.set(key, answers[at]!);
    const [{ outcome, reasonCode }] = evaluateTest(trace, derived, asked, given).checks as [Check];
    return [outcome, reasonCode];
  };
  const none = unanswered("undecided", { code: "does_not_apply", data: { comment: "Nobody asked." } });
  assert.deepEqual(outcomeWith(scored(1), none), ["passed", "judge_score"]);
  assert.deepEqual(outcomeWith(none, scored(0)), ["failed", "judge_score"]);
  assert.deepEqual(outcomeWith(none, none), ["skipped", "does_not_apply"]);
  assert.deepEqual(outcomeWith(scored(1), unansweredBy.undecided)[0], "skipped");
});

test("evidence names the span by its own id, and its turn", () => {
  const checks = outcomesOf(
    [turn("one", 200), turn("two", 200, ["book"]), turn("three", 200)],
    [
      { type: "tool_call", expected_name: "book" },
      { type: "response_regex", pattern: "three" },
    ],
  );
  assert.deepEqual(
    checks.flatMap(({ evidence }) => evidence.map(({ spanId, turn }) => [spanId, turn])),
    [
      ["tool:0", 2],
      ["root", 3],
    ],
  );
});

test("a turn that did not take place fails what was expected of it, negated or not", () => {
  const checks = outcomesOf(
    [turn("one", 200), turn(null, 500)],
    [
      { type: "response_regex", pattern: "x", turn: 3 },
      { type: "response_regex", pattern: "x", turn: "last", negate: true },
      { type: "http_status", expected_status: 500, turn: 2 },
    ],
  );
  assert.deepEqual(
    checks.map(({ outcome }) => outcome),
    ["failed", "failed", "passed"],
  );
  assert.equal(checks[0]?.reason, "Turn 3 did not take place: the run ended in turn 2.");
});

test("in a trace of one turn, turn 1 and the last are the trace, and there is no second", () => {
  const { trace, derived } = turn("one", 200);
  const assertions = [
    { type: "http_status", expected_status: 200, turn: 1 },
    { type: "http_status", expected_status: 200, turn: "last" },
    { type: "http_status", expected_status: 200, turn: 2 },
  ];
  const outcomes = (test: ReturnType<typeof testCase>) =>
    evaluateTest(trace, derived, test, noAnswers()).checks.map(({ outcome }) => outcome);
  assert.deepEqual(outcomes(testCase({ assertions: assertions.slice(0, 2) })), ["passed", "passed"]);
  assert.deepEqual(outcomes(testCase({ ...threeTurns, assertions })), [
    "passed",
    "passed",
    "missing_instrumentation",
  ]);
});

test("the judge is asked about the reply of the turn that is looked at", () => {
  const { trace, derived } = joinTurns([turn("one", 200), turn("two", 200)]);
  const assertions = [
    { type: "semantic", criteria: "answers", turn: 1 },
    { type: "semantic", criteria: "answers" },
  ];
  const fields = { ...threeTurns, turns: [{ input: "a" }, { input: "b" }], assertions };
  const { semantic } = openQuestions(trace, derived, [testCase(fields)], noAnswers());
  assert.deepEqual(
    semantic.map(({ question }) => [question.userInput, question.response]),
    [
      ["ask for one", "one"],
      ["ask for two", "two"],
    ],
  );
});

for (const [turn, message] of [
  [2, "Turn 2 does not exist: the test has one turn."],
  [0, 'Expected the number of a turn, from 1, "last" or "each".'],
  ["first", 'Expected the number of a turn, from 1, "last" or "each".'],
] as const) {
  test(`an assertion cannot name the turn ${turn} of a test of one turn`, () => {
    const input = {
      name: "t",
      status: "disabled",
      turns: [{ input: "a" }],
      assertions: [{ type: "response_time", max_ms: 1, turn }],
    };
    assert.throws(
      () => parseTestCase(input),
      (error: unknown) => {
        assert.ok(error instanceof Refusal);
        assert.deepEqual(error.issues, [{ path: "assertions[0].turn", message }]);
        return true;
      },
    );
  });
}

test("what the agent did unseen is neither passed nor failed, except where nothing unseen could change it", () => {
  const unseen = turn("two", 200, [], null);
  unseen.trace.metadata = { "svc.run.observed": true };
  const checks = outcomesOf(
    [turn("one", 200, ["find"]), unseen],
    [
      { type: "tool_call", expected_name: "find" },
      { type: "tool_call", expected_name: "find", max: 1 },
      { type: "tool_call", expected_name: "delete", negate: true },
      { type: "tool_call", expected_name: "delete", negate: true, turn: 1 },
      { type: "token_limit", max_input: 100 },
      { type: "token_limit", max_total: 5 },
      { type: "http_status", expected_status: 200 },
      { type: "json_match", target_node: "plan", field: "goal", expected_value: "help" },
      { type: "json_match", target_node: "plan", field: "goal", expected_value: "help", negate: true },
      { type: "json_match", target_node: "plan", field: "goal", expected_value: "help", turn: 1 },
      { type: "json_schema", target_node: "conversation", field: "goal", schema: {} },
      { type: "response_regex", target_node: "plan", pattern: "two" },
      { type: "response_regex", target_node: "conversation", pattern: "three" },
      { type: "response_regex", target_node: "conversation", pattern: "two" },
      { type: "response_regex", target_node: "conversation", pattern: "two", negate: true },
      { type: "response_regex", pattern: "three" },
    ],
    { turns: [{ input: "a" }, { input: "b" }], passiveBehavior: "manual_only" },
  );
  const missing = "missing_instrumentation";
  assert.deepEqual(
    checks.map(({ outcome }) => outcome),
    [
      ...["passed", missing, missing, "passed", missing, "failed", "passed"],
      ...[missing, missing, "failed", missing],
      ...[missing, missing, "passed", "failed", "failed"],
    ],
  );
});

test("token_limit points at the usage of every turn", () => {
  const [check] = outcomesOf([turn("one", 200), turn("two", 200)], [{ type: "token_limit", max_input: 5 }]);
  assert.deepEqual(
    check!.evidence.map(({ spanId, turn, value }) => [spanId, turn, value]),
    [
      ["root", 1, 10],
      ["root", 2, 10],
    ],
  );
});

test("quotations and flags of a conversation are at the spans' own ids, in their turns; the reference is nowhere", () => {
  const turns = [turn("one", 200), turn("two", 200)];
  const { trace, derived } = joinTurns(turns);
  const asked = testCase({ ...threeTurns, assertions: [{ type: "semantic", criteria: "Is polite." }] });
  const answers = noAnswers();
  const [{ key, question }] = openQuestions(trace, derived, [asked], answers).semantic as [
    ReturnType<typeof openQuestions>["semantic"][number],
  ];
  assert.deepEqual(question.replyPlace, { spanId: "2:root", attribute: "gen_ai.response.text" });
  const quotes: Quote[] = [
    { as: "evidence", text: "two", from: "reply", ...question.replyPlace! },
    { as: "comparison", text: "one", from: "assistant", spanId: "1:root", attribute: null },
    { as: "comparison", text: "x", from: "reference", spanId: null, attribute: null },
  ];
  const verdicts = [{ verdict: "met" as const, evidence: "two", reason: "Yes.", quotes }];
  const { votes: _, ...answer } = scored(1) as SemanticAnswer & { code: "ok" };
  answers.semantic.set(key, { ...answer, votes: [{ score: 1, verdicts }] });
  const [check] = placedInTurns(evaluateTest(trace, derived, asked, answers)).checks;
  const { criteria, material } = check!.actual as SemanticActual;
  assert.deepEqual(
    criteria[0]!.quotes!.map(({ spanId, turn }) => [spanId, turn]),
    [
      ["root", 2],
      ["root", 1],
      [null, undefined],
    ],
  );
  assert.deepEqual(material!.shown.user, { items: 1, characters: "ask for one".length });
});
