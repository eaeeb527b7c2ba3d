// What the editor says of a threshold is what the service does: held against the arithmetic that judges.

import assert from "node:assert/strict";
import { test } from "node:test";
import { scoreOfVerdicts } from "../../src/evaluate/semantic-score.ts";
import type { VerdictWord } from "../../src/model/judge/call.ts";
import { leewayOf, thresholdText } from "../../web/pages/test/threshold.ts";

const thresholds = Array.from({ length: 101 }, (_, at) => at / 100);

/** How many criteria of so many can have the verdict, all others being met, for the score to reach the threshold. */
function most(verdict: VerdictWord, threshold: number, count: number): number {
  const passes = (short: number) => {
    const verdicts = Array.from({ length: count }, (_, at) => (at < short ? verdict : "met"));
    return scoreOfVerdicts(verdicts, { threshold, negate: false })! >= threshold;
  };
  return Array.from({ length: count + 1 }, (_, short) => short).findLast(passes)!;
}

test("the leeway matches the scores for every threshold and number of criteria", () => {
  for (const threshold of thresholds) {
    for (const count of [1, 2, 3, 4, 5, 6]) {
      const expected = {
        mostly: most("mostly", threshold, count),
        partly: most("partly", threshold, count),
        not_met: most("not_met", threshold, count),
      };
      assert.deepEqual(leewayOf(threshold, count), expected, `${threshold} of ${count}`);
    }
  }
});

test("a threshold is explained by verdicts, and negated for a negated rule", () => {
  const texts: [number, number, string][] = [
    [0.7, 1, "Passes if the criterion is met or mostly met. Fails if it is only partly met."],
    [0.4, 1, "Passes if the criterion is met, mostly met or partly met. Fails if it is not met."],
    [1, 1, "Passes if the criterion is fully met. Fails if it is only mostly met."],
    [0, 1, "Always passes, whatever the judge says."],
    [0, 6, "Always passes, whatever the judge says."],
    [1, 3, "Passes only if all 3 are fully met."],
    [
      0.9,
      3,
      "Passes even if 1 is only mostly met and the others are fully met. Fails if one is only partly met.",
    ],
    [
      0.7,
      3,
      "Passes even if all 3 are only mostly met or 1 is only partly met and the others are fully met. Fails if one is not met.",
    ],
    [
      0.7,
      5,
      "Passes even if all 5 are only mostly met, 2 are only partly met or 1 is not met and the others are fully met. Fails if more than 1 is not met.",
    ],
  ];
  for (const [threshold, count, text] of texts) assert.equal(thresholdText(threshold, count, false), text);
  assert.equal(
    thresholdText(0.7, 1, true),
    "Fails if the criterion is met or mostly met. Passes if it is only partly met.",
  );
  assert.equal(
    thresholdText(0.7, 3, true),
    "Fails if any criterion is met or mostly met. Passes if all are at most partly met.",
  );
});
