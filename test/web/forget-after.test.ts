// The form's times until content is forgotten, and the seconds that are stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ForgetAfter, forgetAfterOf, secondsOf } from "../../web/forms/forget-after.ts";

test("a stored time is shown as one of the few, or in the largest unit that it is a number of, and saved as it was", () => {
  const cases: [number | null, ForgetAfter][] = [
    [null, { time: "86400", amount: "1", unit: "days" }],
    [3_600, { time: "3600", amount: "1", unit: "hours" }],
    [86_400, { time: "86400", amount: "1", unit: "days" }],
    [604_800, { time: "604800", amount: "7", unit: "days" }],
    [60, { time: "custom", amount: "1", unit: "minutes" }],
    [90, { time: "custom", amount: "1.5", unit: "minutes" }],
    [61, { time: "custom", amount: String(61 / 60), unit: "minutes" }],
    [7_200, { time: "custom", amount: "2", unit: "hours" }],
    [31_536_000, { time: "custom", amount: "365", unit: "days" }],
  ];
  for (const [seconds, shown] of cases) {
    assert.deepEqual(forgetAfterOf(seconds), shown);
    assert.equal(secondsOf(shown), seconds ?? 86_400);
  }
});

test("an amount that is no number is none", () => {
  for (const amount of ["", " ", "x"]) {
    assert.equal(secondsOf({ time: "custom", amount, unit: "hours" }), null);
  }
});
