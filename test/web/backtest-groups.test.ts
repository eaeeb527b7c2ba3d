// The groups of a backtest: flips first and worst first, everything without an outcome in one, and the sentence above them.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { BacktestGroup } from "../../src/http/test-cases/backtest-schemas.ts";
import { backtestChange } from "../../src/model/run/backtest.ts";
import type { Outcome } from "../../src/model/run/outcome.ts";
import { groupsOf, summaryText } from "../../web/pages/test/backtest-groups.ts";

const group = (before: Outcome | null, after: Outcome | null, traces: number): BacktestGroup => ({
  ...{ before, after, traces },
  change: backtestChange(before, after),
});

const words = {
  passed: { text: "Passed" },
  failed: { text: "Failed" },
  skipped: { text: "Skipped" },
  missing_instrumentation: { text: "Missing instrumentation" },
};

suite("the groups of a backtest", () => {
  test("are listed by how much they matter, with the ones without an outcome last and together", () => {
    const list: BacktestGroup[] = [
      group("passed", "passed", 900),
      group("passed", null, 3),
      group(null, null, 2),
      group(null, "passed", 40),
      group(null, "failed", 1),
      group("passed", "skipped", 5),
      group("failed", "passed", 7),
      group("passed", "failed", 4),
    ];
    const shown = groupsOf(list, words);
    assert.deepEqual(
      shown.map(({ text, traces, key }) => [text, traces, key]),
      [
        ["Passed → Failed", 4, "passed.failed"],
        ["Failed → Passed", 7, "failed.passed"],
        ["Passed → Skipped", 5, "passed.skipped"],
        ["New: Failed", 1, "none.failed"],
        ["New: Passed", 40, "none.passed"],
        ["Unchanged: Passed", 900, "passed.passed"],
        ["No outcome", 5, "none.none"],
      ],
    );
  });

  test("are summed up in a sentence that compares only what can be compared", () => {
    const sentences: [BacktestGroup[], string][] = [
      [[group("passed", "failed", 12), group("passed", "passed", 988)], "12 of 1,000 verdicts flip."],
      [[group("passed", "failed", 1)], "1 of 1 verdict flips."],
      [[group("failed", "failed", 3), group(null, "failed", 9)], "None of 3 verdicts flip."],
      [[group("failed", "failed", 1)], "None of 1 verdict flips."],
      [[group(null, "failed", 2)], "2 traces without an earlier result."],
      [[group("passed", null, 2)], "No outcomes."],
    ];
    for (const [groups, sentence] of sentences) assert.equal(summaryText(groups), sentence);
  });
});
