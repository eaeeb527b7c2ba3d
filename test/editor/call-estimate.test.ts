// What estimates of judge calls add up to: once per check, and at most with two further votes and questions about criteria.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CallEstimate } from "../../src/editor/call-estimate.ts";

const route = { kind: "route", inputTokens: 100, outputTokens: 10, costUsd: 0.1 } as const;
const semantic = { kind: "semantic", inputTokens: 1_000, outputTokens: 100, costUsd: 1 } as const;
const classes = { kind: "classify", inputTokens: 10, outputTokens: 1, costUsd: 0.01 } as const;

test("votes are counted in the upper bound alone, and a scenario has none", () => {
  const estimate = new CallEstimate({ sameCriteria: true });
  for (const call of [route, semantic, semantic]) estimate.add(call);
  assert.deepEqual(estimate.figures(), {
    ...{ calls: 3, inputTokens: 2_100, outputTokens: 210, costUsd: 2.1 },
    atMost: { calls: 7, inputTokens: 6_100, outputTokens: 610, costUsd: 6.1 },
  });
});

test("what the same criteria rest on is asked once, however many traces; of others each time", () => {
  for (const [sameCriteria, calls] of [
    [true, 31],
    [false, 50],
  ] as const) {
    const estimate = new CallEstimate({ sameCriteria });
    estimate.add(semantic);
    estimate.add(classes);
    estimate.add(classes);
    assert.equal(estimate.figures(10).calls, 10);
    assert.equal(estimate.figures(10).atMost.calls, calls);
  }
});

test("an unknown price stays unknown", () => {
  const estimate = new CallEstimate({ sameCriteria: true });
  estimate.add({ ...semantic, costUsd: null });
  estimate.add(semantic);
  const { costUsd, atMost } = estimate.figures(2);
  assert.deepEqual([costUsd, atMost.costUsd], [null, null]);
});
