// Widths of columns in storage: written, read, and refused if they are out of range.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clampWidth, parseWidths, printWidths } from "../../web/pages/traces/column-widths.ts";

test("widths are read as they were written", () => {
  for (const widths of [{}, { verdict: 12 }, { verdict: 12.5, "tokens-in": 40, received: 2.5 }]) {
    assert.deepEqual(parseWidths(printWidths(widths)), widths);
  }
  assert.equal(printWidths({ verdict: 12.3456 }), "verdict=12.35");
});

test("other texts are no widths", () => {
  for (const text of [
    "verdict",
    "verdict=",
    "verdict=1",
    "verdict=41",
    "verdict=-5",
    "a=5;b=6",
    "a=5,",
    "=5",
    "a=1e1",
  ]) {
    assert.equal(parseWidths(text), undefined, text);
  }
});

test("a width stays within its limits", () => {
  assert.deepEqual([-3, 2.5, 12, 99].map(clampWidth), [2.5, 2.5, 12, 40]);
});
