// What fits of a conversation into a prompt: instructions first, then the newest, long ones shortened.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  type ConversationItem,
  fitMaterial,
  itemsLeftOut,
  type Material,
  type MaterialKind,
  shownIn,
} from "../../../src/model/judge/material.ts";
import { promptBounds, shownLength } from "../../../src/model/judge/prompt-bounds.ts";

const item = (kind: MaterialKind, characters: number, more: Partial<ConversationItem> = {}) => ({
  ...{ kind, text: "x".repeat(characters), spanId: "s", attribute: null, ...more },
});
const fit = (items: ConversationItem[], replyLength = 100) =>
  fitMaterial({ items, complete: true }, { tools: true, replyLength });
const lengths = ({ items }: Material) => items.map(({ kind, text }) => [kind, shownLength(text)]);
const total = (material: Material) =>
  Object.values(shownIn(material)).reduce((sum, { characters }) => sum + characters, 0);

const { conversation, systemInstructions, conversationItem, conversationItems } = promptBounds;

suite("a conversation", () => {
  test("that fits is shown as a whole, in its order", () => {
    const items = [item("system", 900), item("user", 700), item("assistant", 800)];
    const material = fit(items);
    assert.deepEqual(material.items, items);
    assert.deepEqual(material.leftOut, {});
  });

  test("that is too long keeps its instructions and its newest items", () => {
    const turns = Array.from({ length: 40 }, () => [item("user", 500), item("assistant", 500)]).flat();
    const material = fit([item("system", 1_000), ...turns]);
    assert.equal(total(material), conversation);
    assert.equal(material.items[0]!.kind, "system");
    assert.equal(itemsLeftOut(material), 80 - 46);
    assert.deepEqual(material.leftOut, {
      user: { items: 17, characters: 8_500 },
      assistant: { items: 17, characters: 8_500 },
    });
  });

  test("has its oldest item shortened to what is left, or left out if that is too little", () => {
    const big = [1, 2, 3].map(() => item("tool_result", conversationItem));
    const [first] = fit([item("user", 5_000), ...big.slice(1), item("user", 7_000)]).items;
    assert.deepEqual(first!.text, {
      ...{ start: "x".repeat(667), end: "x".repeat(333), characters_left_out: 4_000 },
    });
    assert.deepEqual(lengths(fit([item("user", 5_000), ...big])), [
      ["tool_result", 8_000],
      ["tool_result", 8_000],
      ["tool_result", 8_000],
    ]);
  });

  test("gives the room that is left to the long items, the newest first", () => {
    const material = fit([item("tool_result", 30_000), item("tool_result", 12_000), item("user", 100)]);
    assert.deepEqual(lengths(material), [
      ["tool_result", 11_900],
      ["tool_result", 12_000],
      ["user", 100],
    ]);
    assert.deepEqual(material.leftOut, { tool_result: { items: 0, characters: 18_100 } });
  });

  test("has its system instructions shortened, so that they leave room", () => {
    const material = fit([item("system", 30_000), item("system", 500), item("user", 100)]);
    assert.deepEqual(lengths(material), [
      ["system", systemInstructions],
      ["user", 100],
    ]);
    assert.deepEqual(material.leftOut, { system: { items: 1, characters: 26_500 } });
  });

  test("has less room beside a long reply", () => {
    const items = [item("tool_result", 50_000)];
    for (const [replyLength, expected] of [
      [0, 24_000],
      [12_000, 24_000],
      [20_000, 16_000],
      [24_000, 12_000],
      [90_000, 12_000],
    ] as const) {
      assert.equal(total(fit(items, replyLength)), expected, String(replyLength));
    }
  });

  test("is cleaned before it is measured, so that nobody fills it with what is not seen", () => {
    const hidden = `${"\u200b".repeat(30_000)}Hello${" ".repeat(30_000)}you`;
    const { items } = fit([item("user", 0, { text: hidden })]);
    assert.match(String(items[0]!.text), /^Hello {16}you$/);
  });

  test("has at most so many items, and short names", () => {
    const calls = Array.from({ length: 1_000 }, () => item("tool_call", 1, { name: "n".repeat(5_000) }));
    const { items } = fit(calls);
    assert.equal(items.length, conversationItems);
    assert.ok(items.every(({ name }) => name!.length === promptBounds.name));
  });

  test("does not count the items that stand for the input and the reply", () => {
    const stand = item("user", 0, { is: "user_input" });
    assert.deepEqual(shownIn(fit([stand, item("assistant", 0, { is: "reply" })])), {});
    assert.deepEqual(fit([stand, ...[1, 2, 3, 4].map(() => item("user", 8_000))]).leftOut, {
      user: { items: 1, characters: 8_000 },
    });
  });
});
