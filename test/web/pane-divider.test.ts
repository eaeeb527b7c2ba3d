// Widths of panes: what is stored, and what a divider may do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dividerRange, moveDivider, parseWidths, printWidths } from "../../web/pages/trace/pane-divider.ts";

test("stored widths are used only if they are those of as many panes and fill the width", () => {
  assert.deepEqual(parseWidths("30 36 34", 3), [30, 36, 34]);
  assert.deepEqual(parseWidths("49.5 50.5", 2), [49.5, 50.5]);
  for (const text of ["", "30 36 34", "50", "60 60", "10 90", "NaN 50", "50 50 ", "-50 150", "1e1 90"]) {
    assert.equal(parseWidths(text, 2), null, text);
  }
  const moved = moveDivider([30, 36, 34], 0, 41.234);
  assert.deepEqual(parseWidths(printWidths(moved), 3), [41.2, 24.8, 34]);
});

test("a divider changes only the panes beside it, and leaves each its minimum", () => {
  assert.deepEqual(dividerRange([30, 36, 34], 1), { min: 45, now: 66, max: 85 });
  assert.deepEqual(moveDivider([30, 36, 34], 1, 60), [30, 30, 40]);
  assert.deepEqual(moveDivider([30, 36, 34], 1, 0), [30, 15, 55]);
  assert.deepEqual(moveDivider([30, 36, 34], 0, 100), [51, 15, 34]);
});
