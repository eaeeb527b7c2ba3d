// Formats of numbers, percentages, durations and dates.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clockText,
  dateText,
  dayText,
  durationText,
  durationTexts,
  momentText,
  numberText,
  rateText,
  shortText,
} from "../../web/format.ts";

test("two durations that differ have texts that differ", () => {
  assert.deepEqual(durationTexts(1_000.000001, 1_000), ["1,000.000001 ms", "1,000 ms"]);
  assert.deepEqual(durationTexts(1_234, 1_233.5), ["1,234 ms", "1,233.5 ms"]);
  assert.deepEqual(durationTexts(1_500, 1_000), ["1.5 s", "1 s"]);
  assert.deepEqual(durationTexts(1_000, 1_000), ["1 s", "1 s"]);
});

test("only a rate of 1 is shown as 100%, and only a rate of 0 as 0%", () => {
  const shares = [null, 0, 0.00001, 0.001, 1 / 3, 2 / 3, 0.5, 0.99999, 1].map(rateText);
  assert.deepEqual(shares, ["–", "0%", "< 0.1%", "0.1%", "33.3%", "66.7%", "50%", "99.9%", "100%"]);
});

test("a duration has three digits and a fitting unit", () => {
  const told = [0, 0.83, 12.34, 999.4, 1_500, 59_900, 59_960, 200_000, 7_500_000].map(durationText);
  assert.deepEqual(told, [
    "0 ms",
    "830 µs",
    "12.3 ms",
    "999 ms",
    "1.5 s",
    "59.9 s",
    "1 min 0 s",
    "3 min 20 s",
    "2 h 5 min",
  ]);
});

test("numbers are grouped or short, and days are in UTC", () => {
  assert.deepEqual([numberText(1_234_567), shortText(12_345)], ["1,234,567", "12.3K"]);
  assert.equal(dayText("2026-11-03T23:59:59.999Z"), "Nov 3");
});

test("a date is written as Nov 21, 2026, 11:34 PM", () => {
  const at = new Date(2026, 10, 21, 23, 34, 5).toISOString();
  const texts = [momentText(at), dateText(at), clockText(at)].map(text => text.replaceAll("\u202f", " "));
  assert.deepEqual(texts, ["Nov 21, 2026, 11:34 PM", "Nov 21, 2026", "11:34 PM"]);
});
