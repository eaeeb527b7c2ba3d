// The words of the overview: no percentage of too few results, and comparisons only with what there was.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Overview, Results } from "../../src/http/projects/overview-schemas.ts";
import {
  countText,
  leftOutOfRate,
  notEvaluatedReason,
  rateBefore,
  rateWords,
  traceTitle,
  trafficChange,
} from "../../web/pages/overview/words.ts";

const within = { from: "2026-11-22T10:00:00.000Z", to: "2026-11-23T10:30:00.000Z" };

function results(passed: number, failed: number, skipped = 0, missing_instrumentation = 0): Results {
  return {
    ...within,
    evaluated: passed + failed + skipped + missing_instrumentation,
    counts: { passed, failed, skipped, missing_instrumentation },
    notFullyEvaluated: 0,
    passRate: passed + failed === 0 ? null : passed / (passed + failed),
    noVerdict: 0,
    routingUnavailable: 0,
  };
}

test("a pass rate is a percentage from 10 passes and failures on", () => {
  const cases: [Results, string, string, string][] = [
    [results(0, 0), "–", "Nothing evaluated", "Nothing evaluated a week before"],
    [results(0, 0, 3), "–", "No passes or failures", "No passes or failures a week before"],
    [results(1, 0), "1 of 1", "Passed. Too few for a pass rate", "1 of 1 passed a week before"],
    [results(8, 1, 20), "8 of 9", "Passed. Too few for a pass rate", "8 of 9 passed a week before"],
    [results(9, 1), "90%", "9 of 10 passed", "90% a week before (9 of 10)"],
    [results(1999, 1), "99.9%", "1,999 of 2,000 passed", "99.9% a week before (1,999 of 2,000)"],
  ];
  for (const [given, text, note, before] of cases) {
    assert.deepEqual(rateWords(given), { text, note });
    assert.equal(rateBefore(given), before);
  }
});

test("traffic is compared in percent where both weeks have enough", () => {
  const cases: [now: number, before: number, atLeast: boolean, text: string][] = [
    [50, 0, false, "No traffic a week before"],
    [0, 0, false, "No traffic a week before"],
    [3, 40, false, "a week before"],
    [100_000, 90_000, true, "a week before"],
    [112, 100, false, "12% more than a week before"],
    [88, 100, false, "12% fewer than a week before"],
    [1001, 1000, false, "about as many as a week before"],
    [100, 10, false, "900% more than a week before"],
  ];
  for (const [now, before, atLeast, text] of cases) {
    const traffic = {
      now: { ...within, traces: { count: now, atLeast } },
      before: { ...within, traces: { count: before, atLeast: false } },
    };
    assert.equal(trafficChange(traffic), text);
  }
});

test("what the pass rate leaves out is listed, and pending is not failed", () => {
  const none = { count: 0, atLeast: false };
  const of = (now: Results, open: Partial<Overview["open"]>) =>
    leftOutOfRate({
      results: { now, before: results(0, 0) },
      open: { pending: none, running: none, error: none, ...open },
      traffic: { now: { ...within, traces: none }, before: { ...within, traces: none } },
      notEvaluated: none,
    } as Overview).map(({ text }) => text);
  assert.deepEqual(of(results(5, 1), {}), []);
  const pending = { count: 1, atLeast: false };
  assert.deepEqual(of(results(5, 1, 3, 2), { pending, running: { count: 2, atLeast: false } }), [
    "3 skipped",
    "2 missing instrumentation",
    "1 pending",
    "2 running",
  ]);
  assert.deepEqual(of(results(5, 1), { pending: { count: 1000, atLeast: true }, error: pending }), [
    "1,000+ pending",
    "1 with an error",
  ]);
});

test("reasons, counts and titles name what there is", () => {
  assert.equal(countText({ count: 100_000, atLeast: true }), "100,000+");
  assert.equal(notEvaluatedReason({ tests: 0, eligibleTests: 0 }), "This agent has no test cases.");
  assert.equal(
    notEvaluatedReason({ tests: 2, eligibleTests: 0 }),
    "All test cases are disabled or manual-only.",
  );
  assert.equal(notEvaluatedReason({ tests: 2, eligibleTests: 1 }), "No test was active when they arrived.");
  assert.equal(traceTitle({ name: "POST /chat", userInput: "  " }), "POST /chat");
  assert.equal(traceTitle({ name: "POST /chat", userInput: " Where is it? " }), "Where is it?");
});
