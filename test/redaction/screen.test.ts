// What is seen to be clean from the bytes of a text is clean, whatever the text and its JSON are; and most of what people say is.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hostile, proseOf } from "../../bench/redaction/hostile.ts";
import { labeledSet } from "../../bench/redaction/set.ts";
import { contentsOf } from "../../bench/shapes.ts";
import { builtInRules } from "../../src/model/redaction.ts";
import { Screen } from "../../src/redaction/screen.ts";
import { openRedactor } from "../../src/redaction.ts";
import { canaries } from "../support/canaries.ts";

const redactorOf = (builtIn: readonly string[]) =>
  openRedactor({ builtIn, rules: [], pseudonyms: [] }, String)!;
const all = { screen: new Screen(builtInRules), redactor: redactorOf(builtInRules) };
const alone = builtInRules.map(rule => ({ screen: new Screen([rule]), redactor: redactorOf([rule]) }));

/** As protobuf has a text, and as JSON does; beside them stands what would change what is found. */
function isSeenClean(screen: Screen, text: string): [boolean, boolean] {
  const [plain, json] = [text, JSON.stringify(text).slice(1, -1)].map(form => {
    const bytes = Buffer.from(`7@${form}@7`);
    return screen.isClean(bytes, 2, bytes.length - 2);
  });
  return [plain!, json!];
}

function checkScreens(text: string): void {
  for (const { screen, redactor } of [all, ...alone]) {
    if (isSeenClean(screen, text).includes(true)) {
      // As bytes have it: a half of a pair is none.
      const asBytes = Buffer.from(text).toString();
      assert.equal(redactor.text(asBytes).text, asBytes);
      assert.equal(redactor.text(text).text, text);
    }
  }
}

const nested = (text: string): string[] => [
  text,
  `\n${text}\t`,
  JSON.stringify({ role: "user", content: text }),
  JSON.stringify({ role: "user", content: text }).replaceAll("/", "\\/"),
  JSON.stringify([JSON.stringify({ a: [text, 1] })]),
  JSON.stringify([JSON.stringify({ a: [JSON.stringify([text])] })]).slice(0, -3),
];

test("no value of the labeled set and no canary is seen to be clean, in JSON in JSON or cut off either", () => {
  const values = labeledSet().map(({ text }) => text);
  for (const text of [...values, ...canaries.map(({ said }) => said)]) nested(text).forEach(checkScreens);
});

test("nor is what was made to be slow, and what a key says", () => {
  for (const make of Object.values(hostile)) nested(make(400)).forEach(checkScreens);
  const secret = "Hunter_22x";
  const keys = [
    "password",
    "apiKey",
    "x-api-key",
    "db.pwd",
    `${"a".repeat(56)}password${"b".repeat(9)}`,
    "mdp",
  ];
  for (const key of keys) {
    for (const between of ['":"', '" : "', '"\n:\r\n"', '":["', '": [1, "', '":{"a":1},"token":"']) {
      for (const text of nested(`{"${key}${between}${secret}"`)) checkScreens(text);
    }
    assert.deepEqual(isSeenClean(all.screen, `{"${key}":"${secret}"}`), [false, false], key);
  }
});

test("nor is what digits and signs of full width are a part of", () => {
  const texts = [
    "Call (041)971-84, or 031-52１-790",
    "065１２３４－５６７８",
    ".2.1＠8L.EXAMPLE",
    "12 （1＠example.com",
    "pin 1-2：Hunter_22x",
  ];
  for (const text of texts) nested(text).forEach(checkScreens);
  assert.deepEqual(isSeenClean(all.screen, texts[0]!), [false, false]);
});

const piece = fc.oneof(
  fc.constantFrom(
    ..."jane@example.com|030 1234567|4111 1111 1111 1111|DE89370400440532013000|203.0.113.7|2001:db8::1|123-45-6789".split(
      "|",
    ),
    ..."Hunter_22x|a8f3b2c19d7e6f501234|sk-abcdefghijklmnop1234|Bearer abc123def456|AKIAIOSFODNN7EXAMPLE".split(
      "|",
    ),
    ..."password|pwd|api_key|token|Authorization|is|was|response|order|note|tel|SSN|Basic|basically|task-|risk-".split(
      "|",
    ),
    ..."2024-07-18|2024-07-1|2024-07-18 10|+2024-07-18|(2024-07-18 )".split("|"),
    ..." | |-|.|:|::|=|/|\\/|@|＠|：|+|(|)|,|\n|\r|\t|\b|\f|\\|\\n|\\b|\"|'|{|}|[|]|\\u0040|0|1|42|12345|٣|é|Ī|密码|是|😀|\ud800|１|０|－|（|\u2009|\u00a0".split(
      "|",
    ),
  ),
  fc.string({ maxLength: 6 }),
);
const text = fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join(""));

test("nothing is seen to be clean in which something is found, however texts are put together", () => {
  fc.assert(
    fc.property(text, fc.nat({ max: 5 }), (made, form) => checkScreens(nested(made)[form]!)),
    { numRuns: 5_000, seed: 1_123 },
  );
});

test("what conversations mostly say is seen to be clean", () => {
  const said = [
    "Where is my order 1042? It's been 3 days, and I paid 49.90.",
    "Your order ships tomorrow: see https://example.com/orders?id=1042&lang=en#top (2 parcels).",
    "It is of 2024-07-18, or of 2024-07-18 10:30, as 2024-07-18T10:30:00Z says.",
    "1. Open Settings\n2. Choose Privacy\n\n- [ ] done: 50 % of it, at 10:30",
    "I said: basically the task-based well-known std::vector is a bearer of risk_2.",
    "Das kostet 12,50 €; bitte antworten Sie bis Freitag. Привет, ваш заказ 1042 готов. 您好，订单1042已发货。",
    '{"status":"packed","response":{"note":"gpt-4o-mini","items":[1,2,30]},"order":1042,"tokens":4096}',
  ];
  for (const one of said) assert.deepEqual(isSeenClean(all.screen, one), [true, true], one);
  for (const shape of ["documented", "openinference", "openllmetry"] as const) {
    for (const { attributes } of contentsOf(shape).spans) {
      for (const value of Object.values(attributes)) {
        if (typeof value === "string") assert.deepEqual(isSeenClean(all.screen, value), [true, true], value);
      }
    }
  }
});

test("no text makes it read more than 20 bytes for each of its own", () => {
  for (const [name, make] of Object.entries({ ...hostile, prose: proseOf })) {
    for (const made of nested(make(5_000)).slice(0, 5)) {
      let reads = 0;
      const bytes = new Proxy(Buffer.from(made), {
        get(target, at) {
          reads++;
          return Reflect.get(target, at, target);
        },
      });
      all.screen.isClean(bytes, 0, Buffer.byteLength(made));
      assert.ok(reads <= 20 * Buffer.byteLength(made), `${name}: ${reads} of ${Buffer.byteLength(made)}`);
    }
  }
});
