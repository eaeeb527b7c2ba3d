// How a manual run is compared with the one before it, and when a test is flaky; runs without a verdict do not count.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, isFlaky } from "../../../src/model/run/launch.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";

test("a run is compared with those of the previous launch, which may disagree", () => {
  for (const [outcome, before, change] of [
    ["passed", null, "new"],
    ["failed", null, "new"],
    ["passed", "not_passed", "mended"],
    ["failed", "passed", "broke"],
    ["missing_instrumentation", "passed", "broke"],
    ["missing_instrumentation", "not_passed", "same"],
    ["passed", "mixed", "same"],
    ["failed", "mixed", "same"],
    ["skipped", "passed", null],
    [null, "passed", null],
  ] as const) {
    const run = { state: "completed", verdict: outcome, fullyEvaluated: true } as const;
    assert.equal(changeOf(run, before), change, `${before}, then ${outcome}`);
    assert.equal(changeOf({ ...run, fullyEvaluated: false }, before), null);
  }
  assert.equal(changeOf({ state: "error", verdict: "failed", fullyEvaluated: true }, "passed"), null);
});

test("a test is flaky once its outcomes have gone back and forth, ignoring skipped ones", () => {
  for (const [outcomes, flaky] of [
    [[], false],
    [["passed", "failed"], false],
    [["passed", "failed", "passed"], true],
    [["passed", "skipped", "passed", "skipped", "passed"], false],
    [["failed", "skipped", "passed", "missing_instrumentation"], true],
    [["failed", "missing_instrumentation", "failed"], false],
  ] as [Outcome[], boolean][]) {
    assert.equal(isFlaky(outcomes), flaky, String(outcomes));
  }
});
