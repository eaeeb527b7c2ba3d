// The pass rate corrected for the judge's known errors: worked examples, its limits, and how often the interval is right.
import assert from "node:assert/strict";
import { test } from "node:test";
import { correctedRate } from "../../../src/model/judge/corrected-rate.ts";
import { shareOf } from "../../../src/model/judge/label.ts";

/** `sensitivity`: passes of those that should pass; `specificity`: failures of those that should fail. */
const corrected = (
  [passed, results]: [number, number],
  sensitivity: [number, number],
  specificity: [number, number],
) =>
  correctedRate(
    { passed, failed: results - passed },
    {
      falseFail: shareOf(sensitivity[1] - sensitivity[0], sensitivity[1]),
      falsePass: shareOf(specificity[1] - specificity[0], specificity[1]),
    },
  );

test("worked examples", () => {
  for (const [seen, sensitivity, specificity, expected] of [
    [
      [150, 200],
      [45, 50],
      [16, 20],
      [0.786, 0.638, 0.936],
    ],
    // The judge passes half of what should fail.
    [
      [950, 1000],
      [10, 10],
      [5, 10],
      [0.9, 0.732, 1],
    ],
    [
      [388, 400],
      [98, 100],
      [18, 30],
      [0.983, 0.927, 1],
    ],
    // Fewer passes than its false ones: within 0 and 1.
    [
      [10, 100],
      [9, 10],
      [9, 10],
      [0, 0, 0.173],
    ],
    [
      [0, 100],
      [9, 10],
      [9, 10],
      [0, 0, 0.044],
    ],
    [
      [20, 20],
      [10, 10],
      [10, 10],
      [1, 0.823, 1],
    ],
  ] as [[number, number], [number, number], [number, number], number[]][]) {
    const found = corrected(seen, sensitivity, specificity);
    assert.ok(typeof found === "object");
    const shown = [found.rate, found.low, found.high].map(value => Math.round(value * 1000) / 1000);
    assert.deepEqual(shown, expected);
  }
});

test("there is none without results, with fewer than ten labels of either answer, or for a judge hardly better than chance", () => {
  assert.equal(corrected([0, 0], [10, 10], [10, 10]), "no_results");
  assert.equal(corrected([9, 10], [200, 200], [9, 9]), "too_few_labels");
  assert.equal(corrected([9, 10], [9, 9], [200, 200]), "too_few_labels");
  assert.equal(corrected([9, 10], [10, 10], [1, 10]), "unreliable");
  assert.equal(typeof corrected([9, 10], [10, 10], [2, 10]), "object");
  assert.equal(typeof corrected([9, 10], [6, 10], [6, 10]), "object");
});

test("the interval contains the true rate in at least 93 of 100 samples", () => {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const hits = (of: number, share: number): [number, number] => [
    Array.from({ length: of }, random).filter(one => one < share).length,
    of,
  ];
  for (const rate of [0.5, 0.9]) {
    const [sensitivity, specificity] = [0.92, 0.75];
    let right = 0;
    for (let sample = 0; sample < 500; sample++) {
      const seen = hits(150, rate * sensitivity + (1 - rate) * (1 - specificity));
      const found = corrected(seen, hits(30, sensitivity), hits(30, specificity));
      if (typeof found === "object" && found.low <= rate && rate <= found.high) right += 1;
    }
    assert.ok(right >= 465, `${right} of 500 at ${rate}`);
  }
});
