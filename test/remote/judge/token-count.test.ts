// Which counts of input tokens suggest that a server cut the prompt.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lowCountOf } from "../../../src/remote/judge/token-count.ts";

const prompt = (tokens: number) => ({ instructions: "", material: "abcd".repeat(tokens) });

test("a count below half of the estimate is low, unless it is an estimate itself or the prompt is short", () => {
  for (const [sent, inputTokens, tokensEstimated, isLow] of [
    [10_000, 4_096, false, true],
    [10_000, 4_999, false, true],
    [10_000, 5_000, false, false],
    [10_000, 12_000, false, false],
    [10_000, 4_096, true, false],
    [1_999, 321, false, false],
    [2_000, 321, false, true],
  ] as const) {
    const expected = isLow ? { counted: inputTokens, sent } : null;
    assert.deepEqual(lowCountOf({ inputTokens, tokensEstimated }, prompt(sent)), expected);
  }
});
