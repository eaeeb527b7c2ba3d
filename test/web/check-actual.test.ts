// What a check found is told apart from values of the trace that have the same keys.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Check } from "../../src/model/run/run.ts";
import { searchedOf, validatedOf } from "../../web/pages/trace/evaluation/actual.ts";
import { checkOf, root, span } from "../evaluate/makers.ts";

const value = { searched: ["a shop", "a warehouse"], faults: ["scratched"], value: 3 };
const spans = [root(), span({ name: "look up", attributes: { output: value } })];
const target = { target_node: "look up", field: "output" };
const names = ["conversation", "look up"];

suite("what a check found", () => {
  for (const negate of [false, true]) {
    test(`a value with a list “searched” is no search${negate ? ", negated" : ""}`, () => {
      for (const expected_value of [value, 1]) {
        const check = checkOf({ type: "json_match", ...target, expected_value, negate }, spans);
        assert.deepEqual(check.actual, value);
        assert.equal(searchedOf(check), null);
      }
    });

    test(`a search shows the names${negate ? ", negated" : ""}`, () => {
      const missed = { target_node: "ship", negate };
      for (const fields of [
        { type: "json_match", field: "output", expected_value: 1 },
        { type: "json_schema", field: "output", schema: {} },
        { type: "response_regex", pattern: "a" },
        { type: "semantic", criteria: "Is warm." },
      ]) {
        const check = checkOf({ ...fields, ...missed }, spans);
        assert.deepEqual(searchedOf(check), names);
        assert.deepEqual(validatedOf(check, negate).faults, []);
      }
    });

    test(`a valid value with a list “faults” has no errors${negate ? ", negated" : ""}`, () => {
      const outcome = negate ? "failed" : "passed";
      const evidence = [{ spanId: "s1", attribute: "output", value }];
      const check = { type: "json_schema", outcome, reasonCode: "schema_valid", actual: value, evidence };
      assert.deepEqual(validatedOf(check as unknown as Check, negate), { value, faults: [] });
      assert.equal(searchedOf(check as unknown as Check), null);
    });

    test(`an invalid value is shown with its errors alone${negate ? ", negated" : ""}`, () => {
      const outcome = negate ? "passed" : "failed";
      const evidence = [{ spanId: "s1", attribute: "output", value }];
      const actual = { value, faults: ["not a text"] };
      const check = { type: "json_schema", outcome, reasonCode: "schema_invalid", actual, evidence };
      assert.deepEqual(validatedOf(check as unknown as Check, negate), actual);
    });
  }
});
