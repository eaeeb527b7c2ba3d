// Checks of several spans: how many must hold, by default, negated, and where one of them cannot be read.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import type { Outcome } from "../../src/model/run/outcome.ts";
import type { Check } from "../../src/model/run/run.ts";
import type { Attributes } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { assertRendered, root, scored, span, testCase, traceOf } from "./makers.ts";

const node = { target_node: "step" };
const types = {
  response_regex: { ...node, type: "response_regex", pattern: "yes" },
  semantic: { ...node, type: "semantic", criteria: "The text says yes." },
  json_match: { ...node, type: "json_match", field: "o", expected_value: { is: "yes" } },
  json_schema: { ...node, type: "json_schema", field: "o", schema: { required: ["yes"] } },
} as const;
type Type = keyof typeof types;

/** One span a letter: y holds, n does not, and ? cannot be read. */
const spansOf = (letters: string) =>
  [...letters].map((letter, at) => {
    const word = { y: "yes", n: "no" }[letter];
    const readable = { "gen_ai.response.text": `${word} ${at}`, o: `{"is":"${word}"}` };
    const attributes: Attributes = word ? readable : { o: `{"is":"ye` };
    return span({ attributes });
  });

function checkOf(assertion: Record<string, unknown>, letters: string): Check {
  const trace = traceOf(root(), ...spansOf(letters));
  const derived = derive(trace);
  const asked = testCase({ assertions: [assertion] });
  const answers = noAnswers();
  const { semantic, sandbox } = openQuestions(trace, derived, [asked], answers);
  for (const { key, question } of semantic)
    answers.semantic.set(key, scored(question.response.startsWith("yes") ? 0.9 : 0.1));
  for (const { key, question } of sandbox) {
    const holds = question.kind === "schema" && question.value.includes('"yes"');
    answers.sandbox.set(key, { state: "ok", holds, faults: holds ? [] : ['It has no "yes".'] });
  }
  return evaluateTest(trace, derived, asked, answers).checks[0]!;
}

const [pass, fail, miss] = ["passed", "failed", "missing_instrumentation"] as const;
const any: Type[] = ["response_regex", "json_match"];
const all: Type[] = ["semantic", "json_schema"];
const texts: Type[] = ["response_regex", "semantic"];
const values: Type[] = ["json_match", "json_schema"];
const every: Type[] = [...any, ...all];
const negate = true;

const table: [types: Type[], fields: object, letters: string, outcome: Outcome][] = [
  [any, {}, "yn", pass],
  [all, {}, "yn", fail],
  [all, {}, "yy", pass],
  [every, {}, "nn", fail],
  [every, { match: "any" }, "yn", pass],
  [every, { match: "all" }, "yn", fail],
  [every, { match: "all" }, "yy", pass],
  // By default no clean span hides another.
  [every, { negate }, "yn", fail],
  [every, { negate }, "nn", pass],
  [every, { negate, match: "any" }, "ny", fail],
  [every, { negate, match: "all" }, "yn", pass],
  [every, { negate, match: "all" }, "yy", fail],
  // What cannot be read is not absent.
  [every, { negate }, "n?", miss],
  [every, { negate }, "?y", fail],
  [every, { negate, match: "all" }, "y?", miss],
  [every, { negate, match: "all" }, "n?", pass],
  [every, { match: "any" }, "n?", fail],
  [every, { match: "any" }, "y?", pass],
  [texts, { match: "all" }, "y?", miss],
  [every, { match: "all" }, "n?", fail],
  [values, { match: "all" }, "y?", fail],
  [values, { negate }, "?", miss],
];

suite("how many spans must hold", () => {
  for (const [some, fields, letters, outcome] of table) {
    for (const type of some) {
      test(`${type} ${JSON.stringify(fields)} of ${letters}: ${outcome}`, () => {
        const check = checkOf({ ...types[type], ...fields }, letters);
        assert.equal(check.outcome, outcome, check.reason);
        assertRendered(check);
      });
    }
  }

  test("a check that one span fails shows that span", () => {
    for (const type of all) {
      const { evidence } = checkOf(types[type], "yyny");
      assert.equal(evidence.length, 1);
      assert.match(String(evidence[0]?.value), /no/);
    }
  });

  test("a text is compared with a text, JSON or not", () => {
    const spans = [root(), span({ attributes: { o: '{"cut' } })];
    const trace = traceOf(...spans);
    const outcomeOf = (expected_value: unknown) =>
      evaluateTest(
        trace,
        derive(trace),
        testCase({ assertions: [{ ...types.json_match, expected_value, negate }] }),
        noAnswers(),
      ).outcome;
    assert.equal(outcomeOf("other"), pass);
    assert.equal(outcomeOf('{"cut'), fail);
    assert.equal(outcomeOf(null), miss);
  });

  test("a span whose messages only call a tool was read: it has no text to hide", () => {
    const messages = [{ role: "assistant", parts: [{ type: "tool_call", name: "find", arguments: {} }] }];
    const trace = traceOf(
      root(),
      span({ attributes: { "gen_ai.output.messages": messages } }),
      ...spansOf("n"),
    );
    const asked = testCase({ assertions: [{ ...types.response_regex, negate }] });
    assert.equal(evaluateTest(trace, derive(trace), asked, noAnswers()).outcome, pass);
  });
});
