// A text is looked at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { oncePerText } from "../../src/model/once-per-text.ts";

test("a text is looked through once, however many ask about it, whatever comes of it", () => {
  const looked: string[] = [];
  const said = oncePerText(text => {
    looked.push(text);
    return text === "nothing" ? undefined : text.length;
  });
  for (const _ of [1, 2]) assert.deepEqual([said("one"), said("nothing"), said("three")], [3, undefined, 5]);
  assert.deepEqual(looked, ["one", "nothing", "three"]);
});
