// Percentiles computed from buckets are close to those of the durations.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { addTo, count, type Histogram, percentile } from "../../../src/model/run/histogram.ts";

const durations = fc.array(fc.double({ min: 1, max: 10_000_000, noNaN: true }), { minLength: 1 });

function histogramOf(values: number[]): Histogram {
  const histogram: Histogram = [];
  for (const value of values) count(histogram, value);
  return histogram;
}

test("a percentile is within 10% of the duration at that rank", () => {
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 1), (values, share) => {
      const rank = Math.max(1, Math.ceil(values.length * share));
      const exact = values.toSorted((a, b) => a - b)[rank - 1]!;
      const read = percentile(histogramOf(values), share)!;
      assert.ok(Math.abs(read - exact) <= exact * 0.1 + 0.05, `${read} for ${exact}`);
    }),
  );
});

test("the sum of histograms is the histogram of all durations", () => {
  fc.assert(
    fc.property(durations, durations, (one, other) => {
      const sum = histogramOf(one);
      addTo(sum, histogramOf(other));
      assert.deepEqual(sum, histogramOf([...one, ...other]));
    }),
  );
});

test("without durations there is no percentile; the shortest and longest have one", () => {
  assert.equal(percentile([], 0.5), null);
  assert.equal(percentile(histogramOf([0]), 0.5), 0.5);
  assert.ok(percentile(histogramOf([Number.MAX_VALUE]), 0.5)! > 16_000_000);
});
