// Properties of redaction, on texts and traces that mix values, JSON, escapes, placeholders and anything else.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countIn } from "../../src/model/redaction.ts";
import { Work } from "../../src/redaction/work.ts";
import { openRedactor } from "../../src/redaction.ts";
import { makeBatch, makeSpan } from "../model/make-trace.ts";

const rules = {
  builtIn: ["*"],
  rules: [
    { name: "order", pattern: "ORD-\\d+" },
    { name: "word", pattern: "\\bje\\w+" },
    { name: "pair", pattern: "\\b\\d{2}" },
    { name: "line", pattern: "^x.*$", flags: "m" },
  ],
  pseudonyms: ["tenant"],
};
const pseudonymOf = (value: string) =>
  `p_${Buffer.from(value).toString("hex").slice(0, 22).padStart(22, "0")}`;
const redactor = openRedactor(rules, pseudonymOf)!;

const piece = fc.oneof(
  fc.constantFrom(
    ..."jane@example.com|+49 30 1234567|030 1234567|4111 1111 1111 1111|DE89370400440532013000|203.0.113.7|2001:db8::1".split(
      "|",
    ),
    ..."123-45-6789|password: Hunter_22x|api_key=a8f3b2c19d7e6f501234|sk-abcdefghijklmnop1234|Bearer abc123def456".split(
      "|",
    ),
    ..."⟦email⟧|⟦phone⟧|⟦secret⟧|⟦word⟧|[unchecked]|ORD-12|jenny|xyz|12|34|415-555-2671|tel|SSN|Bearer|is|x".split(
      "|",
    ),
    ..." | |-|.|:|=|/|@|+|(|)|,|\n|\\|\\n|\"|'|{|}|[|]|⟦|⟧|\\u27e6|\\u0040|0|1|99|é|密码|是|😀|\ud800".split(
      "|",
    ),
  ),
  fc.string({ maxLength: 6 }),
);
const plainText = fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join(""));
const value: fc.Arbitrary<unknown> = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    plainText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom("password", "text", "apiKey", "jane@example.com", "__proto__"),
      tie("value"),
      { maxKeys: 3 },
    ),
    tie("value").map(inner => JSON.stringify(inner)),
  ),
})).value;
const text = fc.oneof(
  plainText,
  value.map(one => JSON.stringify(one)),
  value.map(one => JSON.stringify({ text: JSON.stringify(one) })),
);

const runs = { numRuns: 1_000, seed: 1_123 };

const known = new Set([...redactor.names, "unchecked", "pseudonym"]);

test("a second pass that knows of the first changes nothing", () => {
  fc.assert(
    fc.property(text, sent => {
      const once = redactor.text(sent).text;
      assert.equal(redactor.text(once, { known }).text, once);
    }),
    runs,
  );
});

test("a text is at most twice as long and 1,000 characters more, and has the placeholders that are counted and no other", () => {
  fc.assert(
    fc.property(text, sent => {
      const { text: stored, counts } = redactor.text(sent);
      assert.ok(stored.length <= 2 * sent.length + 1_000);
      const { unchecked = 0, ...found } = countIn(stored, [...known]);
      const { unchecked: left = 0, ...expected } = counts;
      assert.ok(unchecked >= left);
      if (!sent.includes("\\")) assert.deepEqual({ ...found }, { ...expected });
    }),
    runs,
  );
});

test("outside the placeholders no character changes, but for brackets of those that came with the text", () => {
  fc.assert(
    fc.property(text, sent => {
      const stored = redactor.text(sent).text;
      if (stored === "[unchecked]") return;
      let at = 0;
      const plain = (any: string) => any.replace(/\\+u27e6|⟦/gi, "[").replaceAll("⟧", "]");
      for (const kept of stored.split(/⟦[a-z0-9_-]{1,32}⟧/)) {
        at = plain(sent).indexOf(plain(kept), at);
        assert.notEqual(at, -1);
        at += plain(kept).length;
      }
    }),
    runs,
  );
});

test("JSON stays JSON with the same keys, numbers and structure", () => {
  const shapeOf = (any: unknown): unknown => {
    if (typeof any === "string") return "";
    if (Array.isArray(any)) return any.map(shapeOf);
    if (typeof any !== "object" || any === null) return any;
    return Object.entries(any).map(([key, inner]) => [key, shapeOf(inner)]);
  };
  fc.assert(
    fc.property(value, sent => {
      const stored = redactor.text(JSON.stringify(sent)).text;
      if (typeof sent === "object") assert.deepEqual(shapeOf(JSON.parse(stored)), shapeOf(sent));
    }),
    runs,
  );
});

const spans = fc
  .uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 5 })
  .chain(ids =>
    fc.tuple(
      ...ids.map(id =>
        fc
          .dictionary(
            fc.constantFrom("user.id", "tenant", "gen_ai.prompt", "db.password", "__proto__"),
            value,
          )
          .map(attributes => makeSpan(String(id), { attributes, events: [{ name: "e", attributes }] })),
      ),
    ),
  );

test("the same trace gives the same twice, is never changed itself, and a second pass finds nothing", () => {
  fc.assert(
    fc.property(spans, sent => {
      const batch = makeBatch(sent);
      const before = JSON.stringify(batch);
      const first = redactor.batch(batch);
      assert.equal(JSON.stringify(batch), before);
      assert.deepEqual(redactor.batch(batch), first);
      const again = redactor.batch(first.value, { known });
      assert.equal(again.value, first.value);
      assert.deepEqual({ ...again.counts }, {});
    }),
    { numRuns: 200, seed: 1_123 },
  );
});

test("the order of spans has no effect, also where the work does not suffice", () => {
  fc.assert(
    fc.property(spans, fc.integer({ min: 0, max: 5_000 }), (sent, max) => {
      const forth = redactor.batch(makeBatch(sent), { work: new Work(max) });
      const back = redactor.batch(makeBatch(sent.toReversed()), { work: new Work(max) });
      assert.deepEqual(back.value.spans.toReversed(), forth.value.spans);
      assert.deepEqual(back.counts, forth.counts);
    }),
    { numRuns: 200, seed: 1_123 },
  );
});
