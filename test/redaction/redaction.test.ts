// What redaction changes in texts and traces, rule by rule, and what it leaves.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { ownRuleIssues } from "../../src/redaction/own-rules.ts";
import type { FoundValues } from "../../src/redaction/walk.ts";
import { Work } from "../../src/redaction/work.ts";
import { openRedactor, type Redactor } from "../../src/redaction.ts";
import { makeBatch, makeSpan } from "../model/make-trace.ts";

const pseudonymOf = (value: string) =>
  `p_${Buffer.from(value).toString("hex").slice(0, 22).padStart(22, "0")}`;
const open = (rules: Partial<Parameters<typeof openRedactor>[0]>): Redactor =>
  openRedactor({ builtIn: [], rules: [], pseudonyms: [], ...rules }, pseudonymOf)!;
const all = open({ builtIn: ["*"] });

const texts: [sent: string, stored: string][] = [
  ["Write to jane.doe+x@mail.example.co.uk.", "Write to ⟦email⟧."],
  ["logo@2x.png and react@18.2.0", "logo@2x.png and react@18.2.0"],
  ["+49 (0)30 123456 or (415) 555-2671", "⟦phone⟧ or ⟦phone⟧"],
  ["Order 4155552671 of 2024-01-15", "Order 4155552671 of 2024-01-15"],
  ["4111 1111 1111 1111", "⟦card⟧"],
  ["4111 1111 1111 1112", "4111 1111 1111 1112"],
  ["DE89 3704 0044 0532 0130 00", "⟦iban⟧"],
  ["DE88370400440532013000", "DE88370400440532013000"],
  ["IBAN DE88 3704 0044 0532 0130 00", "IBAN DE88 3704 0044 0532 0130 00"],
  ["FR14 2004 1010 0505 0001 3M02 607", "FR14 2004 1010 0505 0001 3M02 607"],
  ["203.0.113.7:80, 2001:db8::1", "⟦ip⟧:80, ⟦ip⟧"],
  ["v1.2.3.4 at 12:30:45", "v1.2.3.4 at 12:30:45"],
  ["SSN 123-45-6789", "SSN ⟦ssn⟧"],
  ["key sk-abcdefghijklmnop1234", "key ⟦secret⟧"],
  ["AKIAIOSFODNN7EXAMPLE", "⟦secret⟧"],
  ["Authorization: Bearer abc123def456", "Authorization: Bearer ⟦secret⟧"],
  [`svc_${"a1".repeat(20)}`, "⟦secret⟧"],
  ["-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----", "⟦secret⟧"],
  ["password: Hunter_22x", "password: ⟦secret⟧"],
  ["max_tokens: 4096, password: required", "max_tokens: 4096, password: required"],
  ["[email] and ⟦ip", "[email] and ⟦ip"],
];

for (const [sent, stored] of texts) {
  test(`${JSON.stringify(sent)} is stored as ${JSON.stringify(stored)}`, () => {
    assert.equal(all.text(sent).text, stored);
  });
}

test("without a rule there is no redactor", () => {
  assert.equal(openRedactor({ builtIn: [], rules: [], pseudonyms: [] }, pseudonymOf), undefined);
});

