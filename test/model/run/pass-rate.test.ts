// Pass rates with their Wilson interval, and the sign test of pairs that differ.
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

// 2 · P(X ≤ fewer), X binomial with 1/2: 9 of 10 is 22/1024, 8 of 10 is 112/1024, 9 of 12 is 598/4096.
for (const [broke, mended, significant] of [
  [3, 0, false],
  [9, 0, false],
  [10, 0, true],
  [9, 1, true],
  [8, 2, false],
  [10, 2, true],
  [9, 3, false],
  [5, 5, false],
  [700, 600, true],
  [680, 620, false],
  [0, 0, false],
] as const) {
  test(`${broke} that broke and ${mended} that were fixed are ${significant ? "more than" : "perhaps"} chance, and so the other way round`, () => {
    assert.deepEqual(differenceOf(broke, mended), { broke, mended, significant });
    assert.equal(differenceOf(mended, broke).significant, significant);
  });
}
