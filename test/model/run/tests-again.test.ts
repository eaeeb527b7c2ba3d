// Which tests, in which versions, evaluate a trace again.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Applicability, Result } from "../../../src/model/run/run.ts";
import { testsAgain } from "../../../src/model/run/tests-again.ts";
import type { TestCase } from "../../../src/model/test-case/document.ts";
import { parseTestCase } from "../../../src/model/test-case/test-case.ts";

const agentId = "agent";
const document = (name: string) =>
  parseTestCase({
    name,
    passiveBehavior: "always_run",
    turns: [{ input: "Hello" }],
    assertions: [{ type: "response_regex", pattern: "." }],
  });
const now = (id: string, version = 3): TestCase => ({ id, agentId, version, ...document(`${id} now`) });
const resultOf = (testId: string, testVersion: number | null = 1): Result => ({
  testId,
  name: testId,
  outcome: "passed",
  score: 1,
  counts: { passed: 1, failed: 0, skipped: 0, missing_instrumentation: 0 },
  checks: [],
  fullyEvaluated: true,
  test: document(`${testId} then`),
  testVersion,
  reason: "",
  reasonCode: "checks_counted",
});
const applicability = (testId: string, why: Applicability["why"]): Applicability => ({
  testId,
  name: testId,
  applied: why === "always_run",
  why,
});
const currently = (...tests: TestCase[]) => new Map(tests.map(one => [one.id, one]));
const shown = (tests: TestCase[]) => tests.map(({ id, name, version }) => [id, name, version]);

test("results are evaluated again by their test as it was then", () => {
  const last = {
    agentId,
    results: [resultOf("a"), resultOf("b")],
    tests: [applicability("a", "always_run")],
  };
  const { used, tests } = testsAgain(last, currently(now("a"), now("b"), now("c")));
  assert.equal(used, 2);
  assert.deepEqual(shown(tests), [
    ["a", "a then", 1],
    ["b", "b then", 1],
  ]);
  assert.equal(tests[0]!.agentId, agentId);
});

test("tests left out because there was no input or no judge count as used; others that did not run do not", () => {
  const whys = [
    "no_user_input",
    "routing_unavailable",
    "disabled",
    "manual_only",
    "multi_turn",
    "scenario_no_match",
  ] as const;
  const last = { agentId, results: [], tests: whys.map(why => applicability(why, why)) };
  const { used, tests } = testsAgain(last, currently(...whys.map(why => now(why))));
  assert.equal(used, 2);
  assert.deepEqual(shown(tests), [
    ["no_user_input", "no_user_input now", 3],
    ["routing_unavailable", "routing_unavailable now", 3],
  ]);
});

test("deleted tests count as used and are left out", () => {
  const last = { agentId, results: [resultOf("a"), resultOf("gone")], tests: [] };
  assert.deepEqual(shown(testsAgain(last, currently(now("a"))).tests), [["a", "a then", 1]]);
  assert.deepEqual(testsAgain(last, currently()), { used: 2, tests: [] });
});

test("the tests kept for a run whose judge was unavailable are taken as they are, deleted ones too", () => {
  const plan = [{ ...now("a", 2), name: "a kept" }];
  const last = {
    agentId,
    results: [resultOf("a")],
    tests: [applicability("b", "routing_unavailable")],
    plan,
  };
  for (const current of [currently(now("a"), now("b")), currently()]) {
    const { used, tests } = testsAgain(last, current);
    assert.equal(used, 1);
    assert.deepEqual(shown(tests), [["a", "a kept", 2]]);
  }
});