test("a secret of any length goes as a whole, in text and under a key that says so", () => {
  const value = createHash("sha256").update("any").digest("hex").repeat(1_500);
  const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJ${value}.${value}`;
  const pem = `-----BEGIN PRIVATE KEY-----\n${`${value.slice(0, 64)}\n`.repeat(250)}-----END PRIVATE KEY-----`;
  const long: [sent: string, stored: string][] = [
    [`password: ${value} and more`, "password: ⟦secret⟧ and more"],
    ["token=1a".repeat(1_000), "token=⟦secret⟧"],
    [`api_key="${value}".`, 'api_key="⟦secret⟧".'],
    [`Bearer ${value}`, "Bearer ⟦secret⟧"],
    [`see ${jwt} there`, "see ⟦secret⟧ there"],
    [`is ${pem} kept`, "is ⟦secret⟧ kept"],
  ];
  for (const [sent, stored] of long) {
    const { text } = all.text(sent);
    assert.ok(
      text === stored,
      `${sent.slice(0, 40)}… is stored as ${text.slice(0, 60)}…, ${text.length} long`,
    );
  }
  const { value: batch } = all.batch(makeBatch([makeSpan("a", { attributes: { "db.password": value } })]));
  assert.ok(batch.spans[0]!.attributes["db.password"] === "⟦secret⟧");
});

test("JSON in text is followed five levels deep, decoded, and only places in it change", () => {
  let text = "jane\\u0040example.com";
  text = `{ "a":  "${text}" , "n": 4111111111111111 }`;
  assert.equal(all.text(text).text, '{ "a":  "⟦email⟧" , "n": 4111111111111111 }');
  let nested: string = JSON.stringify({ mail: "line\njane@example.com" });
  for (let level = 1; level < 5; level++) nested = JSON.stringify([nested]);
  let stored: unknown = all.text(nested).text;
  for (let level = 1; level < 5; level++) stored = (JSON.parse(stored as string) as string[])[0];
  assert.equal(stored, '{"mail":"line\\n⟦email⟧"}');
});

test("a text that arrives reading like a placeholder has brackets in its place, and one of an earlier redaction stays", () => {
  const arriving: [sent: string, stored: string][] = [
    ["⟦email⟧ and ⟦Any⟧ and ⟦a⟦x-1⟧", "[email] and ⟦Any⟧ and ⟦a[x-1]"],
    ['{ "a": "\\u27e6ip\\u27E7\\n", "⟦ip⟧" : "⟦" }', '{ "a": "[ip]\\n", "⟦ip⟧" : "⟦" }'],
    [JSON.stringify({ a: '{"b":"\\u27e6\\u0069p⟧"}' }), JSON.stringify({ a: '{"b":"[\\u0069p]"}' })],
    ["⟦jane@example.com⟧", "⟦⟦email⟧⟧"],
    ["⟦em", "⟦em"],
    ["\ud800⟦ip⟧\udc00", "\ud800[ip]\udc00"],
  ];
  for (const [sent, stored] of arriving) {
    assert.equal(all.text(sent).text, stored);
    assert.deepEqual({ ...all.text(sent).counts }, sent.includes("@") ? { email: 1 } : {});
  }
  assert.equal(all.text("⟦secret⟧Bearer abc123def456").text, "[secret]Bearer ⟦secret⟧");
  const brackets = open({ rules: [{ name: "any", pattern: "[⟦⟧\\[]" }] });
  assert.equal(brackets.text("⟦email⟧⟦").text, "⟦any⟧email]⟦any⟧");
  const within = open({ rules: [{ name: "own", pattern: "mail" }] });
  assert.equal(within.text("⟦email⟧").text, "[e⟦own⟧]");
  const known = new Set(["email"]);
  assert.equal(all.text("a⟦email⟧ ⟦ip⟧ jane@example.com", { known }).text, "a⟦email⟧ [ip] ⟦email⟧");
  assert.equal(within.text("⟦email⟧", { known }).text, "⟦email⟧");
});

test("the longest match goes first, and a built-in rule before an own one of the same length", () => {
  const redactor = open({
    builtIn: ["email"],
    rules: [
      { name: "same", pattern: "jane@example\\.com" },
      { name: "host", pattern: "example\\.com" },
      { name: "long", pattern: "from joe@\\S+" },
    ],
  });
  assert.equal(redactor.text("jane@example.com").text, "⟦email⟧");
  assert.equal(redactor.text("from joe@example.com").text, "⟦long⟧");
  assert.equal(redactor.text("see example.com").text, "see ⟦host⟧");
});

test("texts change in every part of a span, and ids, names, times, numbers and service.name stay", () => {
  const mail = "jane@example.com";
  const batch = makeBatch(
    [
      makeSpan(mail, {
        attributes: { [mail]: mail, n: 4111111111111111, list: ["x", { deep: mail }] },
        events: [{ name: mail, time_unix_nano: "1", attributes: { "exception.message": mail } }],
        status: { code: 2, message: mail },
        scope: { name: mail, attributes: { a: mail } },
        links: [{ trace_id: "a", span_id: "b", attributes: { a: mail } }],
      }),
    ],
    { resource: { "service.name": mail, host: mail }, metadata: { note: mail } },
  );
  const found: FoundValues[] = [];
  const { value, counts } = all.batch(batch, { onFound: one => found.push(one) });
  const stored = "⟦email⟧";
  assert.deepEqual(value.spans[0], {
    ...makeSpan(mail),
    attributes: { [mail]: stored, n: 4111111111111111, list: ["x", { deep: stored }] },
    events: [{ name: mail, time_unix_nano: "1", attributes: { "exception.message": stored } }],
    status: { code: 2, message: stored },
    scope: { name: mail, attributes: { a: stored } },
    links: [{ trace_id: "a", span_id: "b", attributes: { a: stored } }],
  });
  assert.deepEqual(value.resource, { "service.name": mail, host: stored });
  assert.deepEqual(value.metadata, { note: stored });
  assert.deepEqual(
    found.map(one => [one.in, one.path]),
    [
      ["resource", "host"],
      ["metadata", "note"],
      ["attributes", mail],
      ["attributes", "list[1].deep"],
      ["events", '[0].attributes["exception.message"]'],
      ["status", "message"],
      ["scope", "a"],
      ["attributes", "links[0].attributes.a"],
    ],
  );
  assert.deepEqual(found[0], { spanId: null, in: "resource", path: "host", rule: "email", count: 1 });
  assert.deepEqual({ ...counts }, { email: 8 });
});

test("log records change in body and attributes", () => {
  const record = {
    event_name: "e",
    time_unix_nano: "1",
    body: { content: "jane@example.com" },
    attributes: { "user.id": "a@b.de" },
  };
  const logRecords = { spanId: "s", records: [record] };
  const { value, counts } = all.batch({ ...makeBatch([]), logRecords });
  assert.deepEqual(value.logRecords!.records, [
    { ...record, body: { content: "⟦email⟧" }, attributes: { "user.id": pseudonymOf("a@b.de") } },
  ]);
  assert.deepEqual({ ...counts }, { email: 1, pseudonym: 1 });
});

test("ids in which a rule finds something become pseudonyms, the same under every preset's key; others stay", () => {
  const id = "jane@example.com";
  const keys = ["user.id", "langfuse.user.id", "session.id", "ai.telemetry.metadata.userId"];
  const sent = makeSpan("a", {
    attributes: { ...Object.fromEntries(keys.map(key => [key, id])), "enduser.id": "u-1" },
  });
  const { attributes } = all.batch(makeBatch([sent])).value.spans[0]!;
  for (const key of keys) assert.equal(attributes[key], pseudonymOf(id));
  assert.equal(attributes["enduser.id"], "u-1");
  const inJson = makeSpan("a", { attributes: { metadata: JSON.stringify({ user_id: id, n: id }) } });
  const { metadata } = all.batch(makeBatch([inJson])).value.spans[0]!.attributes;
  assert.deepEqual(JSON.parse(metadata as string), { user_id: pseudonymOf(id), n: "⟦email⟧" });
});

test("an id that only begins like a pseudonym becomes one, and a pseudonym stays", () => {
  const redactor = open({ pseudonyms: ["user.id"] });
  const userOf = (id: string) => redactor.resource({ "user.id": id }).value["user.id"];
  for (const id of ["p_12345678", "p_jane-doe-of-example-inc"]) assert.equal(userOf(id), pseudonymOf(id));
  assert.equal(userOf(pseudonymOf("u-1")), pseudonymOf("u-1"));
});

test("every value of a listed attribute becomes a pseudonym, numbers and the other names of the same id, too", () => {
  const redactor = open({ pseudonyms: ["user.id", "tenant"] });
  const attributes = { "user.id": "u-1", "langfuse.user.id": "u-1", tenant: 7, other: "u-1" };
  const { value, counts } = redactor.resource(attributes);
  const [user, tenant] = [pseudonymOf("u-1"), pseudonymOf("7")];
  assert.deepEqual(value, { "user.id": user, "langfuse.user.id": user, tenant, other: "u-1" });
  assert.deepEqual({ ...counts }, { pseudonym: 3 });
});

test("a number that is an ID in JSON in a text becomes the same pseudonym as elsewhere, and the rest of the text stays", () => {
  const redactor = open({ pseudonyms: ["user.id"] });
  const metadata =
    '{ "n": 12345, "user_id" : 12345 ,"session_id":12345, "deep": {"user_id": 12345}, "é": [1] }';
  const attributes = { "user.id": 12345, metadata };
  const { value, counts } = redactor.resource(attributes);
  const user = pseudonymOf("12345");
  const stored = metadata.replace('"user_id" : 12345', `"user_id" : "${user}"`);
  assert.deepEqual(value, { "user.id": user, metadata: stored });
  assert.deepEqual({ ...counts }, { pseudonym: 2 });
  const again = redactor.resource({ metadata: stored });
  assert.deepEqual([again.value, { ...again.counts }], [{ metadata: stored }, {}]);
  const found = open({ builtIn: ["card"] });
  const card = { metadata: '{"user_id": 4111111111111111}' };
  assert.deepEqual(found.resource(card).value, card);
});

test("a text for which the work does not suffice is stored as [unchecked], and counted", () => {
  const stored = all.text("jane@example.com", { work: new Work(10) });
  assert.deepEqual(stored, { text: "[unchecked]", counts: { unchecked: 1 } });
});

test("a text that would grow without bound is stored as [unchecked]", () => {
  const redactor = open({ rules: [{ name: "a".repeat(32), pattern: "x" }] });
  assert.equal(redactor.text("x ".repeat(1_000)).text, "[unchecked]");
});

test("a pattern that looks at all of the text for each of its matches ends in time", () => {
  const redactor = open({ rules: [{ name: "far", pattern: "a[^b]*b|a" }] });
  assert.equal(redactor.text("a".repeat(300_000), { work: new Work(40_000_000) }).text, "[unchecked]");
});

test("own rules have names and patterns that can be used, and are at most 20", () => {
  const messages = (rules: { name: string; pattern: string }[]) =>
    ownRuleIssues(rules).map(({ path }) => path);
  assert.deepEqual(messages([{ name: "order_no-1", pattern: "a" }]), []);
  for (const name of ["email", "", "A", "a b", "a".repeat(33), "unchecked"]) {
    assert.deepEqual(messages([{ name, pattern: "a" }]), ["rules[0].name"]);
  }
  assert.deepEqual(messages([{ name: "a", pattern: "(" }]), ["rules[0].pattern"]);
  assert.deepEqual(messages([{ name: "a", pattern: "(?=a)" }]), ["rules[0].pattern"]);
  assert.deepEqual(messages(Array(2).fill({ name: "a", pattern: "a" })), ["rules[1].name"]);
  assert.deepEqual(messages(Array.from({ length: 21 }, (_, at) => ({ name: `a${at}`, pattern: "a" }))), [
    "rules",
  ]);
});
