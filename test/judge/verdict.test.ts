// What counts of the judge's verdicts on a criterion: quotations, and replies in parts.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  classedVerdictOf,
  isOpenWithoutClass,
  needsClass,
  verdictOf,
  writtenClass,
} from "../../src/judge/verdict.ts";
import {
  type GivenVerdict,
  type RestsOn,
  unknownClass,
  type VerdictWord,
} from "../../src/model/judge/call.ts";

const given = (verdict: VerdictWord, quotation: GivenVerdict["quotation"] = "found"): GivenVerdict => ({
  verdict,
  quotation,
  evidence: quotation === "empty" ? "" : "A passage.",
  reason: `It is ${verdict}.`,
  comparedWith: "",
  comparison: "empty",
  evidenceHint: null,
  comparisonHint: null,
});

suite("a verdict and its quotation", () => {
  const notFound = "The passage that the judge quoted is not in the agent's own words or tool calls.";
  const missing = "The judge quoted no passage of the reply.";
  const trivial = "The passage that the judge quoted has no word that says anything.";
  for (const [word, quotation, restsOn, expected] of [
    ["met", "found", null, "met"],
    ["met", "invented", "absence", notFound],
    ["mostly", "invented", "passage", notFound],
    ["met", "elsewhere", "absence", notFound],
    ["met", "empty", "absence", "met"],
    ["mostly", "empty", "absence", "mostly"],
    ["met", "trivial", "absence", "met"],
    ["met", "empty", "passage", missing],
    ["met", "empty", "whole", missing],
    ["met", "empty", null, missing],
    ["mostly", "trivial", "passage", trivial],
    ["partly", "empty", "passage", "partly"],
    ["not_met", "empty", "passage", "not_met"],
    ["not_met", "elsewhere", "passage", "not_met"],
    ["not_met", "invented", "passage", notFound],
    ["partly", "invented", null, notFound],
    ["not_applicable", "empty", null, "not_applicable"],
    ["not_applicable", "elsewhere", null, "not_applicable"],
    ["cannot_tell", "empty", null, "cannot_tell"],
  ] as [VerdictWord, GivenVerdict["quotation"], RestsOn | null, string][]) {
    test(`${word}, ${quotation}, resting on ${restsOn ?? "nobody knows what"}: ${expected}`, () => {
      const { verdict, reason } = verdictOf([given(word, quotation)], restsOn);
      assert.equal(verdict === "cannot_tell" && word !== verdict ? reason : verdict, expected);
    });
  }
});

suite("a verdict on a reply that was redacted", () => {
  const why =
    'The privacy rule "email" redacted a part of what this check looks at, which could have changed its outcome.';
  for (const [word, quotation, restsOn, expected] of [
    ["met", "found", null, "met"],
    ["not_met", "found", "absence", "not_met"],
    ["met", "empty", "absence", why],
    ["not_met", "empty", "passage", why],
    ["not_met", "elsewhere", "passage", "not_met"],
    ["partly", "trivial", null, why],
    ["not_applicable", "empty", null, "not_applicable"],
    ["cannot_tell", "empty", null, "cannot_tell"],
  ] as [VerdictWord, GivenVerdict["quotation"], RestsOn | null, string][]) {
    test(`${word}, ${quotation}, resting on ${restsOn ?? "nobody knows what"}: ${expected}`, () => {
      const options = { quotesOf: () => [], redacted: ["email"] };
      const { verdict, reason, redacted } = verdictOf([given(word, quotation)], restsOn, options);
      assert.equal(redacted ? reason : verdict, expected);
      assert.equal(redacted !== undefined, expected === why);
    });
  }
});

suite("a verdict and what the judge compared the reply with", () => {
  const invented = "The passage that the judge compared the reply with is not in what it was shown.";
  for (const [word, comparison, expected] of [
    ["met", "found", "met"],
    ["met", "trivial", "met"],
    ["met", "invented", invented],
    ["not_met", "invented", invented],
    ["not_applicable", "invented", invented],
  ] as [VerdictWord, GivenVerdict["comparison"], string][]) {
    test(`${word}, ${comparison}: ${expected}`, () => {
      const { verdict, reason } = verdictOf([{ ...given(word), comparison }], "absence");
      assert.equal(verdict === "cannot_tell" ? reason : verdict, expected);
    });
  }
});

suite("a reply in parts", () => {
  for (const [words, passage, others] of [
    [["not_met", "met", "not_met"], "met", "not_met"],
    [["met", "met", "met"], "met", "met"],
    [["met", "mostly"], "met", "mostly"],
    [["partly", "mostly"], "mostly", "partly"],
    [["not_met", "cannot_tell"], "cannot_tell", "not_met"],
    [["met", "cannot_tell"], "met", "cannot_tell"],
    [["mostly", "cannot_tell"], "cannot_tell", "cannot_tell"],
    [["not_applicable", "not_met"], "not_met", "not_met"],
    [["not_applicable", "met"], "met", "met"],
    [["not_applicable", "not_applicable"], "not_applicable", "not_applicable"],
  ] as [VerdictWord[], VerdictWord, VerdictWord][]) {
    test(`of ${words.join(", ")}: ${passage} by a passage, ${others} by every part`, () => {
      const parts = words.map(word => given(word));
      assert.equal(verdictOf(parts, "passage").verdict, passage);
      for (const restsOn of ["whole", "absence", null] as const) {
        assert.equal(verdictOf(parts, restsOn).verdict, others);
      }
    });
  }

  test("names the part that decided", () => {
    const { reason } = verdictOf([given("not_met"), given("met")], "passage");
    assert.equal(reason, "Part 2 of 2: It is met.");
  });

  test("needs to know what a criterion rests on only where its parts differ, or a quotation is empty", () => {
    for (const [parts, isOpen] of [
      [[given("met")], false],
      [[given("not_met", "empty")], false],
      [[given("met", "empty")], true],
      [[given("met", "trivial")], true],
      [[given("met", "invented")], false],
      [[given("met"), given("met")], false],
      [[given("met"), given("not_met")], true],
      [[given("met"), given("not_applicable")], false],
    ] as [GivenVerdict[], boolean][]) {
      assert.equal(isOpenWithoutClass(parts), isOpen, JSON.stringify(parts));
    }
  });
});

test("“not applicable” holds only of a criterion with a condition, by its wording or by the judge's class", () => {
  const parts = [given("not_applicable", "empty"), given("met")];
  const classed = (criterion: string, conditional: boolean, restsOn: RestsOn | null = null) =>
    classedVerdictOf(parts, writtenClass(criterion, restsOn), { restsOn: "whole", conditional }).verdict;
  assert.deepEqual([classed("Names it.", true), classed("Names it.", false)], ["met", "cannot_tell"]);
  assert.equal(classed("Names it.", false, "passage"), "met");
  assert.equal(classed("If asked, names it.", false), "met");
  assert.equal(classed("If-then rules are explained.", false), "cannot_tell");
  const { verdict, reason } = classedVerdictOf(parts.slice(0, 1), unknownClass, unknownClass);
  assert.equal(verdict, "cannot_tell");
  assert.match(reason, /states no condition/);
  const asks = (criterion: string, of = parts) => needsClass(of, writtenClass(criterion, "passage"));
  assert.deepEqual(
    [asks("Names it."), asks("If asked, names it."), asks("Names it.", [given("met")])],
    [true, false, false],
  );
});
