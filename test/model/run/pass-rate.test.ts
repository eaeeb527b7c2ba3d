// Pass rates with their Wilson interval, and the difference of two by Newcombe's method, against published values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceOf, passRateOf } from "../../../src/model/run/pass-rate.ts";

const rounded = (number: number) => Math.round(number * 10_000) / 10_000;

test("a pass rate has its Wilson interval, and there is none without decided runs", () => {
  const rate = passRateOf(18, 20)!;
  assert.deepEqual(
    [rate.passed, rate.of, rate.share, rounded(rate.low), rounded(rate.high)],
    [18, 20, 0.9, 0.699, 0.9721],
  );
  assert.equal(passRateOf(0, 0), null);
});

// Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10.
for (const [[passed, of], [passedBefore, before], low, high] of [
  [[56, 70], [48, 80], 0.0524, 0.3339],
  [[9, 10], [3, 10], 0.1705, 0.809],
  [[10, 10], [0, 20], 0.6791, 1],
  [[10, 10], [0, 10], 0.6075, 1],
] as const) {
  test(`${passed} of ${of} differ from ${passedBefore} of ${before} as published`, () => {
    const difference = differenceOf(passRateOf(passedBefore, before), passRateOf(passed, of))!;
    assert.deepEqual([rounded(difference.low), rounded(difference.high)], [low, high]);
    assert.equal(difference.significant, true);
    const back = differenceOf(passRateOf(passed, of), passRateOf(passedBefore, before))!;
    assert.deepEqual([rounded(back.low), rounded(back.high)], [-high, -low]);
  });
}

test("a difference is significant though the two intervals overlap, and not where it can be chance", () => {
  const [before, after] = [passRateOf(60, 100)!, passRateOf(74, 100)!];
  assert.equal(before.high > after.low, true);
  assert.equal(differenceOf(before, after)?.significant, true);
  for (const [one, other] of [
    [passRateOf(1, 1), passRateOf(0, 1)],
    [passRateOf(8, 10), passRateOf(10, 10)],
    [passRateOf(5, 5), passRateOf(5, 5)],
  ] as const) {
    assert.equal(differenceOf(one, other)?.significant, false);
  }
  assert.equal(differenceOf(null, passRateOf(1, 1)), null);
});
