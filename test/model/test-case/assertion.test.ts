// Each type of assertion is stored as written, or refused with the path of the error.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { z } from "zod";
import type { Issue } from "../../../src/model/refusal.ts";
import { Refusal } from "../../../src/model/refusal.ts";
import { assertionInputSchema, assertionSchema } from "../../../src/model/test-case/assertion.ts";
import { parseTestCase } from "../../../src/model/test-case/test-case.ts";

const around = { name: "a test", passiveBehavior: "always_run", turns: [{ input: "hello" }] };

function parse(...assertions: unknown[]) {
  return parseTestCase({ ...around, assertions }).assertions;
}

function issuesOf(...assertions: unknown[]): Issue[] {
  try {
    parse(...assertions);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, "VALIDATION_ERROR");
    return error.issues ?? [];
  }
  return [];
}

const pathsOf = (...assertions: unknown[]) => issuesOf(...assertions).map(({ path }) => path);

const filled = { id: "a1", negate: false, depends_on: [] };

const accepted: [name: string, written: object, stored: object][] = [
  ["node_call", { type: "node_call", expected_name: "search" }, { min: 1 }],
  ["node_call with a range", { type: "node_call", expected_name: "search", min: 0, max: 0 }, {}],
  ["tool_call", { type: "tool_call", expected_name: "refund" }, { min: 1, arguments_mode: "partial" }],
  [
    "tool_call with operators",
    {
      type: "tool_call",
      expected_name: "refund",
      expected_arguments: {
        id: { $regex: "^A" },
        n: { $gt: 1, $lte: 5 },
        of: [{ $in: [1, null] }],
        no: { $exists: false },
      },
      arguments_mode: "exact",
      min: 2,
      max: 3,
    },
    {},
  ],
  [
    "tool_call expecting null",
    { type: "tool_call", expected_name: "x", expected_arguments: null },
    { min: 1, arguments_mode: "partial" },
  ],
  ["token_limit", { type: "token_limit", max_total: 10, max_input: 0, max_output: 5, max_reasoning: 1 }, {}],
  ["http_status, one", { type: "http_status", expected_status: 200 }, {}],
  ["http_status, several", { type: "http_status", expected_status: [200, 404] }, {}],
  ["http_status, a class", { type: "http_status", expected_status: "2xx" }, {}],
  ["response_time", { type: "response_time", max_ms: 1500.5 }, {}],
  [
    "response_regex",
    { type: "response_regex", pattern: "^refund \\d+", flags: "ims", target_node: "LLM" },
    {},
  ],
  ["response_regex as JavaScript writes it", { type: "response_regex", pattern: "(?<n>caf\\u00e9)/\\/" }, {}],
  [
    "semantic",
    { type: "semantic", criteria: "polite", reference: "Dear", threshold: "odd", target_node: "LLM" },
    {},
  ],
  ["semantic with a context", { type: "semantic", criteria: "polite", context: "conversation" }, {}],
  [
    "json_match expecting null",
    { type: "json_match", target_node: "a", field: "b.c", expected_value: null },
    {},
  ],
  ["json_schema", { type: "json_schema", target_node: "a", field: "b", schema: { type: "object" } }, {}],
  [
    "a description, negate and dependencies",
    { type: "response_time", max_ms: 1, description: "quick", negate: true },
    { negate: true },
  ],
];

suite("accepted assertions", () => {
  for (const [name, written, stored] of accepted) {
    test(`${name} is stored with its defaults`, () => {
      assert.deepEqual(parse(written), [{ ...filled, ...written, ...stored }]);
    });
  }

  test("depends_on accepts a single id instead of a list", () => {
    const [, second] = parse(
      { type: "response_time", max_ms: 1, id: "x" },
      { type: "response_time", max_ms: 1, depends_on: "x" },
    );
    assert.deepEqual(second?.depends_on, ["x"]);
  });
});

