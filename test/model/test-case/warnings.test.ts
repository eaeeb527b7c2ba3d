// Warnings name what can be saved but will not work as intended, at the path of the field.
import assert from "node:assert/strict";
import { test } from "node:test";
import { format } from "@cfworker/json-schema";
import type { Refusal } from "../../../src/model/refusal.ts";
import { formats } from "../../../src/model/test-case/schema-warnings.ts";
import { wrapperNotices } from "../../../src/model/test-case/schema-wrapper.ts";
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

const schemaOf = (schema: object) => ({ type: "json_schema", target_node: "a", field: "b", schema });

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
    "how many spans must match, where none are named",
    { assertions: [{ type: "response_regex", pattern: "a", match: "all" }] },
    ["assertions[0].match"],
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
    [],
  ],
  [
    "escapes of ASCII beside other letters, in patterns, arguments and schemas",
    {
      assertions: [
        { type: "response_regex", pattern: "\\bgrün\\b" },
        { type: "response_regex", pattern: "\\w+ \\u0431" },
        { type: "response_regex", pattern: "[а-я]+\\d" },
        { type: "response_regex", pattern: "\\b\\p{Cyrillic}+" },
        { type: "tool_call", expected_name: "a", expected_arguments: { b: [{ $regex: "\\Wé" }] } },
        schemaOf({ properties: { a: { pattern: "^٣\\d$" } } }),
      ],
    },
    [
      "assertions[0].pattern",
      "assertions[1].pattern",
      "assertions[2].pattern",
      "assertions[3].pattern",
      "assertions[4].expected_arguments.b[0].$regex",
      "assertions[5].schema.properties.a.pattern",
    ],
  ],
  [
    "the same escapes where no other letter is, and other letters without them",
    {
      assertions: [
        { type: "response_regex", pattern: "\\b\\w+\\d €→" },
        { type: "response_regex", pattern: "[\\w\\p{L}]+ grün\\s" },
        { type: "response_regex", pattern: "\\p{Lu}\\p{L}+ \\d" },
        { type: "tool_call", expected_name: "a", expected_arguments: { $literal: { $regex: "\\wé" } } },
      ],
    },
    [],
  ],
  [
    "keywords and formats that a schema does not know",
    {
      assertions: [
        schemaOf({
          $schema: "http://json-schema.org/draft-07/schema#",
          requird: ["id"],
          nullable: true,
          "x-order": 1,
          properties: { requird: { minLenght: 1, format: "date-time" }, at: { format: "datetime" } },
          items: { prefixItems: [{}] },
          enum: [{ requird: 1 }],
        }),
        schemaOf({
          $defs: { id: { format: "int64", examples: [1] } },
          items: { prefixItems: [{}] },
          title: "T",
        }),
      ],
    },
    [
      "assertions[0].schema.requird",
      "assertions[0].schema.nullable",
      "assertions[0].schema.properties.requird.minLenght",
      "assertions[0].schema.properties.at.format",
      "assertions[0].schema.items.prefixItems",
      "assertions[1].schema.$defs.id.format",
    ],
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
    "what is missing in a disabled test",
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

test("a warning says what to write instead", () => {
  const messagesOf = (assertion: object) =>
    testCaseWarnings(parseTestCase({ ...sound, assertions: [assertion] })).map(({ message }) => message);
  assert.deepEqual(messagesOf({ type: "response_regex", pattern: "\\bgrün" }), [
    "\\b knows only ASCII letters and digits, not “ü”. \\p{L} is any letter, \\p{N} any digit. Instead of \\b, write (?:^|[^\\p{L}\\p{N}]) before a word and (?:$|[^\\p{L}\\p{N}]) after it.",
  ]);
  assert.deepEqual(messagesOf({ type: "response_regex", pattern: "٣\\d" }), [
    "\\d knows only the digits 0 to 9. \\p{N} is a digit of any script, \\P{N} anything else.",
  ]);
  assert.deepEqual(messagesOf(schemaOf({ requird: [], min: 1, format: "e-mail", whatever: 2 })), [
    "Unknown keyword: it has no effect. Did you mean “required”?",
    "Unknown keyword: it has no effect. Did you mean “minimum”?",
    "“e-mail” is not a format that is checked, so any value has it. Did you mean “email”?",
    "Unknown keyword: it has no effect.",
  ]);
});

test("a format is checked, or warned of", () => {
  // Of no draft, and not checked.
  const { url: _, ...checked } = format;
  assert.deepEqual(formats, new Set(Object.keys(checked)));
});

const inner = { type: "object", required: ["id"] };
for (const wrapped of [
  { name: "order", strict: true, schema: inner },
  { type: "json_schema", json_schema: { name: "order", strict: true, schema: inner } },
  { response_format: { type: "json_schema", json_schema: { name: "order", schema: inner } } },
  { text: { format: { type: "json_schema", name: "order", strict: true, schema: inner } } },
  { type: "function", function: { name: "order", description: "An order", parameters: inner } },
  { name: "order", input_schema: inner },
]) {
  test(`a schema is taken out of ${Object.keys(wrapped).join(", ")}, with a notice`, () => {
    const written = { ...sound, assertions: [schemaOf(wrapped)] };
    const [assertion] = parseTestCase(written).assertions;
    assert.deepEqual((assertion as { schema?: unknown }).schema, inner);
    assert.deepEqual(
      wrapperNotices(written).map(({ path }) => path),
      ["assertions[0].schema"],
    );
  });
}

test("a schema with properties of such names stays as it is", () => {
  for (const schema of [
    true,
    { title: "schema" },
    { type: "object", properties: { schema: inner } },
    { name: "a", schema: "b" },
  ]) {
    const written = { ...sound, assertions: [{ ...schemaOf({}), schema }] };
    assert.deepEqual((parseTestCase(written).assertions[0] as { schema?: unknown }).schema, schema);
    assert.deepEqual(wrapperNotices(written), []);
  }
});
