// Warnings tell what can be saved and will not do what was meant, at the path of the field that is to blame.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDraft, parseTestCase } from "../../src/model/test-case.ts";
import { testCaseWarnings } from "../../src/model/test-case-warnings.ts";

const sound = {
  name: "Answers",
  scenario: "Somebody asks where a parcel is.",
  turns: [{ input: "Where is it?" }],
  assertions: [
    { type: "response_regex", pattern: "Lyon" },
    { type: "semantic", criteria: "Says where.", threshold: 0 },
    { type: "tool_call", expected_name: "refund", min: 0, max: 0 },
  ],
};

const pathsOf = (fields: object) =>
  testCaseWarnings(parseTestCase({ ...sound, ...fields })).map(({ path }) => path);

test("a sound test case has no warnings", () => {
  assert.deepEqual(pathsOf({}), []);
});

for (const [what, fields, paths] of [
  ["a threshold above 1", { threshold: 70 }, ["threshold"]],
  ["a threshold that is text", { threshold: "high" }, ["threshold"]],
  [
    "an assertion's own threshold below 0",
    { assertions: [{ type: "semantic", criteria: "Is kind.", threshold: -1 }] },
    ["assertions[0].threshold"],
  ],
  ["several turns", { turns: [{ input: "a" }, { input: "b" }] }, ["turns"]],
  [
    "several turns, run by hand",
    { turns: [{ input: "a" }, { input: "b" }], passiveBehavior: "manual_only" },
    [],
  ],
  [
    "a pattern that the empty text holds",
    { assertions: [{ type: "response_regex", pattern: "(refund)?" }] },
    ["assertions[0].pattern"],
  ],
  [
    "a count that any number fits",
    {
      assertions: [
        { type: "node_call", expected_name: "plan", min: 0 },
        { type: "tool_call", expected_name: "refund", min: 0, negate: true },
      ],
    },
    ["assertions[0].min", "assertions[1].min"],
  ],
  [
    "what a disabled test lacks",
    { status: "disabled", assertions: [], turns: [], scenario: "" },
    ["assertions", "turns", "scenario"],
  ],
] as const) {
  test(`${what}: ${paths.length === 0 ? "no warning" : paths.join(", ")}`, () => {
    assert.deepEqual(pathsOf(fields), paths);
  });
}

test("a draft may lack what an active test needs, and nothing else", () => {
  assert.equal(parseDraft({ name: "Begun" }).status, "active");
  assert.throws(() => parseTestCase({ name: "Begun" }), { code: "VALIDATION_ERROR" });
  assert.throws(() => parseDraft({ name: "Begun", assertions: [{ type: "magic" }] }), {
    code: "VALIDATION_ERROR",
  });
});
