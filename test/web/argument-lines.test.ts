// The table of a tool call's arguments says nothing of arguments that are not there or were not compared.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Check } from "../../src/model/run/run.ts";
import { comparedCalls } from "../../web/pages/trace/evaluation/arguments.ts";
import { checkOf, root, tool } from "../evaluate/makers.ts";

const expected = { percent: 30 };
const assertion = { type: "tool_call", expected_name: "discount", expected_arguments: expected };

function linesOf({ actual, evidence }: Check) {
  return comparedCalls(expected, actual as Parameters<typeof comparedCalls>[1], evidence).map(
    ({ lines }) => lines,
  );
}

suite("the arguments of tool calls", () => {
  test("of a call without arguments are not recorded, not null", () => {
    const check = checkOf(assertion, [root(), tool("discount")]);
    assert.deepEqual(linesOf(check), [[{ path: "", state: "unrecorded", expected }]]);
  });

  test("of one such call among others are told apart", () => {
    const calls = [tool("discount", { percent: 25 }), tool("discount")];
    const [first, second] = linesOf(checkOf(assertion, [root(), ...calls]));
    assert.deepEqual(first, [{ path: "percent", state: "different", expected: 30, actual: 25 }]);
    assert.deepEqual(second, [{ path: "", state: "unrecorded", expected }]);
  });

  for (const fields of [
    { min: 0, max: 0 },
    { min: 0, max: 1 },
  ]) {
    test(`that differ are not equal in a check that passes: at most ${fields.max}`, () => {
      const check = checkOf({ ...assertion, ...fields }, [root(), tool("discount", { percent: 25 })]);
      assert.equal(check.outcome, "passed");
      assert.deepEqual(linesOf(check), [[{ path: "percent", state: "different", expected: 30, actual: 25 }]]);
      // As it is stored once the content is forgotten.
      const { differences: _, ...actual } = check.actual as { differences: unknown };
      assert.deepEqual(linesOf({ ...check, actual }), []);
    });
  }

  test("of a literal are compared field by field, as any object's", () => {
    const literal = { filter: { $literal: { $gt: 5, $lt: 9 } } };
    const call = tool("discount", { filter: { $gt: 6, $lt: 9 } });
    const { actual, evidence } = checkOf({ ...assertion, expected_arguments: literal }, [root(), call]);
    const [compared] = comparedCalls(literal, actual as Parameters<typeof comparedCalls>[1], evidence);
    assert.deepEqual(compared!.lines, [
      { path: "filter.$gt", state: "different", expected: 5, actual: 6 },
      { path: "filter.$lt", state: "equal", expected: 9, actual: 9 },
    ]);
  });

  test("that match are equal", () => {
    const check = checkOf(assertion, [root(), tool("discount", { percent: 30 })]);
    assert.deepEqual(linesOf(check), [[{ path: "percent", state: "equal", expected: 30, actual: 30 }]]);
  });
});
