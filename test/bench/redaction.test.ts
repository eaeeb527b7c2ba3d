// What the built-in redaction rules find in texts of another hand: floors of recall and precision, and what is never left in clear.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labeledTexts, ratesOf, scoresOf } from "../../bench/redaction/score.ts";

test("the built-in rules find the labeled values of all languages, and little else", () => {
  const { byRule, mistakes } = scoresOf(labeledTexts());
  for (const [rule, score] of byRule) {
    const { recall, precision } = ratesOf(score);
    const least = rule === "phone" ? 0.95 : 0.98;
    const seen = JSON.stringify({ score, mistakes: mistakes.filter(one => one.rule === rule) });
    assert.ok(score.labeled >= 40, rule);
    assert.ok(recall >= least && precision >= least, `${rule}: ${seen}`);
    if (rule === "card" || rule === "iban") assert.equal(score.inClear, 0, `${rule}: ${seen}`);
  }
});
