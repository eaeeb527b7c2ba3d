// Validating a whole test case: defaults, ids, dependencies, and what an active test needs.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { z } from "zod";
import { Refusal } from "../../../src/model/refusal.ts";
import { whyNotEligible } from "../../../src/model/test-case/eligibility.ts";
import {
  documentOf,
  mergeTestCase,
  parseTestCase,
  testCaseInputSchema,
} from "../../../src/model/test-case/test-case.ts";

const quick = { type: "response_time", max_ms: 1 };
const minimal = { name: "a test", scenario: "a refund", turns: [{ input: "hello" }], assertions: [quick] };

function refusalOf(action: () => unknown): Refusal {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error;
  }
  assert.fail("nothing was refused");
}

const pathsOf = (input: unknown) => refusalOf(() => parseTestCase(input)).issues?.map(({ path }) => path);
const waiting = (id: string, ...depends_on: string[]) => ({ ...quick, id, depends_on });

suite("defaults", () => {
  test("absent fields take their defaults", () => {
    assert.deepEqual(parseTestCase(minimal), {
      ...minimal,
      status: "active",
      passiveBehavior: "run_when_relevant",
      threshold: 0.7,
      assertions: [{ ...quick, id: "a1", negate: false, depends_on: [] }],
    });
  });

  test("a disabled test needs nothing but a name", () => {
    const document = parseTestCase({ name: "later", status: "disabled" });
    assert.deepEqual([document.scenario, document.turns, document.assertions], ["", [], []]);
  });

  for (const threshold of [null, "0.5", 7, -1, { a: [1] }, 0, 1]) {
    test(`the threshold ${JSON.stringify(threshold)} is stored unchanged`, () => {
      assert.deepEqual(parseTestCase({ ...minimal, threshold }).threshold, threshold);
    });
  }

  test("a validated test case validates to itself", () => {
    const document = parseTestCase({ ...minimal, assertions: [quick, waiting("x", "a1")] });
    assert.deepEqual(parseTestCase(JSON.parse(JSON.stringify(document))), document);
  });
});

suite("ids and dependencies", () => {
  test("generated ids avoid the given ones, in whatever order they come", () => {
    const { assertions } = parseTestCase({
      ...minimal,
      assertions: [quick, { ...quick, id: "a1" }, quick, { ...quick, id: "a3" }],
    });
    assert.deepEqual(
      assertions.map(({ id }) => id),
      ["a2", "a1", "a4", "a3"],
    );
  });

  test("depends_on can name a generated id", () => {
    const { assertions } = parseTestCase({
      ...minimal,
      assertions: [quick, { ...quick, depends_on: ["a1", "a1"] }],
    });
    assert.deepEqual(assertions[1]?.depends_on, ["a1"]);
  });

  test("a duplicate id is refused", () => {
    assert.deepEqual(pathsOf({ ...minimal, assertions: [waiting("x"), waiting("x")] }), ["assertions[1].id"]);
  });

  test("an unknown id in depends_on is refused", () => {
    assert.deepEqual(pathsOf({ ...minimal, assertions: [quick, waiting("x", "y")] }), [
      "assertions[1].depends_on",
    ]);
  });

  test("an assertion that depends on itself is refused", () => {
    assert.deepEqual(pathsOf({ ...minimal, assertions: [waiting("x", "x")] }), ["assertions[0].depends_on"]);
  });

  test("a cycle is refused at each assertion that can never be checked", () => {
    const assertions = [waiting("ok"), waiting("x", "z"), waiting("y", "x"), waiting("z", "y", "ok")];
    assert.deepEqual(
      pathsOf({ ...minimal, assertions }),
      [1, 2, 3].map(at => `assertions[${at}].depends_on`),
    );
  });

  test("a dependency chain in any order is accepted", () => {
    const assertions = [waiting("z", "y"), waiting("y", "x"), waiting("x")];
    assert.equal(parseTestCase({ ...minimal, assertions }).assertions.length, 3);
  });
});

