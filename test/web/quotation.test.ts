// Finding a quotation again in the text it was taken from.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findQuotation } from "../../web/quotation.ts";

const found = (text: string, quotation: string) => {
  const place = findQuotation(text, quotation);
  return place && text.slice(...place);
};

test("a quotation is found as it stands", () => {
  assert.deepEqual(findQuotation("one two three", "two"), [4, 7]);
});

test("spaces, capitals, marks, quotes and what is not seen make no difference", () => {
  assert.equal(found("It was\n\n  “Never”  said.", 'was "never" SAID'), "was\n\n  “Never”  said");
  assert.equal(found("Do **not** wait, call.", "do not wait - call!"), "Do **not** wait, call");
  assert.equal(found("a re\u00adfund\u200b of it", "refund of"), "re\u00adfund\u200b of");
  assert.equal(found("a refund of it", "re\u200bfund"), "refund");
});

test("accents are the same composed and apart, and no character is cut in two", () => {
  assert.equal(found("un cafe\u0301 noir", "café"), "cafe\u0301");
  assert.equal(found("well 𝐝one 😀", "DONE"), "𝐝one");
  // Two letters in lower case.
  assert.equal(found("in İstanbul today", "İSTANBUL"), "İstanbul");
});

test("what is elided with dots is within, in the order of the text", () => {
  assert.equal(found("one two three four five", "two ... four"), "two three four");
  assert.equal(found("one two three four five", "two three fo…"), "two three fo");
  assert.equal(findQuotation("one two three four five", "four … two"), null);
});

test("what does not occur, and nothing at all, is not found", () => {
  assert.equal(findQuotation("one two", "three"), null);
  assert.equal(findQuotation("one two", "  "), null);
  assert.equal(findQuotation("one two", "\u200b"), null);
  assert.equal(findQuotation("", "one"), null);
});