const refused: [name: string, written: object, path: string][] = [
  ["an unknown type", { type: "magic" }, ".type"],
  ["no type", { expected_name: "x" }, ".type"],
  ["an unknown field", { type: "response_time", max_ms: 1, maxMs: 1 }, ".maxMs"],
  ["another type's field", { type: "response_time", max_ms: 1, max_total: 1 }, ".max_total"],
  ["__proto__ as a field", JSON.parse('{"type":"response_time","max_ms":1,"__proto__":1}'), ".__proto__"],
  ["an empty name", { type: "node_call", expected_name: "" }, ".expected_name"],
  ["a missing name", { type: "tool_call" }, ".expected_name"],
  ["a fraction as min", { type: "node_call", expected_name: "x", min: 1.5 }, ".min"],
  ["a negative min", { type: "node_call", expected_name: "x", min: -1 }, ".min"],
  ["a max below min", { type: "node_call", expected_name: "x", max: 0 }, ".max"],
  ["null as max", { type: "tool_call", expected_name: "x", max: null }, ".max"],
  ["an unknown mode", { type: "tool_call", expected_name: "x", arguments_mode: "loose" }, ".arguments_mode"],
  [
    "an unknown operator",
    { type: "tool_call", expected_name: "x", expected_arguments: { a: { $like: 1 } } },
    ".expected_arguments.a.$like",
  ],
  [
    "an operator beside a field",
    { type: "tool_call", expected_name: "x", expected_arguments: { a: { $gt: 1, b: 1 } } },
    ".expected_arguments.a.b",
  ],
  [
    "a comparison with text",
    { type: "tool_call", expected_name: "x", expected_arguments: [{ $lt: "1" }] },
    ".expected_arguments[0].$lt",
  ],
  [
    "$in without a list",
    { type: "tool_call", expected_name: "x", expected_arguments: { "a b": { $in: 1 } } },
    '.expected_arguments["a b"].$in',
  ],
  [
    "$exists without a truth value",
    { type: "tool_call", expected_name: "x", expected_arguments: { $exists: 1 } },
    ".expected_arguments.$exists",
  ],
  [
    "$regex that does not compile",
    { type: "tool_call", expected_name: "x", expected_arguments: { $regex: "(" } },
    ".expected_arguments.$regex",
  ],
  ["a token_limit without a limit", { type: "token_limit" }, ""],
  ["a fraction of a token", { type: "token_limit", max_total: 0.5 }, ".max_total"],
  ["a status that does not exist", { type: "http_status", expected_status: 99 }, ".expected_status"],
  ["an empty list of statuses", { type: "http_status", expected_status: [] }, ".expected_status"],
  ["a class that does not exist", { type: "http_status", expected_status: "6xx" }, ".expected_status"],
  ["a negative time", { type: "response_time", max_ms: -1 }, ".max_ms"],
  ["a time as text", { type: "response_time", max_ms: "1" }, ".max_ms"],
  ["a pattern that does not compile", { type: "response_regex", pattern: "[a" }, ".pattern"],
  [
    "a pattern whose program would explode",
    { type: "response_regex", pattern: "((a{1000}){1000}){1000}" },
    ".pattern",
  ],
  ["an unknown flag", { type: "response_regex", pattern: "a", flags: "gi" }, ".flags"],
  ["a flag twice", { type: "response_regex", pattern: "a", flags: "ii" }, ".flags"],
  ["an empty criterion", { type: "semantic", criteria: "" }, ".criteria"],
  ["a criterion of whitespace", { type: "semantic", criteria: " \n\t\u00a0" }, ".criteria"],
  ["an invisible criterion", { type: "semantic", criteria: "\u200b" }, ".criteria"],
  ["a blank criterion among others", { type: "semantic", criteria: ["polite", "  "] }, ".criteria[1]"],
  ["an empty criterion among others", { type: "semantic", criteria: ["polite", ""] }, ".criteria[1]"],
  ["an unknown context", { type: "semantic", criteria: "polite", context: "tools" }, ".context"],
  [
    "a context of another type of assertion",
    { type: "response_time", max_ms: 1, context: "reply" },
    ".context",
  ],
  ["json_match without a value", { type: "json_match", target_node: "a", field: "b" }, ".expected_value"],
  ["json_match without a target", { type: "json_match", field: "b", expected_value: 1 }, ".target_node"],
  [
    "json_match with a huge value",
    { type: "json_match", target_node: "a", field: "b", expected_value: "x".repeat(70_000) },
    ".expected_value",
  ],
  ["json_schema without a schema", { type: "json_schema", target_node: "a", field: "b" }, ".schema"],
  [
    "a number that no double can hold",
    { type: "json_match", target_node: "a", field: "b", expected_value: { c: [1, Infinity] } },
    ".expected_value.c[1]",
  ],
  [
    "a limit that no double can hold",
    { type: "tool_call", expected_name: "a", expected_arguments: { n: { $lt: Infinity } } },
    ".expected_arguments.n.$lt",
  ],
  [
    "a schema with such a number",
    { type: "json_schema", target_node: "a", field: "b", schema: { const: -Infinity } },
    ".schema.const",
  ],
  ["a schema that is a list", { type: "json_schema", target_node: "a", field: "b", schema: [] }, ".schema"],
  ["an empty id", { type: "response_time", max_ms: 1, id: "" }, ".id"],
  ["negate as text", { type: "response_time", max_ms: 1, negate: "yes" }, ".negate"],
];

