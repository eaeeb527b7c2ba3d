// Slow questions use up the minute of their agent, ordinary ones do not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentBudgets } from "../../../src/remote/sandbox/agent-budgets.ts";

test("a budget is spent by slow questions, of one agent, and comes back within a minute", () => {
  let now = 0;
  const budgets = new AgentBudgets(600, () => now);
  for (let count = 0; count < 10_000; count++) budgets.charge("quick", 20);
  for (let count = 0; count < 3; count++) budgets.charge("slow", 220);
  assert.deepEqual(
    [budgets.isSpent("quick"), budgets.isSpent("slow"), budgets.isSpent("other")],
    [false, true, false],
  );
  now = 1_000;
  assert.equal(budgets.isSpent("slow"), false);
  budgets.charge("slow", 40);
  assert.equal(budgets.isSpent("slow"), true);
  now = 61_000;
  budgets.charge("slow", 600);
  assert.equal(budgets.isSpent("slow"), false);
});
