// Two questions share an answer only where everything that the answer depends on is the same.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Basis, type CriterionAsk, keysOver, perText } from "../../src/judging/keys.ts";
import { visible } from "../../src/model/visible.ts";

const basis: Basis = {
  projectId: "project",
  promptVersion: "1",
  provider: "openai",
  url: null,
  model: "model",
};
const criterion: CriterionAsk = {
  criterion: "Names a day.",
  scenario: "The user asks when.",
  reference: "On Monday.",
  userInput: "When?",
  reply: "On Tuesday.",
  vote: 1,
};
const scenario = { scenario: criterion.scenario, userInput: "When?" };

const keyOf = (more: Partial<CriterionAsk> = {}, over: Partial<Basis> = {}) =>
  keysOver({ ...basis, ...over }).ofCriterion({ ...criterion, ...more });
const routeKeyOf = (more: Partial<typeof scenario> = {}, over: Partial<Basis> = {}) =>
  keysOver({ ...basis, ...over }).ofScenario({ ...scenario, ...more });

const others: Partial<Basis>[] = [
  { projectId: "another" },
  { promptVersion: "2" },
  { provider: "openai_compatible" },
  { url: "http://127.0.0.1:1/v1" },
  { model: "another" },
];

describe("the key of a question", () => {
  it("differs by whatever the answer depends on", () => {
    const { reference: _, ...bare } = criterion;
    const keys = [
      keyOf(),
      ...others.map(over => keyOf({}, over)),
      keyOf({ criterion: "Names a month." }),
      keyOf({ scenario: "Another." }),
      keyOf({ reference: "On Friday." }),
      keysOver(basis).ofCriterion(bare),
      keyOf({ userInput: "What?" }),
      keyOf({ userInput: null }),
      keyOf({ reply: "On Wednesday." }),
      keyOf({ vote: 2 }),
      // What stands in one place does not stand for the same in another.
      keyOf({ userInput: criterion.reply, reply: criterion.userInput! }),
      routeKeyOf(),
      ...others.map(over => routeKeyOf({}, over)),
      routeKeyOf({ scenario: "Another." }),
      routeKeyOf({ userInput: "What?" }),
    ];
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) assert.match(key, /^[\da-f]{64}$/);
  });

  it("is the same for texts that differ in spaces, in what nobody sees, or in how a letter is composed", () => {
    const plain = (text: string) => visible(text).normalize("NFC").replace(/\s+/g, " ").trim();
    const text = fc
      .array(fc.constantFrom("a", "é", "e\u0301", " ", "  ", "\n", "\t", "\u00a0", "\u200b", "\u202e"))
      .map(parts => parts.join(""));
    fc.assert(
      fc.property(text, text, (one, two) => {
        const same = plain(one) === plain(two);
        assert.equal(keyOf({ reply: one }) === keyOf({ reply: two }), same);
        assert.equal(routeKeyOf({ userInput: one }) === routeKeyOf({ userInput: two }), same);
      }),
    );
    assert.equal(keyOf({ reply: "On\n Tuesday.\u200b" }), keyOf({ reply: " On Tuesday." }));
  });
});

it("a text is looked through once, however many ask about it, whatever comes of it", () => {
  const looked: string[] = [];
  const said = perText(text => {
    looked.push(text);
    return text === "nothing" ? undefined : text.length;
  });
  for (const _ of [1, 2]) assert.deepEqual([said("one"), said("nothing"), said("three")], [3, undefined, 5]);
  assert.deepEqual(looked, ["one", "nothing", "three"]);
});
