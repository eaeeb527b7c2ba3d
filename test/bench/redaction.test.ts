// The floors that the built-in redaction rules hold on the labeled set.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ratesOf, type Score, scoresOf, totalOf } from "../../bench/redaction/score.ts";
import { generated, labeledSet } from "../../bench/redaction/set.ts";

const recallMin: Record<string, number> = {
  email: 0.95,
  phone: 0.95,
  ip: 0.95,
  ssn: 0.95,
  card: 0.98,
  iban: 0.98,
  secret: 0.95,
};

test("the built-in rules find most of the labeled values that they were not tuned on, and little else", () => {
  const scores = scoresOf(labeledSet().filter(({ isHeldOut }) => isHeldOut));
  for (const [rule, score] of scores.byRule) {
    const { recall, precision } = ratesOf(score);
    const seen = `${rule}: ${JSON.stringify(score satisfies Score)}`;
    assert.ok(recall >= recallMin[rule]!, seen);
    assert.ok(precision >= 0.95, seen);
  }
  assert.ok(ratesOf(totalOf(scores)).precision >= 0.98);
});

test("keys of known shapes are found as surely as what has check digits", () => {
  const keys = labeledSet().filter(({ kind }) => kind === "key of a known shape");
  const { byRule } = scoresOf(keys);
  assert.ok(keys.length > 100);
  assert.ok(ratesOf(byRule.get("secret")!).recall >= 0.98);
});

test("the set has at least 2,000 values, a tenth of them hard negatives, and is the same each time", () => {
  const set = labeledSet();
  assert.ok(set.length >= 2_000);
  assert.ok(set.filter(({ rule }) => rule === null).length >= set.length / 10);
  assert.ok(new Set(set.map(({ language }) => language)).size >= 12);
  assert.deepEqual(generated(1, true), generated(1, true));
  for (const { text, value } of set) assert.ok(text.includes(value), text);
});