suite("refused assertions", () => {
  for (const [name, written, path] of refused) {
    test(`${name} is refused by its path`, () => {
      assert.deepEqual(pathsOf({ type: "response_time", max_ms: 1 }, written), [`assertions[1]${path}`]);
    });
  }

  for (const pattern of ["(?=a)", "(?!a)b", "(?<=a)b", "(?<!a)b"]) {
    test(`the refusal of ${pattern} names look-around as unsupported`, () => {
      assert.match(issuesOf({ type: "response_regex", pattern })[0]!.message, /Look-around is not supported/);
    });
  }

  for (const pattern of ["(a)\\1", "(?<x>a)\\k<x>"]) {
    test(`the refusal of ${pattern} names back-references as unsupported`, () => {
      assert.match(
        issuesOf({ type: "response_regex", pattern })[0]!.message,
        /Back-references are not supported/,
      );
    });
  }

  test("a refusal repeats no value that was sent", () => {
    const secret = "s3cret-value";
    const issues = issuesOf(
      { type: "node_call", expected_name: 1, min: secret },
      { type: "http_status", expected_status: secret },
      { type: secret },
    );
    assert.equal(issues.length, 4);
    assert.ok(!JSON.stringify(issues).includes(secret));
  });
});

const draft7 = "http://json-schema.org/draft-07/schema#";
const deep = (levels: number): object => (levels === 0 ? {} : { items: deep(levels - 1) });

const usableSchemas: [name: string, schema: unknown][] = [
  ["true", true],
  [
    "no $schema",
    { type: ["object", "null"], properties: { $id: { type: "string" }, id: {} }, required: ["id"] },
  ],
  ["limits beyond 2^53", { maximum: "9223372036854775807", enum: ["9007199254740992", "9007199254740993"] }],
  ["2020-12", { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{}], items: false }],
  ["draft 7", { $schema: draft7, items: [{}, {}], dependencies: { a: ["b"], c: { required: ["d"] } } }],
  [
    "references inside",
    {
      $id: "https://example.org/s",
      $ref: "https://example.org/s#/$defs/a%20b",
      $defs: { "a b": { $ref: "#x" }, c: { $anchor: "x" } },
    },
  ],
  ["a reference relative to its id", { $id: "https://example.org/s", $ref: "s#/$defs/a", $defs: { a: {} } }],
  ["a reference to an unknown keyword", { $ref: "#/components/a", components: { a: { type: "object" } } }],
  ["recursion", { properties: { next: { $ref: "#" } } }],
  [
    "annotations of any shape",
    { "x-note": [1], examples: [{ type: 5 }], default: { type: 5 }, const: { $ref: 5 } },
  ],
  ["64 levels", deep(63)],
  ["a draft named without its scheme or #", { $schema: "json-schema.org/draft-07/schema", type: "object" }],
];

