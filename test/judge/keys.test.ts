// Two questions share an answer only where everything that the answer depends on is the same.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import {
  type CriterionQuestion,
  type JudgeIdentity,
  keysFor,
  type ScenarioQuestion,
} from "../../src/judge/keys.ts";
import type { EarlierMessages, Material, MaterialItem } from "../../src/model/judge/material.ts";
import { stripInvisible } from "../../src/model/strip-invisible.ts";

const identity: JudgeIdentity = {
  projectId: "project",
  promptVersion: "1",
  provider: "openai",
  url: null,
  model: "model",
};
const criterion: CriterionQuestion = {
  criterion: "Names a day.",
  scenario: "The user asks when.",
  reference: "On Monday.",
  userInput: "When?",
  reply: "On Tuesday.",
  vote: 1,
};
const scenario = { scenario: criterion.scenario, userInput: "When?" };

const at = { spanId: "s", attribute: "a" };
const material: Material = {
  items: [
    { kind: "user", text: "Hello", ...at },
    { kind: "tool_call", text: "{}", name: "find", ...at },
    { kind: "tool_result", text: { start: "a", end: "b", characters_left_out: 9 }, name: "find", ...at },
  ],
  tools: true,
  leftOut: { user: { items: 1, characters: 20 } },
  complete: true,
};
const withItem = (index: number, more: Partial<MaterialItem>): Material => ({
  ...material,
  items: material.items.map((item, i) => (i === index ? { ...item, ...more } : item)),
});
const earlier: EarlierMessages = { messages: [{ from: "user", text: "Hello" }], leftOut: 0 };

const keyOf = (more: Partial<CriterionQuestion> = {}, over: Partial<JudgeIdentity> = {}) =>
  keysFor({ ...identity, ...over }).ofCriterion({ ...criterion, ...more });
const routeKeyOf = (more: Partial<ScenarioQuestion> = {}, over: Partial<JudgeIdentity> = {}) =>
  keysFor({ ...identity, ...over }).ofScenario({ ...scenario, ...more });

const others: Partial<JudgeIdentity>[] = [
  { projectId: "another" },
  { promptVersion: "2" },
  { provider: "openai_compatible" },
  { url: "http://127.0.0.1:1/v1" },
  { model: "another" },
];

