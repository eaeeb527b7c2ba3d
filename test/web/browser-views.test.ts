// Views saved in a browser move to the account: what is read, what is saved, and what counts as the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameSearch, parseViews, viewsToMove } from "../../web/pages/traces/browser-views.ts";

test("what is no view is left out", () => {
  const view = { name: "Failed", search: { verdict: "failed" } };
  const others = [null, 1, {}, { name: "a" }, { name: " ", search: {} }, { name: "a", search: { text: 1 } }];
  assert.deepEqual(parseViews(JSON.stringify([view, ...others])), [view]);
  for (const text of ["{}", "null", "1"]) assert.deepEqual(parseViews(text), []);
  assert.throws(() => parseViews("["));
});

test("known views are left out, and one whose name is taken gets another", () => {
  const failed = { name: "Failed", search: { verdict: "failed", within: "7d" } };
  const cases = [
    [[failed], [], [failed]],
    [[failed], [{ name: "Failed", search: { within: "7d", verdict: "failed" } }], []],
    [[failed], [{ name: "Failed", search: {} }], [{ ...failed, name: "Failed (this browser)" }]],
    [[{ name: "x".repeat(70), search: {} }], [], [{ name: "x".repeat(60), search: {} }]],
  ] as const;
  for (const [local, saved, expected] of cases) assert.deepEqual(viewsToMove(local, saved), expected);
  const [long] = viewsToMove(
    [{ name: "x".repeat(60), search: failed.search }],
    [{ name: "x".repeat(60), search: {} }],
  );
  assert.equal(long!.name, `${"x".repeat(45)} (this browser)`);
});

test("the order of filters and empty ones make no difference", () => {
  assert.ok(
    isSameSearch({ verdict: "failed", text: "a" }, { text: "a", verdict: "failed", kind: undefined }),
  );
  assert.ok(isSameSearch({ text: "" }, {}));
  assert.ok(!isSameSearch({ text: "a" }, { text: "b" }));
  assert.ok(!isSameSearch({ text: "a" }, { tool: "a" }));
});
