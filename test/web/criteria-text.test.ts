// A text is taken apart where its author ended a line or a sentence, and nothing of it is lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as model from "../../src/model/judge/judge.ts";
import { criteriaMax, splitCriteria } from "../../web/pages/test/criteria-text.ts";

test("lines, bullet points and sentences become criteria", () => {
  assert.deepEqual(splitCriteria("Names the day. Says who brings it."), [
    "Names the day.",
    "Says who brings it.",
  ]);
  assert.deepEqual(splitCriteria("- Names the day\n- Is kind\n\n3) Asks for the number"), [
    "Names the day",
    "Is kind",
    "Asks for the number",
  ]);
  assert.deepEqual(splitCriteria("Names the day; says who brings it"), [
    "Names the day",
    "says who brings it",
  ]);
});

test("a single statement stays one, abbreviations and numbers included", () => {
  for (const text of ["", "Names the day.", "Costs at most 3.50 EUR", "Names example.com"]) {
    assert.deepEqual(splitCriteria(text), [text]);
  }
});

test("text beyond the limit stays together in the last criterion, and nothing is lost", () => {
  const sentences = Array.from({ length: 9 }, (_, at) => `Says thing ${at + 1}.`);
  const split = splitCriteria(sentences.join(" "));
  assert.equal(split.length, model.criteriaMax);
  assert.equal(criteriaMax, model.criteriaMax);
  assert.equal(split.join(" "), sentences.join(" "));
  assert.deepEqual(splitCriteria(sentences.join(" "), 2), [sentences[0], sentences.slice(1).join(" ")]);
});
