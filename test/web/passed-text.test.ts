// "n of m" beside a verdict: tests or checks that passed, of those that passed or failed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { passedText } from "../../web/format.ts";

test("skipped tests and missing instrumentation count neither as passed nor as evaluated, as in pass rates", () => {
  const none = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
  const cases = [
    [{ passed: 3, failed: 1, skipped: 1 }, "3 of 4 tests passed"],
    [{ passed: 1 }, "1 of 1 test passed"],
    [{ failed: 2, missing_instrumentation: 5 }, "0 of 2 tests passed"],
    [{ passed: 1_199, failed: 1 }, "1,199 of 1,200 tests passed"],
    [{ skipped: 2, missing_instrumentation: 1 }, undefined],
    [{}, undefined],
  ] as const;
  for (const [counts, expected] of cases) assert.equal(passedText({ ...none, ...counts }, "test"), expected);
});
