// Bars of durations in the list of traces: their length against the slowest row.
import assert from "node:assert/strict";
import { test } from "node:test";
import { durationShare, slowestOf } from "../../web/pages/traces/duration-share.ts";

test("a bar is as long as its share of the slowest, and never vanishes or overflows", () => {
  const cases = [
    [2_000, 2_000, 100],
    [1_000, 2_000, 50],
    [1, 100_000, 1],
    [0, 2_000, 1],
    [0, 0, 1],
    // The slowest row was just deleted.
    [3_000, 2_000, 100],
  ] as const;
  for (const [ms, slowestMs, expected] of cases) assert.equal(durationShare(ms, slowestMs), expected);
});

test("the slowest row is found among rows without a duration", () => {
  assert.equal(slowestOf([{ durationMs: null }, { durationMs: 12.5 }, { durationMs: 3 }]), 12.5);
  assert.equal(slowestOf([{ durationMs: null }]), 0);
  assert.equal(slowestOf([]), 0);
});
