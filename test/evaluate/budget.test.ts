// All tests of an evaluation share one budget: what exceeds it is skipped, and cheap checks are still made.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { toEnd } from "../../src/evaluate/check-test.ts";
import { evaluating } from "../../src/evaluate/evaluate.ts";
import { noAnswers } from "../../src/evaluate/questions.ts";
import { TraceView } from "../../src/evaluate/trace-view.ts";
import { BudgetSpent, RunBudget } from "../../src/model/run/budget.ts";
import type { Check } from "../../src/model/run/run.ts";
import type { TestCase } from "../../src/model/test-case/document.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { root, span, testCase, tool, traceOf } from "./makers.ts";

/** A tenth of the real budget, to be quick. */
function viewOf(spans: Span[], steps = 2_000_000): TraceView {
  const trace = traceOf(...spans);
  return new TraceView(trace, derive(trace), new RunBudget(steps));
}

function checksOf(given: TestCase[], view: TraceView): Check[] {
  const input = { view, tests: given, routing: null, answers: noAnswers() };
  return toEnd(evaluating(input)).results.flatMap(({ checks }) => checks);
}

const items = Array.from({ length: 990 }, (_, at) => ({ n: at }));
const tests = (count: number, ...assertions: object[]) =>
  Array.from({ length: count }, () => testCase({ assertions }));
const texts = (count: number) => Array.from({ length: count }, (_, at) => `step ${at}`);

suite("costly checks", () => {
  // A million steps for each call: with thirty tests and calls, a minute.
  const reversed = { type: "tool_call", expected_name: "list", expected_arguments: items.toReversed() };
  const calls = [tool("list", items)];

  for (const [what, given, spans] of [
    ["arguments that are long lists", tests(4, reversed), calls],
    [
      "names of many spans",
      tests(5, ...texts(100).map(name => ({ type: "node_call", expected_name: name }))),
      Array.from({ length: 5_000 }, () => span()),
    ],
    [
      "attributes of many spans",
      tests(
        10,
        ...texts(100).map(value => ({
          type: "json_match",
          target_node: "step",
          field: "o",
          expected_value: value,
        })),
      ),
      Array.from({ length: 5_000 }, () => span({ attributes: { o: 1 } })),
    ],
    [
      "deep values",
      tests(30, {
        type: "json_match",
        target_node: "step",
        field: "o",
        expected_value: [...structuredClone(items), 1],
      }),
      Array.from({ length: 100 }, () => span({ attributes: { o: [...items, 2] } })),
    ],
  ] as const) {
    test(`${what} are compared until the budget is spent, and the rest is skipped`, () => {
      const status = { type: "http_status", expected_status: 200 };
      const http = span({
        span_id: "root",
        parent_span_id: null,
        attributes: { "http.response.status_code": 200 },
      });
      const checks = checksOf([...given, testCase({ assertions: [status] })], viewOf([http, ...spans]));
      const skipped = checks.filter(({ reasonCode }) => reasonCode === "run_budget_spent");
      const compared = checks.filter(({ outcome }) => outcome === "passed" || outcome === "failed");
      assert.equal(skipped.length + compared.length, checks.length);
      assert.ok(skipped.length > 0 && compared.length > 1, `${skipped.length} of ${checks.length}`);
      assert.deepEqual(
        new Set(skipped.map(check => [check.outcome, check.skipped].join())),
        new Set(["skipped,limit"]),
      );
      assert.equal(checks.at(-1)!.outcome, "passed");
    });
  }

  test("calls of one tool among many are found without comparing each with each", () => {
    // Every second of 60,000 calls matches: 30,000 times 60,000 comparisons took 2 s.
    const many = Array.from({ length: 60_000 }, (_, at) => tool("t", { odd: at % 2 === 1 }));
    const assertion = { type: "tool_call", expected_name: "t", expected_arguments: { odd: true }, max: 1 };
    const [check] = checksOf([testCase({ assertions: [assertion] })], viewOf([root(), ...many]));
    assert.deepEqual([check!.outcome, (check!.actual as { count: number }).count], ["failed", 30_000]);
  });

  test("a second round compares nothing again, and gives the same results", () => {
    const view = viewOf([root(), ...calls]);
    const given = tests(4, reversed);
    const first = checksOf(given, view);
    const left = view.budget.stepsLeft;
    assert.deepEqual(checksOf(given, view), first);
    assert.equal(view.budget.stepsLeft, left);
  });
});

suite("budget", () => {
  test("work that exceeds the rest is refused, and smaller work is not", () => {
    const budget = new RunBudget(10);
    budget.spend(8);
    assert.throws(() => budget.spend(3), BudgetSpent);
    budget.spend(2);
    assert.throws(() => budget.spend(1), BudgetSpent);
  });

  test("work that is charged by its time uses up the rest, once", () => {
    const budget = new RunBudget(1_000);
    const busy = () => {
      const until = performance.now() + 1;
      while (performance.now() < until);
      return "done";
    };
    assert.equal(budget.timed(busy), "done");
    assert.throws(() => budget.timed(busy), BudgetSpent);
  });
});

suite("more parsed values than a trace may keep", () => {
  const numbers = `[${Array(50_000).fill(7)}]`;
  const outcomesOf = (assertion: object, spans: Span[]) =>
    checksOf(
      [testCase({ assertions: [assertion, { ...assertion, negate: true }] })],
      viewOf(spans, 20_000_000),
    ).map(({ outcome }) => outcome);

  test("a value after them is compared", () => {
    const spans = Array.from({ length: 41 }, () => span({ attributes: { v: numbers } }));
    const last = span({ attributes: { v: '{"ok": true}' } });
    const match = { type: "json_match", target_node: "step", field: "v", expected_value: { ok: true } };
    assert.deepEqual(outcomesOf(match, [...spans, last]), ["passed", "failed"]);
  });

  test("the arguments of calls after them are compared", () => {
    const spans = Array.from({ length: 42 }, (_, k) => tool("list", `{"k":${k},"v":${numbers}}`));
    const listed = (k: number) => ({ type: "tool_call", expected_name: "list", expected_arguments: { k } });
    for (const k of [0, 41]) assert.deepEqual(outcomesOf(listed(k), spans), ["passed", "failed"]);
    assert.deepEqual(outcomesOf(listed(42), spans), ["failed", "passed"]);
  });
});