suite("refusals", () => {
  const refused: [name: string, input: unknown, paths: string[]][] = [
    ["null", null, [""]],
    ["a list", [], [""]],
    ["an unknown field", { ...minimal, colour: "red" }, ["colour"]],
    ["an unknown field in a turn", { ...minimal, turns: [{ input: "a", role: "user" }] }, ["turns[0].role"]],
    ["a blank name", { ...minimal, name: " " }, ["name"]],
    ["U+0000 in the name", { ...minimal, name: "a\0" }, ["name"]],
    ["a missing name", { ...minimal, name: undefined }, ["name"]],
    ["an unknown status", { ...minimal, status: "paused" }, ["status"]],
    ["an unknown behaviour", { ...minimal, passiveBehavior: "sometimes" }, ["passiveBehavior"]],
    ["an active test without assertions", { ...minimal, assertions: [] }, ["assertions"]],
    ["an active test without turns", { ...minimal, turns: [] }, ["turns"]],
    ["a run-when-relevant test without a scenario", { ...minimal, scenario: " " }, ["scenario"]],
    [
      "everything at once",
      { ...minimal, name: 5, turns: "a", assertions: [{ type: "x" }] },
      ["name", "turns", "assertions[0].type"],
    ],
  ];
  for (const [name, input, paths] of refused) {
    test(`${name} is refused`, () => assert.deepEqual(pathsOf(input), paths));
  }

  test("an always-run test needs no scenario", () => {
    assert.equal(parseTestCase({ ...minimal, scenario: "", passiveBehavior: "always_run" }).scenario, "");
  });

  test("nesting beyond 200 levels is refused, however deep it goes", () => {
    const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    assert.equal(parseTestCase({ ...minimal, threshold: nested(199) }).name, "a test");
    for (const levels of [200, 100_000])
      assert.deepEqual(pathsOf({ ...minimal, threshold: nested(levels) }), [""]);
  });

  test("a pattern that does not compile is reported also when another field is invalid", () => {
    const assertions = [
      { type: "response_regex", pattern: "(?=x)", depends_on: "b" },
      { type: "nothing" },
      { type: "json_schema", target_node: "", field: "x", schema: { type: "objekt" } },
    ];
    assert.deepEqual(pathsOf({ name: "", assertions }), [
      "name",
      "assertions[1].type",
      "assertions[2].target_node",
      "assertions[0].pattern",
      "assertions[2].schema.type",
      "assertions[0].depends_on",
      "turns",
      "scenario",
    ]);
  });

  test("every issue is reported at once, not those of shape first", () => {
    const blank = { name: "", turns: [{ input: "" }], assertions: [] };
    assert.deepEqual(pathsOf(blank), ["name", "turns[0].input", "assertions", "scenario"]);
    const assertions = [
      { ...waiting("x", "y"), turn: 3 },
      { id: "y", type: "nothing", depends_on: "x" },
      { id: "z", type: "tool_call", expected_name: "", depends_on: ["gone", "z"], min: 2, max: 1 },
      { ...quick, id: "" },
    ];
    assert.deepEqual(pathsOf({ ...minimal, assertions, inputs: [{ input: "" }], repeats: 2, turns: [] }), [
      "inputs[0].input",
      "assertions[1].type",
      "assertions[2].expected_name",
      "assertions[3].id",
      "assertions[2].max",
      "assertions[2].depends_on",
      "assertions[0].depends_on",
      "assertions[1].depends_on",
      "assertions[2].depends_on",
      "assertions[0].turn",
      "inputs",
      "turns",
    ]);
  });

  test("an invalid field brings no issue of another field that is fine", () => {
    for (const invalid of [
      { status: "paused" },
      { passiveBehavior: "often" },
      { turns: "a" },
      { inputs: 1 },
    ]) {
      assert.deepEqual(pathsOf({ ...minimal, ...invalid }), Object.keys(invalid));
    }
    assert.deepEqual(pathsOf({ ...minimal, scenario: "", status: "paused" }), ["status"]);
    assert.deepEqual(pathsOf({ ...minimal, assertions: {} }), ["assertions"]);
  });

  test("at most twenty issues are listed", () => {
    assert.equal(pathsOf({ ...minimal, assertions: Array.from({ length: 50 }, () => ({})) })?.length, 20);
  });

  test("any input is accepted or refused, and never crashes validation", () => {
    const assertion = fc.record(
      {
        type: fc.constantFrom("semantic", "tool_call", "json_schema"),
        schema: fc.jsonValue(),
        expected_arguments: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const input = fc.oneof(
      fc.jsonValue(),
      fc.record({
        name: fc.jsonValue(),
        threshold: fc.jsonValue(),
        assertions: fc.array(fc.oneof(assertion, fc.jsonValue())),
      }),
    );
    fc.assert(
      fc.property(input, value => {
        try {
          parseTestCase(value);
        } catch (error) {
          assert.ok(error instanceof Refusal && (error.issues?.length ?? 0) > 0);
        }
      }),
    );
  });
});

test("issues name limits and options in plain words", () => {
  const assertions = [
    { type: "node_call", expected_name: "x".repeat(501), min: -1, max: 1.5 },
    { type: "tool_call", expected_name: "refund", arguments_mode: "some" },
  ];
  assert.deepEqual(
    refusalOf(() => parseTestCase({ ...minimal, passiveBehavior: "often", assertions })).issues,
    [
      {
        path: "passiveBehavior",
        message: 'Expected one of "always_run", "run_when_relevant", "manual_only".',
      },
      { path: "assertions[0].expected_name", message: "Must have at most 500 characters." },
      { path: "assertions[0].min", message: "Must be at least 0." },
      { path: "assertions[0].max", message: "Expected a whole number." },
      { path: "assertions[1].arguments_mode", message: 'Expected one of "partial", "exact".' },
    ],
  );
});

suite("changes", () => {
  const current = { ...parseTestCase(minimal), id: "t1", agentId: "g1" };

  test("a change touches only the fields it names", () => {
    const changed = mergeTestCase(current, { name: "renamed", threshold: null });
    assert.deepEqual(changed, { ...documentOf(current), name: "renamed", threshold: null });
  });

  test("a change is validated together with the unchanged fields", () => {
    assert.deepEqual(
      refusalOf(() => mergeTestCase(current, { assertions: [] })).issues?.map(({ path }) => path),
      ["assertions"],
    );
    assert.deepEqual(mergeTestCase(current, { assertions: [], status: "disabled" }).assertions, []);
  });

  for (const patch of [null, [], "x", { id: "other" }, JSON.parse('{"__proto__":{}}')]) {
    test(`${JSON.stringify(patch)} is not a valid change`, () => {
      assert.equal(refusalOf(() => mergeTestCase(current, patch)).code, "VALIDATION_ERROR");
    });
  }
});

suite("eligibility", () => {
  const of = (fields: object) => parseTestCase({ ...minimal, ...fields });
  const turns = [{ input: "a" }, { input: "b" }];
  const cases: [fields: object, why: ReturnType<typeof whyNotEligible>][] = [
    [{}, null],
    [{ passiveBehavior: "always_run" }, null],
    [{ passiveBehavior: "manual_only" }, "manual_only"],
    [{ turns }, "multi_turn"],
    [{ turns, passiveBehavior: "manual_only" }, "manual_only"],
    [{ status: "disabled", turns, passiveBehavior: "manual_only" }, "disabled"],
  ];
  for (const [fields, why] of cases) {
    test(`${JSON.stringify(fields)} is ${why ?? "eligible"}`, () => {
      assert.equal(whyNotEligible(of(fields)), why);
    });
  }
});

test("the request body can be described as JSON Schema, and requires only a name", () => {
  const written = z.toJSONSchema(testCaseInputSchema, { io: "input", target: "openapi-3.0" });
  assert.deepEqual(written.required, ["name"]);
});
