// Inputs and repeats of a test case: what is stored, what is refused, and that live evaluation does not depend on them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../../../src/model/refusal.ts";
import { whyNotEligible } from "../../../src/model/test-case/eligibility.ts";
import { evaluatedDocumentOf, mergeTestCase, parseTestCase } from "../../../src/model/test-case/test-case.ts";

const minimal = {
  name: "Refunds",
  passiveBehavior: "always_run",
  turns: [{ input: "hello" }],
  assertions: [{ type: "response_time", max_ms: 1 }],
};
const rows = (count: number, input = "a") =>
  Array.from({ length: count }, (_, at) => ({ input: input + at }));

test("inputs and repeats are stored between turns and assertions, and absent if they are defaults", () => {
  const document = parseTestCase({ ...minimal, inputs: rows(2), repeats: 3 });
  assert.deepEqual([document.inputs, document.repeats], [rows(2), 3]);
  assert.deepEqual(Object.keys(document).slice(-4), ["turns", "inputs", "repeats", "assertions"]);
  for (const defaults of [{}, { inputs: [], repeats: 1 }]) {
    const plain = parseTestCase({ ...minimal, ...defaults });
    assert.equal("inputs" in plain || "repeats" in plain, false);
  }
  const removed = mergeTestCase(document, { inputs: [], repeats: 1 });
  assert.deepEqual(removed, parseTestCase(minimal));
  assert.deepEqual(mergeTestCase(document, { name: "Other" }).inputs, rows(2));
});

test("the traces that a test was drafted from are one id or a list, each once, and not part of what is evaluated", () => {
  const [one, other] = ["019ad000-0000-7000-8000-00000000000a", "019ad000-0000-7000-8000-00000000000b"];
  const sources = (draftedFrom: unknown) => parseTestCase({ ...minimal, draftedFrom }).draftedFrom;
  assert.deepEqual([one.toUpperCase(), [one, one], [one, other], []].map(sources), [
    one,
    one,
    [one, other],
    undefined,
  ]);
  for (const [draftedFrom, issue] of [
    [7, { path: "draftedFrom", message: "Must be a trace ID, or a list of them." }],
    ["yesterday's", { path: "draftedFrom", message: "Must be a UUID." }],
    [[one, "yesterday's"], { path: "draftedFrom[1]", message: "Must be a UUID." }],
  ] as const) {
    assert.throws(() => sources(draftedFrom), { issues: [issue] });
  }
  const drafted = parseTestCase({ ...minimal, draftedFrom: one });
  assert.deepEqual(evaluatedDocumentOf(drafted), parseTestCase(minimal));
  assert.deepEqual(mergeTestCase(drafted, { draftedFrom: [] }), parseTestCase(minimal));
});

const refused: [name: string, fields: object, paths: string[], message: RegExp][] = [
  [
    "inputs without a turn",
    { turns: [], status: "disabled", inputs: rows(1) },
    ["inputs"],
    /Inputs need exactly one turn\./,
  ],
  [
    "inputs with two turns",
    { turns: rows(2), inputs: rows(1) },
    ["inputs"],
    /Inputs need exactly one turn\./,
  ],
  ["an empty input", { inputs: [{ input: "" }] }, ["inputs[0].input"], /Must not be empty/],
  [
    "a field that inputs do not have",
    { inputs: [{ input: "a", expected: "b" }] },
    ["inputs[0].expected"],
    /Unknown field/,
  ],
  ["1,001 inputs", { inputs: rows(1_001) }, ["inputs"], /At most 1,000 inputs/],
  [
    "more than a million characters",
    { inputs: rows(11, "x".repeat(99_000)) },
    ["inputs"],
    /1,089,0\d\d characters together; the limit is 1,000,000/,
  ],
  [
    "more than 1,000 runs",
    { inputs: rows(300), repeats: 4 },
    ["repeats"],
    /300 inputs × 4 repeats are 1,200 runs/,
  ],
  ["0 repeats", { repeats: 0 }, ["repeats"], /whole number from 1 to 20/],
  ["21 repeats", { repeats: 21 }, ["repeats"], /whole number from 1 to 20/],
  ["half a repeat", { repeats: 1.5 }, ["repeats"], /whole number from 1 to 20/],
];
for (const [name, fields, paths, message] of refused) {
  test(`${name} is refused`, () => {
    assert.throws(
      () => parseTestCase({ ...minimal, ...fields }),
      (error: unknown) => {
        assert.ok(error instanceof Refusal);
        assert.deepEqual(
          error.issues?.map(({ path }) => path),
          paths,
        );
        assert.match(error.issues![0]!.message, message);
        return true;
      },
    );
  });
}

test("the limits themselves are accepted, and repeats go with several turns", () => {
  assert.equal(parseTestCase({ ...minimal, inputs: rows(1_000) }).inputs?.length, 1_000);
  assert.equal(parseTestCase({ ...minimal, inputs: rows(50), repeats: 20 }).repeats, 20);
  assert.equal(parseTestCase({ ...minimal, turns: rows(3), repeats: 20 }).repeats, 20);
});

test("a test with inputs and repeats stays eligible, and a result's copy has neither", () => {
  const document = parseTestCase({ ...minimal, inputs: rows(2), repeats: 3 });
  assert.equal(whyNotEligible(document), null);
  assert.deepEqual(evaluatedDocumentOf(document), parseTestCase(minimal));
});