suite("the key of a question", () => {
  test("differs by whatever the answer depends on", () => {
    const { reference: _, ...bare } = criterion;
    const keys = [
      keyOf(),
      ...others.map(over => keyOf({}, over)),
      keyOf({ criterion: "Names a month." }),
      keyOf({ scenario: "Another." }),
      keyOf({ reference: "On Friday." }),
      keysFor(identity).ofCriterion(bare),
      keyOf({ userInput: "What?" }),
      keyOf({ userInput: null }),
      keyOf({ reply: "On Wednesday." }),
      keyOf({ vote: 2 }),
      keyOf({ redacted: ["email"] }),
      keyOf({ redacted: ["email", "card"] }),
      // What stands in one place does not stand for the same in another.
      keyOf({ userInput: criterion.reply, reply: criterion.userInput! }),
      keyOf({ material }),
      keyOf({ material: { ...material, items: [] } }),
      keyOf({ material: { ...material, tools: false } }),
      keyOf({ material: { ...material, complete: false } }),
      keyOf({ material: { ...material, offered: ["find"] } }),
      keyOf({ material: { ...material, offered: ["find", "refund"] } }),
      keyOf({ time: "Saturday" }),
      keyOf({ time: "Sunday" }),
      keyOf({ material: { ...material, leftOut: {} } }),
      keyOf({ material: { ...material, items: material.items.toReversed() } }),
      keyOf({ material: withItem(0, { text: "Bye" }) }),
      keyOf({ material: withItem(0, { kind: "assistant" }) }),
      keyOf({ material: withItem(0, { agent: "planner" }) }),
      keyOf({ material: withItem(0, { is: "user_input" }) }),
      keyOf({ material: withItem(1, { name: "search" }) }),
      keyOf({ material: withItem(1, { failed: true }) }),
      keyOf({ material: withItem(2, { text: "ab" }) }),
      keyOf({ material: withItem(2, { text: { start: "a", end: "b", characters_left_out: 8 } }) }),
      routeKeyOf(),
      routeKeyOf({ earlier }),
      routeKeyOf({ earlier: { ...earlier, leftOut: 1 } }),
      routeKeyOf({ earlier: { ...earlier, messages: [{ from: "assistant", text: "Hello" }] } }),
      ...others.map(over => routeKeyOf({}, over)),
      routeKeyOf({ scenario: "Another." }),
      routeKeyOf({ userInput: "What?" }),
      routeKeyOf({ redacted: ["email"] }),
    ];
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) assert.match(key, /^[\da-f]{64}$/);
  });

  test("is the same for the same conversation in another trace, and hashes a conversation once for all criteria", () => {
    const elsewhere = { ...material, items: material.items.map(item => ({ ...item, spanId: "other" })) };
    assert.equal(keyOf({ material: elsewhere }), keyOf({ material }));
    const spaced = withItem(0, { text: " Hello\u200b " });
    assert.equal(keyOf({ material: spaced }), keyOf({ material }));
    let reads = 0;
    const watched: Material = {
      ...material,
      get items() {
        reads++;
        return material.items;
      },
    };
    for (const criterion of ["One.", "Two.", "Three."]) keyOf({ criterion, material: watched });
    assert.equal(reads, 1);
  });

  const plain = (text: string) => stripInvisible(text).normalize("NFC").replace(/\s+/g, " ").trim();
  const texts = fc
    .array(fc.constantFrom("a", "é", "e\u0301", " ", "  ", "\n", "\t", "\u00a0", "\u200b", "\u202e"))
    .map(parts => parts.join(""));

  test("is the same for inputs that differ in spaces, in what nobody sees, or in how a letter is composed", () => {
    fc.assert(
      fc.property(texts, texts, (one, two) => {
        const same = plain(one) === plain(two);
        assert.equal(keyOf({ userInput: one }) === keyOf({ userInput: two }), same);
        assert.equal(routeKeyOf({ userInput: one }) === routeKeyOf({ userInput: two }), same);
      }),
    );
    assert.equal(keyOf({ userInput: "When\n is it?\u200b" }), keyOf({ userInput: " When is it?" }));
  });

  test("is the same for replies that differ so within their lines; their lines and indentation count", () => {
    const lines = (text: string) =>
      stripInvisible(text)
        .trim()
        .split("\n")
        .map(line => (plain(line) === "" ? "" : /^\s*/.exec(line)![0] + plain(line)))
        .join("\n");
    fc.assert(
      fc.property(texts, texts, (one, two) => {
        assert.equal(keyOf({ reply: one }) === keyOf({ reply: two }), lines(one) === lines(two));
      }),
    );
    const list = "Like this:\n1. Open it.\n  2. Close it.";
    const same = " Like\u00a0 this: \r\n1. Open\u200b it.\t\r\n  2. Close it.  \n";
    assert.equal(keyOf({ reply: same }), keyOf({ reply: list }));
    for (const other of [
      "Like this: 1. Open it. 2. Close it.",
      "Like this:\n1. Open it.\n2. Close it.",
      "Like this:\n\n1. Open it.\n  2. Close it.",
    ]) {
      assert.notEqual(keyOf({ reply: other }), keyOf({ reply: list }));
    }
  });

  test("is had of a long run of spaces as soon as of any other text", () => {
    const spaces = " ".repeat(2_000_000);
    const reply = `a${spaces}\n${spaces}b\n${spaces}\n${spaces}c`;
    assert.equal(keyOf({ reply }), keyOf({ reply: `a\n${spaces}b\n\n${spaces}c` }));
  });
});
