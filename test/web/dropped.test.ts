// What a span says that its SDK dropped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { droppedText } from "../../web/pages/trace/span/dropped.ts";

const limits = "of this span because of its span limits.";

for (const [counts, expected] of [
  [{}, null],
  [{ dropped_events_count: 0 }, null],
  [{ dropped_attributes_count: 1 }, `The SDK dropped 1 attribute ${limits}`],
  [
    { dropped_attributes_count: 1200, dropped_links_count: 2 },
    `The SDK dropped 1,200 attributes and 2 links ${limits}`,
  ],
  [
    { dropped_attributes_count: 3, dropped_events_count: 1, dropped_links_count: 2 },
    `The SDK dropped 3 attributes, 1 event and 2 links ${limits}`,
  ],
] as const) {
  test(`a span with ${JSON.stringify(counts)} says ${expected ?? "nothing"}`, () => {
    assert.equal(droppedText(counts), expected);
  });
}
