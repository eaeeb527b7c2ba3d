// Runs of a launch by input, and two launches compared: groups and words.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ComparedInput, ComparedTest } from "../../src/http/test-cases/launch-schemas.ts";
import type { LaunchCounts } from "../../src/model/run/launch.ts";
import type { Outcome } from "../../src/model/run/outcome.ts";
import { differenceOf, passRateOf } from "../../src/model/run/pass-rate.ts";
import type { RunState } from "../../src/model/run/run.ts";
import { intervalText } from "../../web/format.ts";
import {
  differenceText,
  groupsOf,
  haveNothingInCommon,
  onlyResult,
} from "../../web/pages/runs/comparison.ts";
import { placeOfRun, rowsOfRuns } from "../../web/pages/runs/run-rows.ts";

const run = (
  row: number | null,
  repeat: number | null,
  verdict: Outcome | null,
  state: RunState = "completed",
  fullyEvaluated = true,
) => ({
  ...{ row, repeat, verdict, state, fullyEvaluated },
  input: row === null ? null : `input ${row}`,
});

suite("the runs of a test", () => {
  test("are grouped by input, with the passed ones counted and the first that did not pass", () => {
    const runs = [
      run(1, 1, "passed"),
      run(1, 2, "failed"),
      run(1, 3, null, "error"),
      run(2, 1, null, "pending"),
      run(2, 2, "passed"),
      run(3, 1, "passed", "completed", false),
    ];
    const rows = rowsOfRuns(runs);
    assert.deepEqual(
      rows.map(({ row, input, runs, passed }) => [row, input, runs.length, passed]),
      [
        [1, "input 1", 3, 1],
        [2, "input 2", 2, 1],
        [3, "input 3", 1, 0],
      ],
    );
    assert.deepEqual(
      rows.map(({ telling }) => telling),
      [runs[1], undefined, runs[5]],
    );
  });

  test("are a row each without inputs", () => {
    const rows = rowsOfRuns([run(null, 1, "passed"), run(null, 2, "failed")]);
    assert.deepEqual(
      rows.map(({ row, runs }) => [row, runs[0]!.repeat]),
      [
        [null, 1],
        [null, 2],
      ],
    );
  });

  test("have a place, with the totals once they are known", () => {
    const test = { inputCount: 1_000, repeats: 3 };
    const texts: [row: number | null, repeat: number | null, of: typeof test | undefined, text: string][] = [
      [4, 2, test, "Input 4 of 1,000, repeat 2 of 3"],
      [4, null, test, "Input 4 of 1,000"],
      [null, 2, test, "Repeat 2 of 3"],
      [4, 2, undefined, "Input 4, repeat 2"],
      [null, null, test, ""],
    ];
    for (const [row, repeat, of, text] of texts) assert.equal(placeOfRun({ row, repeat }, of), text);
  });
});

suite("two launches", () => {
  test("are said to differ only where it is more than chance, and always by what broke and was fixed", () => {
    const texts: [broke: number, mended: number, text: string | undefined][] = [
      [3, 0, "3 broke, 0 fixed"],
      [8, 2, "8 broke, 2 fixed"],
      [12, 1, "Worse than the other run: 12 broke, 1 fixed"],
      [0, 1_000, "Better than the other run: 0 broke, 1,000 fixed"],
      [0, 0, undefined],
    ];
    for (const [broke, mended, text] of texts)
      assert.equal(differenceText(differenceOf(broke, mended)), text);
  });

  test("are listed by test, also when a test goes on in the next page", () => {
    const test = (testId: string) => ({ testId }) as ComparedTest;
    const item = (testId: string, row: number) => ({ testId, row }) as ComparedInput;
    const groups = groupsOf([
      { tests: [test("a"), test("b")], items: [item("a", 1), item("b", 1)] },
      { tests: [test("b"), test("c")], items: [item("b", 2), item("c", 1), item("gone", 1)] },
    ]);
    assert.deepEqual(
      groups.map(({ test, items }) => [test.testId, items.map(({ row }) => row)]),
      [
        ["a", [1]],
        ["b", [1, 2]],
        ["c", [1]],
      ],
    );
  });

  test("have nothing in common if everything is new or gone", () => {
    const changes = { broke: 0, mended: 0, same: 0, new: 3, gone: 2, undecided: 0 };
    assert.deepEqual(
      [changes, { ...changes, same: 1 }, { ...changes, undecided: 1 }].map(haveNothingInCommon),
      [true, false, false],
    );
  });

  test("show the result of a single run, and counts of several", () => {
    const none: LaunchCounts = {
      passed: 0,
      failed: 0,
      skipped: 0,
      missing_instrumentation: 0,
      error: 0,
      cancelled: 0,
      open: 0,
    };
    const rest = { notFullyEvaluated: 0, passRate: null };
    assert.equal(onlyResult({ runs: 1, counts: { ...none, failed: 1 }, ...rest }), "failed");
    assert.equal(onlyResult({ runs: 2, counts: { ...none, failed: 2 }, ...rest }), undefined);
  });
});

test("an interval is written in whole percents", () => {
  assert.deepEqual([passRateOf(18, 20)!, passRateOf(1, 1)!, { low: null, high: null }].map(intervalText), [
    "70–97%",
    "21–100%",
    "–",
  ]);
});
