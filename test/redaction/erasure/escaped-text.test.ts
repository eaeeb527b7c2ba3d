// Finding a text across the escapes of JSON in texts, and not mistaking what is the service's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Batch } from "../../../src/model/trace/trace.ts";
import { excerptInJson, excerptOf, JsonProbe } from "../../../src/redaction/erasure/escaped-text.ts";
import { findInBatch } from "../../../src/redaction/erasure/find-in-batch.ts";
import { makeBatch, makeSpan } from "../../model/make-trace.ts";

const searchFor = (value: string, wholeWords = false) => ({ values: [value], wholeWords });

/** As encoders that escape everything but letters and digits write it. */
const escaped = (text: string) =>
  text.replace(/[^A-Za-z0-9]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const quoted = (text: string) => JSON.stringify({ text });

test("a text is found as it is, and where JSON in text escapes it at any depth", () => {
  const found: [text: string, value: string][] = [
    ["Write to jane@example.com today", "jane@example.com"],
    ['{"name":"Jos\\u00e9 \\"Pepe\\""}', 'José "Pepe"'],
    [quoted(quoted("line one\nline two")), "one\nline"],
    [`Result: ${quoted(quoted(quoted("a/b\\c")))}`, "a/b\\c"],
    ['{"mail":"jane\\u0040example.com"}', "jane@example.com"],
    ['{"path":"a\\/b\\/c"}', "a/b/c"],
    [escaped("山田 太郎"), "山田 太郎"],
    [escaped("😀 ok"), "😀 ok"],
  ];
  for (const [text, value] of found) {
    assert.ok(excerptOf(text, searchFor(value))?.includes(value.replace(/\s/g, " ")), text);
  }
  for (const [text, value] of [
    ["JANE@example.com", "jane@example.com"],
    ["jane @example.com", "jane@example.com"],
  ] as const) {
    assert.equal(excerptOf(text, searchFor(value)), null, text);
  }
});

test("an ID is found as a whole word", () => {
  const search = searchFor("user-1", true);
  for (const text of ["user-1", "by user-1.", '{"id":"user-1"}', "user-12 user-1"])
    assert.ok(excerptOf(text, search));
  for (const text of ["user-12", "superuser-1", "user-1é", "xuser-1_"])
    assert.equal(excerptOf(text, search), null);
});

test("a long text of backslashes takes time in proportion to its length", () => {
  const begun = performance.now();
  assert.equal(excerptOf("\\".repeat(4_000_000), searchFor("text")), null);
  assert.equal(excerptOf(`\\u005c${"u005c".repeat(500_000)}`, searchFor("text")), null);
  assert.ok(performance.now() - begun < 20_000);
});

test("the service's own words and short numbers in a result are not found", () => {
  const result = {
    outcome: "passed",
    type: "semantic",
    reason: "passed by Jane",
    expected: { name: "passed", min: 1 },
    evidence: [{ value: { passed: "semantic" } }],
    durationMs: 12_345,
    phone: 491_701_234_567,
  };
  assert.equal(excerptInJson(result, searchFor("passed")), "passed by Jane");
  assert.equal(excerptInJson({ outcome: "passed" }, searchFor("passed")), null);
  assert.equal(excerptInJson(result, searchFor("1234")), null);
  assert.equal(excerptInJson(result, searchFor("491701234567")), "491701234567");
});

test("a text is found in every place of a batch, and in no name that the format has", () => {
  const value = "the canary";
  const batchWith = (fields: object, more: Partial<Batch> = {}) => makeBatch([makeSpan("s", fields)], more);
  const batches: Record<string, Batch> = {
    attribute: batchWith({ attributes: { a: { b: [value] } } }),
    "attribute key": batchWith({ attributes: { [value]: 1 } }),
    name: batchWith({ name: value }),
    "span id": makeBatch([makeSpan(value)]),
    "parent id": batchWith({ parent_span_id: value }),
    status: batchWith({ status: { code: 2, message: value } }),
    "event name": batchWith({ events: [{ name: value }] }),
    "event attribute": batchWith({ events: [{ name: "e", attributes: { a: value } }] }),
    "event text": batchWith({ events: [value] }),
    "event key": batchWith({ events: [{ [value]: 1 }] }),
    link: batchWith({ links: [{ attributes: { a: value } }] }),
    "scope name": batchWith({ scope: { name: value } }),
    "scope attribute": batchWith({ scope: { attributes: { a: value } } }),
    "span resource": batchWith({ resource: { a: value } }),
    "trace state": batchWith({ trace_state: value }),
    resource: makeBatch([], { resource: { a: value } }),
    metadata: makeBatch([], { metadata: { a: value } }),
    "log body": makeBatch([], {
      logRecords: {
        spanId: "s",
        records: [{ event_name: "e", time_unix_nano: null, body: value, attributes: {} }],
      },
    }),
    "log attribute": makeBatch([], {
      logRecords: {
        spanId: "s",
        records: [{ event_name: "e", time_unix_nano: null, body: null, attributes: { a: value } }],
      },
    }),
  };
  for (const [name, batch] of Object.entries(batches)) {
    const text = searchFor(value);
    assert.ok(findInBatch(batch, { text })?.excerpt.includes(value), name);
    assert.equal(new JsonProbe([value]).mayHave(Buffer.from(JSON.stringify(batch))), true, name);
    for (const own of ["attributes", "span_id", "resource", "spans", "event_name", "logRecords", "message"]) {
      assert.equal(findInBatch(batch, { text: searchFor(own) }), null, `${own} in ${name}`);
    }
  }
});

test("whatever is searched for, at whatever depth and however escaped, the probe lets it through", () => {
  const value = fc
    .string({ unit: "grapheme", minLength: 4, maxLength: 12 })
    .filter(text => !text.includes("\0"));
  const wrap = fc.array(
    fc.constantFrom(quoted, (text: string) => `"${escaped(text)}"`),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(value, wrap, fc.string(), (text, wraps, around) => {
      const inner = wraps.reduce((nested, one) => one(nested), text);
      const batch = makeBatch([makeSpan("s", { attributes: { a: around + inner } })]);
      assert.ok(new JsonProbe([text]).mayHave(Buffer.from(JSON.stringify(batch))));
      assert.ok(findInBatch(batch, { text: searchFor(text) }));
    }),
  );
});
