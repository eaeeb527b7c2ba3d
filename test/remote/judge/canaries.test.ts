// The questions with a known answer: unguessable, varied, and never true or false by chance.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  canaryKindOf,
  criterionCanaries,
  drawFrom,
  scenarioCanaries,
} from "../../../src/remote/judge/canaries.ts";

for (const [name, canaries] of [
  ["criteria", criterionCanaries],
  ["scenarios", scenarioCanaries],
] as const) {
  suite(`${name} with a known answer`, () => {
    const drawn = Array.from({ length: 2_000 }, (_, at) => canaries(["A reply."], drawFrom(`seed ${at}`)));

    test("are one of each kind, and told by their wording", () => {
      for (const pair of drawn) {
        assert.deepEqual(
          pair.map(({ kind }) => kind),
          ["always", "never"],
        );
        for (const { kind, text } of pair) assert.equal(canaryKindOf(text), kind, text);
      }
    });

    test("have many wordings, and a code that is hardly ever the same", () => {
      const texts = drawn.flat().map(({ text }) => text);
      const wordings = new Set(texts.map(text => text.replace(/[A-Z]{2}-\d{4}/, "#")));
      assert.ok(wordings.size >= 150, `${wordings.size} wordings`);
      assert.ok(new Set(texts.map(text => text.match(/[A-Z]{2}-\d{4}/)![0])).size > 3_900);
    });

    test("have no code that the text contains, in any case", () => {
      const codes = drawn.flat().map(({ text }) => text.match(/[A-Z]{2}-\d{4}/)![0]);
      const hostile = codes.join(" ").toLowerCase();
      for (let at = 0; at < 100; at++) {
        for (const { text } of canaries([hostile], drawFrom(`seed ${at}`))) {
          assert.ok(!hostile.includes(text.match(/[A-Z]{2}-\d{4}/)![0].toLowerCase()));
        }
      }
    });

    test("are the same for the same seed", () => {
      assert.deepEqual(canaries(["A reply."], drawFrom("seed 7")), drawn[7]);
    });
  });
}

suite("other criteria and scenarios", () => {
  for (const text of [
    "Says where the parcel is.",
    "The reply mentions ticket 12.",
    "The user writes about an order.",
  ]) {
    test(`are not taken for one: ${text}`, () => assert.equal(canaryKindOf(text), undefined));
  }
});
