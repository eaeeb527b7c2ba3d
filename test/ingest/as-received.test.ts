// A request that is stored as it arrived reads like one that was decoded and encoded again.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { differenceAsReceived, isAsReceived } from "../../fuzz/as-received.ts";
import { Mutants } from "../../fuzz/mutant.ts";
import { type PreparedBatch, prepareBody, type Readers } from "../../src/ingest/prepare.ts";
import type { ReadBy } from "../../src/model/conventions/read-by.ts";
import { JsonProbe } from "../../src/model/erasure/escaped-text.ts";
import { findInBatch } from "../../src/model/erasure/find-in-batch.ts";
import { readBatch, scan } from "../../src/wire/batch.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import { encodings, exportedSpan, exportOf } from "../support/bodies.ts";
import { field } from "../wire/encode-otlp.ts";
import { resourceSpans, traceId } from "../wire/make-body.ts";

const folder = new URL("../fixtures/otlp/", import.meta.url);
const recorded = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter(path => /\.pb(\.gz)?$/.test(path) && !path.includes(".logs."))
  .map(path => {
    const bytes = readFileSync(new URL(path, folder));
    return { path, body: path.endsWith(".gz") ? gunzipSync(bytes) : bytes };
  });

const byNothing: ReadBy = { conventions: [], conventionRules: [] };
const byAll: ReadBy = { conventions: ["*"], conventionRules: [{ from: "my.user", to: "user.id" }] };

const serviceOf = (body: Buffer): string | null => {
  const prepared = prepareBody(body, "protobuf", decodeLimits);
  return prepared.path === "otlp" ? prepared.groups[0]!.serviceName : null;
};
const readersFor = (body: Buffer, by: ReadBy, more: object = {}): Readers => ({
  agents: [{ agentId: "a", serviceName: serviceOf(body), ...by, ...more }],
  only: null,
});

function batchOf(body: Buffer, readers: Readers | null = null): PreparedBatch {
  const prepared = prepareBody(body, "protobuf", decodeLimits, readers);
  assert.ok(prepared.path === "otlp");
  const [group] = prepared.groups;
  assert.ok(group && "batch" in group);
  return group.batch;
}

test("what exporters sent of one trace is stored as it arrived, and reads the same", () => {
  let received = 0;
  for (const { path, body } of recorded) {
    const difference = differenceAsReceived(body, null);
    if (difference === undefined) continue;
    received++;
    assert.equal(difference, null, path);
    assert.equal(differenceAsReceived(body, readersFor(body, byAll)), null, `${path}, read by conventions`);
  }
  assert.ok(received >= 40, `${received} of ${recorded.length}`);
});

test("so do mutants of it", () => {
  const mutants = new Mutants();
  let received = 0;
  for (let number = 0; number < 1_500; number++) {
    const { body, endpoint, from } = mutants.make("protobuf", 7, number);
    if (endpoint !== "traces") continue;
    try {
      const difference = differenceAsReceived(body, null);
      if (difference === undefined) continue;
      received++;
      assert.equal(difference, null, `${from}, mutant ${number}`);
    } catch (error) {
      if ((error as { name?: string }).name !== "Refusal") throw error;
    }
  }
  // Most mutants are no longer as exporters write.
  assert.ok(received > 40, `${received}`);
});

const attribute = (key: string, value: object) => ({ key, value });
const text = (key: string, stringValue: string) => attribute(key, { stringValue });

const values = [
  text("a", "\0 é 🙂 \u2028"),
  text("__proto__", "own"),
  text("1000", "index"),
  text("", "empty key"),
  attribute("int", { intValue: "9007199254740993" }),
  attribute("negative", { intValue: "-1" }),
  attribute("double", { doubleValue: 0.1 }),
  attribute("bool", { boolValue: true }),
  attribute("bytes", { bytesValue: "AQID" }),
  attribute("list", { arrayValue: { values: [{ stringValue: "x" }, { intValue: "1" }, {}] } }),
  attribute("map", { kvlistValue: { values: [text("k", "v"), text("l", "w")] } }),
  attribute("null", {}),
];

test("every kind of value, event, link and status reads the same", () => {
  const span = exportedSpan({
    attributes: values,
    traceState: "a=b",
    flags: 1,
    kind: 3,
    droppedAttributesCount: 2,
    events: [{ name: "e", timeUnixNano: "1", attributes: values, droppedAttributesCount: 1 }],
    links: [{ traceId: "1bf7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", attributes: values }],
    status: { code: 2, message: "failed" },
  });
  const { body } = encodings.protobuf(exportOf([span]));
  assert.equal(differenceAsReceived(body, null), null);
});

const plainSpan = () => exportedSpan({ attributes: [text("gen_ai.prompt", "hi")] });

