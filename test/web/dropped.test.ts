// What a span says that its SDK dropped.
import assert from "node:assert/strict";
import { test } from "node:test";
import { droppedText } from "../../web/pages/trace/span/dropped.ts";

const limits = "because of its limits.";

for (const [counts, expected] of [
  [{}, null],
  [{ dropped_events_count: 0 }, null],
  [{ dropped_attributes_count: 1 }, `The SDK dropped 1 attribute of this span ${limits}`],
  [
    { dropped_attributes_count: 1200, dropped_links_count: 2 },
    `The SDK dropped 1,200 attributes and 2 links of this span ${limits}`,
  ],
  [
    { dropped_attributes_count: 3, dropped_events_count: 1, dropped_links_count: 2 },
    `The SDK dropped 3 attributes, 1 event and 2 links of this span ${limits}`,
  ],
  [
    { events: [{ dropped_attributes_count: 2 }, {}, null, { dropped_attributes_count: 3 }] },
    `The SDK dropped 5 attributes of its events ${limits}`,
  ],
  [{ events: [{ dropped_attributes_count: "2" }, "text"] }, null],
  [
    {
      dropped_links_count: 1,
      links: [{ dropped_attributes_count: 1 }],
      scope: { dropped_attributes_count: 2 },
      resource_dropped_attributes_count: 3,
    },
    `The SDK dropped 1 link of this span, 1 attribute of its links, 2 attributes of its scope and 3 attributes of its resource ${limits}`,
  ],
] as const) {
  test(`a span with ${JSON.stringify(counts)} says ${expected ?? "nothing"}`, () => {
    assert.equal(droppedText(counts as Parameters<typeof droppedText>[0]), expected);
  });
}
