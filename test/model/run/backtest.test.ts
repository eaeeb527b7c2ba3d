// What counts as a flip of the tried test, and what another content, judge or prompt did.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JudgedBy } from "../../../src/model/judge/judge.ts";
import { comparedResult, compareResults } from "../../../src/model/run/backtest.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { Applicability, Check } from "../../../src/model/run/run.ts";

const local: JudgedBy = { provider: "openai_compatible", model: "local", promptVersion: "3" };
const other: JudgedBy = { ...local, model: "large" };
const reworded: JudgedBy = { ...local, promptVersion: "4" };

const check = (id: string, outcome: Outcome, fields: Partial<Check> = {}): Check => ({
  ...{ id, outcome, type: "tool_call", reason: "", reasonCode: "no_answer", expected: null, actual: null },
  ...{ evidence: [], ...fields },
});
const judgedCheck = (id: string, outcome: Outcome, by: JudgedBy) =>
  check(id, outcome, { type: "semantic", actual: { score: 1, ...by } });
const waits = (id: string) => check(id, "skipped", { skipped: "dependency" });

type Given = {
  checks?: Check[];
  by?: JudgedBy;
  applied?: boolean;
  revision?: number;
  conventions?: string[];
};

function result(
  outcome: Outcome,
  { checks = [], by, applied = true, revision = 1, conventions = [] }: Given,
) {
  const scenario: Applicability = { testId: "t", name: "T", applied, why: "always_run", ...by };
  return comparedResult({ outcome, checks }, scenario, {
    revision,
    readBy: { conventions, conventionRules: [] },
  });
}

for (const [what, before, after, change, cause] of [
  [
    "a deterministic check flips",
    result("passed", { checks: [check("a", "passed"), judgedCheck("s", "passed", local)] }),
    result("failed", { checks: [check("a", "failed"), judgedCheck("s", "failed", other)] }),
    ...(["broke", null] as const),
  ],
  [
    "the same judge decides otherwise",
    result("passed", { checks: [judgedCheck("s", "passed", local)] }),
    result("failed", { checks: [judgedCheck("s", "failed", local)] }),
    ...(["broke", null] as const),
  ],
  [
    "another judge decides otherwise",
    result("passed", {
      checks: [check("a", "passed"), judgedCheck("s", "passed", local), check("d", "passed")],
    }),
    result("failed", { checks: [check("a", "passed"), judgedCheck("s", "failed", other), waits("d")] }),
    ...(["other_cause", "judge"] as const),
  ],
  [
    "another judge decides otherwise, and lets a check run that waited for it",
    result("failed", { checks: [judgedCheck("s", "failed", local), waits("d")] }),
    result("missing_instrumentation", {
      checks: [judgedCheck("s", "passed", other), check("d", "missing_instrumentation")],
    }),
    ...(["other_cause", "judge"] as const),
  ],
  [
    "a test that matched no scenario before, by another judge",
    result("passed", { checks: [judgedCheck("s", "passed", local)] }),
    result("failed", { by: other, checks: [judgedCheck("s", "failed", other)] }),
    ...(["other_cause", "judge"] as const),
  ],
  [
    "another prompt decides otherwise",
    result("failed", { checks: [judgedCheck("s", "failed", local)] }),
    result("passed", { checks: [judgedCheck("s", "passed", reworded)] }),
    ...(["other_cause", "prompt"] as const),
  ],
  [
    "another judge decides the same",
    result("passed", { checks: [judgedCheck("s", "passed", local)] }),
    result("passed", { checks: [judgedCheck("s", "passed", other)] }),
    ...(["same", null] as const),
  ],
  [
    "the test has gained a check that fails, beside another judge",
    result("passed", { checks: [judgedCheck("s", "passed", local)] }),
    result("failed", { checks: [judgedCheck("s", "failed", other), check("new", "failed")] }),
    ...(["broke", null] as const),
  ],
  [
    "the test has gained a check that passes, beside another judge",
    result("passed", { checks: [judgedCheck("s", "passed", local)] }),
    result("failed", { checks: [judgedCheck("s", "failed", other), check("new", "passed")] }),
    ...(["other_cause", "judge"] as const),
  ],
  [
    "another judge matches the scenario otherwise",
    result("failed", { by: local, checks: [check("a", "failed")] }),
    result("skipped", { by: other, applied: false }),
    ...(["other_cause", "judge"] as const),
  ],
  [
    "the same judge matches another scenario otherwise",
    result("skipped", { by: local, applied: false }),
    result("failed", { by: local, checks: [check("a", "failed")] }),
    ...(["changed", null] as const),
  ],
  [
    "the trace has changed",
    result("passed", { checks: [check("a", "passed")] }),
    result("failed", { checks: [check("a", "failed")], revision: 2 }),
    ...(["other_cause", "content"] as const),
  ],
  [
    "the trace is read otherwise",
    result("passed", { checks: [check("a", "passed")] }),
    result("failed", { checks: [check("a", "failed")], conventions: ["langsmith"] }),
    ...(["other_cause", "content"] as const),
  ],
] as const) {
  test(`${what}: ${cause ?? change}`, () => {
    assert.deepEqual(compareResults(before, { after: after.outcome, compared: after }), { change, cause });
  });
}

test("a result that is not fully evaluated is compared with nothing", () => {
  const before = result("passed", { checks: [check("a", "passed")] });
  assert.deepEqual(compareResults(before, { after: "failed" }), { change: "none", cause: null });
  assert.deepEqual(compareResults(undefined, { after: "failed" }), { change: "new", cause: null });
  assert.deepEqual(compareResults(before, { after: null }), { change: "none", cause: null });
});
