// What the editor says the judge found that criteria are shown by.
import assert from "node:assert/strict";
import { test } from "node:test";
import { criteriaLeftToJudge } from "../../web/pages/test/document.ts";
import { automaticChoice } from "../../web/rests-on.ts";

const known = new Map([
  ["Names the day.", "passage"],
  ["Names the carrier.", "passage"],
  ["Promises nothing.", "absence"],
  ["Is kind.", null],
] as const);

test("the automatic choice names what the judge found, criterion by criterion where it differs", () => {
  for (const [criteria, option, details] of [
    ["Names the day.", "Judge: one passage", null],
    [["Names the day.", "Names the carrier."], "Judge: one passage", null],
    ["Is kind.", "Judge: not sure", null],
    ["Never asked about.", "Let the judge decide", null],
    [undefined, "Let the judge decide", null],
    [
      ["Names the day.", "Promises nothing.", "Is new."],
      "Let the judge decide",
      "The judge found criterion 1: one passage; criterion 2: something that is absent; criterion 3: not asked yet.",
    ],
  ] as const) {
    assert.deepEqual(automaticChoice(criteria, known), { option, details });
  }
});

test("only the texts of semantic criteria are looked up, each once", () => {
  const assertions = [
    { type: "semantic", criteria: ["Names the day.", "", 7] },
    { type: "semantic", criteria: "Names the day." },
    { type: "response_regex", criteria: "Not a criterion." },
    "not an assertion",
  ];
  assert.deepEqual(criteriaLeftToJudge({ assertions }), ["Names the day."]);
});
