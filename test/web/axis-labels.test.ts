// Labels of chart axes have the room that they need.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labelMiddle, leftGutter } from "../../web/pages/insights/axis-labels.ts";

test("the gutter of the value axis is as wide as the widest label needs, and never narrower than before", () => {
  assert.equal(leftGutter([]), 52);
  assert.equal(leftGutter(["0 ms", "500 ms"]), 52);
  // Drawn at 12 px, 61 px wide in Chromium.
  assert.ok(leftGutter(["0 ms", "16 min 40 s"]) >= 61 + 8);
});

test("a label under the axis moves inwards where it would leave the chart", () => {
  assert.equal(labelMiddle(200, "Nov 20", 400), 200);
  assert.ok(labelMiddle(399, "Nov 20", 400) + 18 <= 400);
  assert.ok(labelMiddle(0, "Nov 20", 400) - 18 >= 0);
});