const unusableSchemas: [name: string, schema: unknown, path: string][] = [
  ["a remote reference", { properties: { a: { $ref: "https://example.org/x.json" } } }, ".properties.a.$ref"],
  ["a relative reference", { $ref: "other.json#/a" }, ".$ref"],
  ["a reference that leads nowhere", { $ref: "#/$defs/a" }, ".$ref"],
  ["an anchor that is not there", { $ref: "#a" }, ".$ref"],
  ["a malformed reference", { $ref: "#%" }, ".$ref"],
  [
    "a reference to a value that is no schema",
    { $ref: "#/$defs", $defs: { a: { type: {} } }, required: ["a"] },
    ".$defs.a.type",
  ],
  [
    "a reference to a bad schema under an unknown keyword",
    { $ref: "#/x/a", x: { a: { type: [5] } } },
    ".x.a.type[0]",
  ],
  ["a reference to itself", { $ref: "#" }, ".$ref"],
  [
    "references in a circle",
    { anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { not: { $ref: "#" } } } },
    ".$defs.a.not.$ref",
  ],
  ["draft 4", { $schema: "http://json-schema.org/draft-04/schema#" }, ".$schema"],
  ["2019-09", { $schema: "https://json-schema.org/draft/2019-09/schema" }, ".$schema"],
  ["an unknown type", { type: "text" }, ".type"],
  ["an unknown type in a list of draft 7", { $schema: draft7, items: [{}, { type: 5 }] }, ".items[1].type"],
  ["the same name required twice", { required: ["a", "a"] }, ".required"],
  ["no type in a list", { type: [] }, ".type"],
  [
    "a bad keyword deep inside",
    { properties: { a: { items: { minimum: "1" } } } },
    ".properties.a.items.minimum",
  ],
  ["a negative length", { maxLength: -1 }, ".maxLength"],
  ["a list of items in 2020-12", { items: [{}] }, ".items"],
  ["an empty anyOf", { anyOf: [] }, ".anyOf"],
  ["a schema that is none in anyOf", { anyOf: [{}, 5] }, ".anyOf[1]"],
  ["a pattern that does not compile", { pattern: "(" }, ".pattern"],
  ["a property pattern that does not compile", { patternProperties: { "(": {} } }, '.patternProperties["("]'],
  ["a look-ahead", { items: { pattern: "^(?!x)" } }, ".items.pattern"],
  [
    "a back-reference in a property pattern",
    { patternProperties: { "(a)\\1": {} } },
    '.patternProperties["(a)\\\\1"]',
  ],
  ["an id below the top", { properties: { a: { $id: "x" } } }, ".properties.a.$id"],
  ["a dynamic reference", { $dynamicRef: "#a" }, ".$dynamicRef"],
  ["65 levels", deep(64), ""],
  ["more than 64 KB", { const: "x".repeat(65_536) }, ""],
];

suite("schemas", () => {
  for (const [name, schema] of usableSchemas) {
    test(`a schema with ${name} is accepted`, () => {
      assert.deepEqual(pathsOf({ type: "json_schema", target_node: "a", field: "b", schema }), []);
    });
  }

  for (const [name, schema, path] of unusableSchemas) {
    test(`a schema with ${name} is refused`, () => {
      const paths = pathsOf({ type: "json_schema", target_node: "a", field: "b", schema });
      assert.deepEqual(paths, [`assertions[0].schema${path}`]);
    });
  }

  test("a pattern that only backtracking engines have is refused with what to do", () => {
    const schema = { pattern: "(?<=a)b" };
    const [issue] = issuesOf({ type: "json_schema", target_node: "a", field: "b", schema });
    assert.match(issue!.message, /^Look-around is not supported: .* Write the check without it\.$/);
  });
});

test("both forms of an assertion can be described as JSON Schema", () => {
  for (const [schema, io] of [
    [assertionSchema, "output"],
    [assertionInputSchema, "input"],
  ] as const) {
    const described = z.toJSONSchema(schema, { io, target: "openapi-3.0" });
    assert.equal(described.oneOf?.length, 9);
  }
});
