// The span tree: the worst of what a closed parent hides.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { OutlineSpan } from "../../src/model/trace/shown.ts";
import { buildTree, type Pointed, worstInside } from "../../web/pages/trace/tree.ts";

const span = (spanId: string, parentSpanId: string | null, failed = false): OutlineSpan => ({
  ...{ spanId, parentSpanId, name: spanId, failed, role: "other", detail: null, tokens: null, call: null },
  ...{ startTimeUnixNano: null, endTimeUnixNano: null },
});

test("a closed parent shows the worst outcome in it, with the number of checks that had it, and any failed span", () => {
  const { rows, positions } = buildTree(
    [span("root", null), span("a", "root"), span("b", "a", true), span("c", "a"), span("d", "root")],
    "root",
  );
  const pointed = new Map<string, Pointed>([
    ["root", { outcome: "passed", checks: 4 }],
    ["b", { outcome: "missing_instrumentation", checks: 1 }],
    ["c", { outcome: "failed", checks: 2 }],
    ["d", { outcome: "failed", checks: 1 }],
  ]);
  const inside = (id: string) => worstInside(rows, positions.get(id)!, pointed);
  assert.deepEqual(inside("root"), { failed: true, pointed: { outcome: "failed", checks: 3 } });
  assert.deepEqual(inside("a"), { failed: true, pointed: { outcome: "failed", checks: 2 } });
  assert.deepEqual(inside("d"), { failed: false, pointed: { outcome: "failed", checks: 1 } });
  assert.deepEqual(worstInside(rows, 0, new Map()), { failed: true, pointed: undefined });
  assert.deepEqual(
    pointed.get("d"),
    { outcome: "failed", checks: 1 },
    "the marks of the rows stay as they are",
  );
});
