// Warnings name what can be saved but will not work as intended, at the path of the field.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Refusal } from "../../../src/model/refusal.ts";
import { parseDraft, parseTestCase } from "../../../src/model/test-case/test-case.ts";
import { testCaseWarnings } from "../../../src/model/test-case/warnings.ts";

const sound = {
  name: "Answers",
  scenario: "Somebody asks where a parcel is.",
  turns: [{ input: "Where is it?" }],
  assertions: [
    { type: "response_regex", pattern: "Lyon" },
    { type: "semantic", criteria: ["Says where.", "Names salt and pepper."], threshold: 0.4 },
    { type: "semantic", criteria: "Does not promise a date, e.g. one of the coming week." },
    { type: "semantic", criteria: "Promises a date.", negate: true },
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
  [
    "a threshold that nobody can miss",
    { threshold: 0, assertions: [{ type: "semantic", criteria: "Is kind." }] },
    ["threshold"],
  ],
  [
    "a test's threshold of 0 that no check goes by",
    { threshold: 0, assertions: [{ type: "semantic", criteria: "Is kind.", threshold: 0.5 }] },
    [],
  ],
  [
    "an assertion's own threshold of 0",
    { assertions: [{ type: "semantic", criteria: "Is kind.", threshold: 0 }] },
    ["assertions[0].threshold"],
  ],
  [
    "a criterion of two sentences",
    { assertions: [{ type: "semantic", criteria: "Names the day. Says who brings it." }] },
    ["assertions[0].criteria"],
  ],
  [
    "criteria that each ask for two things",
    {
      assertions: [
        {
          type: "semantic",
          criteria: [
            "Names the day.",
            "Says how it is paid and when it arrives.",
            "Is kind and asks for the number.",
          ],
        },
      ],
    },
    ["assertions[0].criteria[1]", "assertions[0].criteria[2]"],
  ],
  [
    "a negation that is negated",
    { assertions: [{ type: "semantic", criteria: "Doesn't promise a date.", negate: true }] },
    ["assertions[0].criteria"],
  ],
  [
    "several criteria that must not be met",
    { assertions: [{ type: "semantic", criteria: ["Promises a date.", "Names a price."], negate: true }] },
    ["assertions[0].criteria"],
  ],
  [
    "a criterion that is there twice",
    { assertions: [{ type: "semantic", criteria: ["Names the day.", "Is kind.", "names the day. "] }] },
    ["assertions[0].criteria[2]"],
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

test("a draft may lack only what an active test needs", () => {
  assert.equal(parseDraft({ name: "Begun" }).status, "active");
  assert.throws(() => parseTestCase({ name: "Begun" }), { code: "VALIDATION_ERROR" });
  assert.throws(() => parseDraft({ name: "Begun", assertions: [{ type: "magic" }] }), {
    code: "VALIDATION_ERROR",
  });
});

test("an error in a list is reported at its entry, and a value that is no list as a whole", () => {
  const issuesOf = (criteria: unknown) => {
    try {
      parseDraft({ name: "Begun", assertions: [{ type: "semantic", criteria }] });
    } catch (error) {
      return (error as Refusal).issues;
    }
    return assert.fail("It was taken.");
  };
  const path = "assertions[0].criteria";
  assert.deepEqual(issuesOf(["Is kind.", ""]), [{ path: `${path}[1]`, message: "Must not be empty." }]);
  const expected = "Expected a text, or a list of 1 to 6 texts of at most 2,000 characters.";
  for (const criteria of [7, {}, []]) assert.deepEqual(issuesOf(criteria), [{ path, message: expected }]);
  assert.deepEqual(issuesOf(Array(7).fill("Is kind.")), [{ path, message: expected }]);
  assert.deepEqual(issuesOf(""), [{ path, message: "Must not be empty." }]);
});