test("what says more than its spans do is encoded again, so that nothing is stored that nobody can see", () => {
  const twice = plainSpan();
  const requests: [string, object][] = [
    ["a key twice", exportOf([exportedSpan({ attributes: [text("a", "gone"), text("a", "kept")] })])],
    [
      "a key twice in a value",
      exportOf([
        exportedSpan({
          attributes: [attribute("m", { kvlistValue: { values: [text("a", "gone"), text("a", "kept")] } })],
        }),
      ]),
    ],
    ["a span twice", exportOf([twice, twice])],
    ["two traces", exportOf([plainSpan(), exportedSpan({ traceId: "1bf7651916cd43dd8448eb211c80319c" })])],
    [
      "two resources",
      { resourceSpans: [resourceSpans("agent", [plainSpan()]), resourceSpans("agent", [exportedSpan()])] },
    ],
    ["an invalid link", exportOf([exportedSpan({ links: [{ traceId: "00", spanId: "00" }] })])],
  ];
  for (const [what, request] of requests) {
    const { body } = encodings.protobuf(request);
    assert.equal(isAsReceived(batchOf(body)), false, what);
  }
  const { body } = encodings.protobuf(exportOf([plainSpan()]));
  assert.equal(isAsReceived(batchOf(body)), true);
  const unknown = Buffer.concat([body, field(99, "unknown")]);
  assert.equal(isAsReceived(batchOf(unknown)), false, "an unknown field");
});

test("a request is encoded again if the settings of its agent change it", () => {
  const { body } = encodings.protobuf(exportOf([plainSpan()]));
  const attributes = { deny: [], allow: null };
  const settings: [string, boolean, Readers][] = [
    ["keeps all", true, readersFor(body, byNothing, { intake: { content: "keep", attributes } })],
    ["drops it later", true, readersFor(body, byNothing, { intake: { content: "forget", attributes } })],
    ["no content", false, readersFor(body, byNothing, { intake: { content: "none", attributes } })],
    [
      "a denied attribute",
      false,
      readersFor(body, byNothing, { intake: { content: "keep", attributes: { deny: ["x"], allow: null } } }),
    ],
  ];
  for (const [what, isReceived, readers] of settings) {
    assert.equal(isAsReceived(batchOf(body, readers)), isReceived, what);
  }
});

test("a request whose spans repeat much, or that is large, is encoded again", () => {
  const scoped = (scopeBytes: number) => {
    const spans = Array.from({ length: 20 }, () => exportedSpan({ traceId }));
    const resource = { attributes: [text("service.name", "agent")] };
    const scopeSpans = [{ scope: { name: "x".repeat(scopeBytes) }, spans }];
    return encodings.protobuf({ resourceSpans: [{ resource, scopeSpans }] }).body;
  };
  assert.equal(isAsReceived(batchOf(scoped(10))), true);
  assert.equal(isAsReceived(batchOf(scoped(10_000))), false);
  const long = (length: number) =>
    encodings.protobuf(exportOf([exportedSpan({ attributes: [text("a", "x".repeat(length))] })])).body;
  assert.equal(isAsReceived(batchOf(long(200_000))), true);
  assert.equal(isAsReceived(batchOf(long(300_000))), false);
});

test("the same request is stored as the same bytes, and as many as its length says", () => {
  const { body } = encodings.protobuf(exportOf([plainSpan()]));
  const [one, other] = [batchOf(body), batchOf(Buffer.from(body))];
  assert.deepEqual(one.bytes, other.bytes);
  assert.equal(one.rawLength, body.length);
  assert.equal(readBatch(scan(one.bytes)).spans.length, 1);
});

/** Parts of every text, key and number in a value. */
function* partsIn(value: unknown): Generator<string> {
  if (typeof value === "string") {
    for (const [from, to] of [
      [0, 12],
      [3, 9],
      [0, 60],
      [-8, undefined],
    ] as const)
      yield value.slice(from, to);
  } else if (typeof value === "number") yield String(value);
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield key;
      yield* partsIn(item);
    }
  }
}

test("the first look of an erasure misses no text, key, number or bytes in a request", () => {
  const special = [
    attribute("bytes", { bytesValue: Buffer.from("secret bytes").toString("base64") }),
    attribute("int", { intValue: "491701234567" }),
    attribute("double", { doubleValue: Number.POSITIVE_INFINITY }),
    text("quoted", 'say "hi" \\ there'),
    text("nested", JSON.stringify({ name: "Zoë", code: "\u0041\u00e9" })),
    text("escaped", '{"name":"\\u0041lice Smith"}'),
  ];
  const made = encodings.protobuf(exportOf([exportedSpan({ attributes: special })])).body;
  let found = 0;
  for (const body of [made, ...recorded.map(one => one.body)]) {
    const bytes = batchOrNull(body);
    const stored = bytes && scan(bytes);
    if (!stored?.received) continue;
    const batch = readBatch(stored);
    const values = new Set([...partsIn(batch.spans), ...partsIn(batch.resource), "Alice Smith", "Zoë"]);
    for (const value of [...values].filter(isSearched).slice(0, 400)) {
      if (!findInBatch(batch, { text: { values: [value], wholeWords: false } })) continue;
      found++;
      assert.ok(new JsonProbe([value]).mayBeIn(stored.text), JSON.stringify(value));
    }
  }
  assert.ok(found > 2_000, `${found}`);
  const rare = ["Ada Lovelace", "ada@example.org", "Übermut und Ärger"];
  const { body } = encodings.protobuf(exportOf([plainSpan()]));
  assert.ok(!new JsonProbe(rare).mayBeIn(body), "it rules out what is not there");
});

const isSearched = (value: string) => value.trim() !== "" && value.isWellFormed();

function batchOrNull(body: Buffer): Buffer | null {
  const prepared = prepareBody(body, "protobuf", decodeLimits);
  const [group] = prepared.path === "otlp" ? prepared.groups : [];
  return group && "batch" in group ? group.batch.bytes : null;
}
