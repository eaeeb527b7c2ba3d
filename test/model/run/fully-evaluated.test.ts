// Which skipped checks leave a result open, and what else leaves a run open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { areFullyEvaluated, isRunFullyEvaluated } from "../../../src/model/run/fully-evaluated.ts";
import type { Check } from "../../../src/model/run/run.ts";

const judged = (["passed", "failed", "missing_instrumentation"] as const).map(outcome => ({ outcome }));

for (const [skipped, expected] of Object.entries({
  dependency: true,
  does_not_apply: true,
  threshold: false,
  no_judge: false,
  judge_unavailable: false,
  judge_unusable: false,
  budget: false,
  undecided: false,
  not_sampled: false,
  redacted: false,
  withheld: false,
  waiting: false,
  limit: false,
})) {
  const check = { outcome: "skipped", skipped } as Pick<Check, "outcome" | "skipped">;
  test(`a check skipped as ${skipped} leaves its result ${expected ? "" : "not "}fully evaluated`, () => {
    assert.equal(areFullyEvaluated([...judged, check]), expected);
    assert.equal(areFullyEvaluated([check]), expected);
  });
}

test("judged checks, or none, leave it fully evaluated, and a skip that says nothing does not", () => {
  assert.deepEqual([judged, [], [{ outcome: "skipped" as const }]].map(areFullyEvaluated), [
    true,
    true,
    false,
  ]);
});

test("a run is fully evaluated if its results are, and no scenario was left unmatched by the judge", () => {
  const results = (...each: boolean[]) => each.map(fullyEvaluated => ({ fullyEvaluated }));
  const tests = [{ why: "always_run" }, { why: "no_user_input" }, { why: "scenario_no_match" }] as const;
  assert.equal(isRunFullyEvaluated(results(true, true), [...tests]), true);
  assert.equal(isRunFullyEvaluated([], [...tests]), true);
  assert.equal(isRunFullyEvaluated(results(true, false), [...tests]), false);
  assert.equal(isRunFullyEvaluated(results(true), [...tests, { why: "routing_unavailable" }]), false);
});
