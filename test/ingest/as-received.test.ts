// A request that is stored as it arrived reads like one that was decoded and encoded again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceAsReceived, isAsReceived } from "../../fuzz/as-received.ts";
import { Mutants } from "../../fuzz/mutant.ts";
import type { IntakeBy } from "../../src/ingest/intake.ts";
import { prepareAgain, prepareBody } from "../../src/ingest/prepare.ts";
import type { PreparedBatch } from "../../src/ingest/prepared.ts";
import type { Readers } from "../../src/ingest/readers.ts";
import type { ReadBy } from "../../src/model/agent/read-by.ts";
import { JsonProbe } from "../../src/redaction/erasure/escaped-text.ts";
import { findInBatch } from "../../src/redaction/erasure/find-in-batch.ts";
import { readBatch, scan } from "../../src/wire/batch.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import type { MediaType } from "../../src/wire/media-type.ts";
import { encodings, exportedSpan, exportOf } from "../support/bodies.ts";
import { recordedExports } from "../support/recorded-exports.ts";
import { field } from "../wire/encode-otlp.ts";
import { resourceSpans, traceId } from "../wire/make-body.ts";

const formats = ["json", "protobuf"] as const;
/** Most of the others have several traces, or are written for people to read. */
const expected = { json: 39, protobuf: 40 };

const byNothing: ReadBy = { conventions: [], conventionRules: [] };
const byConventions: ReadBy = { conventions: ["*"], conventionRules: [] };
const byAll: ReadBy = { conventions: ["*"], conventionRules: [{ from: "my.user", to: "user.id" }] };

const serviceOf = (body: Buffer, mediaType: MediaType): string | null => {
  const prepared = prepareBody(body, mediaType, decodeLimits);
  return prepared.path === "otlp" ? prepared.groups[0]!.serviceName : null;
};
const readersFor = (body: Buffer, mediaType: MediaType, by: ReadBy, more: object = {}): Readers => ({
  agents: [{ agentId: "a", serviceName: serviceOf(body, mediaType), ...by, ...more }],
  only: null,
});

function batchOf(body: Buffer, mediaType: MediaType, readers: Readers | null = null): PreparedBatch {
  const prepared = prepareBody(body, mediaType, decodeLimits, readers);
  assert.ok(prepared.path === "otlp");
  const [group] = prepared.groups;
  assert.ok(group && "batch" in group);
  return group.batch;
}

for (const format of formats) {
  const ofFormat = recordedExports.filter(({ mediaType }) => mediaType === format);

  test(`what exporters sent of one trace in ${format} is stored as it arrived, and reads the same`, () => {
    let received = 0;
    for (const { path, body } of ofFormat) {
      const difference = differenceAsReceived(body, format, null);
      if (difference === undefined) continue;
      received++;
      assert.equal(difference, null, path);
      for (const by of [byConventions, byAll]) {
        const readers = readersFor(body, format, by);
        assert.equal(differenceAsReceived(body, format, readers), null, `${path}, read by conventions`);
      }
    }
    assert.ok(received >= expected[format], `${received} of ${ofFormat.length}`);
  });

  test(`so do mutants of it in ${format}`, () => {
    const mutants = new Mutants();
    let received = 0;
    for (let number = 0; number < 3_000; number++) {
      const { body, endpoint, from } = mutants.make(format === "json" ? "otlp-json" : "protobuf", 7, number);
      if (endpoint !== "traces") continue;
      try {
        const difference = differenceAsReceived(body, format, null);
        if (difference === undefined) continue;
        received++;
        assert.equal(difference, null, `${from}, mutant ${number}`);
        const readers = readersFor(body, format, byConventions);
        assert.equal(differenceAsReceived(body, format, readers), null, `${from}, mutant ${number}, read`);
      } catch (error) {
        if ((error as { name?: string }).name !== "Refusal") throw error;
      }
    }
    // Most mutants are no longer as exporters write.
    assert.ok(received > 40, `${received}`);
  });
}

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
  for (const format of formats) {
    const { body } = encodings[format](exportOf([span]));
    assert.equal(differenceAsReceived(body, format, null), null, format);
  }
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
  for (const format of formats) {
    for (const [what, request] of requests) {
      const { body } = encodings[format](request);
      assert.equal(isAsReceived(batchOf(body, format)), false, `${what}, ${format}`);
    }
    const { body } = encodings[format](exportOf([plainSpan()]));
    assert.equal(isAsReceived(batchOf(body, format)), true);
  }
  const { body } = encodings.protobuf(exportOf([plainSpan()]));
  const unknown = Buffer.concat([body, field(99, "unknown")]);
  assert.equal(isAsReceived(batchOf(unknown, "protobuf")), false, "an unknown field");
});

test("a request is encoded again if the settings of its agent change it", () => {
  const attributes = { deny: [], allow: null };
  const settings: [string, boolean, object][] = [
    ["keeps all", true, { content: "keep", attributes }],
    ["drops it later", true, { content: "forget", attributes }],
    ["no content", false, { content: "none", attributes }],
    ["a denied attribute", false, { content: "keep", attributes: { deny: ["x"], allow: null } }],
  ];
  for (const format of formats) {
    const { body } = encodings[format](exportOf([plainSpan()]));
    for (const [what, isReceived, intake] of settings) {
      const readers = readersFor(body, format, byNothing, { intake });
      assert.equal(isAsReceived(batchOf(body, format, readers)), isReceived, `${what}, ${format}`);
    }
  }
});

test("a request whose agent's settings change in the meantime stays as it arrived, unless the new ones change it", () => {
  const attributes = { deny: [], allow: null };
  const keeping: IntakeBy = { ...byNothing, intake: { content: "forget", attributes } };
  const denied = { deny: ["gen_ai.prompt"], allow: null };
  const denying: IntakeBy = { ...byNothing, intake: { content: "keep", attributes: denied } };
  for (const format of formats) {
    const { body } = encodings[format](exportOf([plainSpan()]));
    const batch = batchOf(body, format);
    const again = (by: IntakeBy, isForgotten = false) =>
      prepareAgain({ batch, resource: null, path: "otlp", by, isForgotten }).batch;
    const same = again(keeping);
    assert.deepEqual(same.bytes, batch.bytes, format);
    assert.equal(same.rawLength, body.length);
    assert.deepEqual(same.columns, batch.columns);
    assert.equal(same.intake, keeping.intake);
    for (const changed of [again(denying), again(keeping, true)]) {
      assert.equal(isAsReceived(changed), false, format);
      assert.ok(!scan(changed.bytes).text.includes("gen_ai.prompt"));
    }
  }
});

for (const format of formats) {
  test(`a request in ${format} whose spans repeat much, or that is large, is encoded again`, () => {
    const scoped = (scopeBytes: number) => {
      const spans = Array.from({ length: 20 }, () => exportedSpan({ traceId }));
      const resource = { attributes: [text("service.name", "agent")] };
      const scopeSpans = [{ scope: { name: "x".repeat(scopeBytes) }, spans }];
      return encodings[format]({ resourceSpans: [{ resource, scopeSpans }] }).body;
    };
    assert.equal(isAsReceived(batchOf(scoped(10), format)), true);
    assert.equal(isAsReceived(batchOf(scoped(10_000), format)), false);
    const long = (length: number) =>
      encodings[format](exportOf([exportedSpan({ attributes: [text("a", "x".repeat(length))] })])).body;
    assert.equal(isAsReceived(batchOf(long(200_000), format)), true);
    assert.equal(isAsReceived(batchOf(long(300_000), format)), false);
  });

  test(`the same request in ${format} is stored as the same bytes, and as many as its length says`, () => {
    const { body } = encodings[format](exportOf([plainSpan()]));
    const [one, other] = [batchOf(body, format), batchOf(Buffer.from(body), format)];
    assert.deepEqual(one.bytes, other.bytes);
    assert.equal(one.rawLength, body.length);
    assert.equal(readBatch(scan(one.bytes)).spans.length, 1);
  });
}

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
  const made = formats.map(mediaType => ({
    mediaType,
    ...encodings[mediaType](exportOf([exportedSpan({ attributes: special })])),
  }));
  let found = 0;
  for (const { body, mediaType } of [...made, ...recordedExports]) {
    const bytes = batchOrNull(body, mediaType);
    const stored = bytes && scan(bytes);
    if (!stored?.received) continue;
    const batch = readBatch(stored);
    const values = new Set([...partsIn(batch.spans), ...partsIn(batch.resource), "Alice Smith", "Zoë"]);
    for (const value of [...values].filter(isSearched).slice(0, 400)) {
      if (!findInBatch(batch, { text: { values: [value], wholeWords: false } })) continue;
      found++;
      const probe = new JsonProbe([value]);
      const mayBe = stored.received === "json" ? probe.mayHave(stored.text) : probe.mayBeIn(stored.text);
      assert.ok(mayBe, JSON.stringify(value));
    }
  }
  assert.ok(found > 2_000, `${found}`);
  const rare = ["Ada Lovelace", "ada@example.org", "Übermut und Ärger"];
  const { body } = encodings.protobuf(exportOf([plainSpan()]));
  assert.ok(!new JsonProbe(rare).mayBeIn(body), "it rules out what is not there");
});

const isSearched = (value: string) => value.trim() !== "" && value.isWellFormed();

function batchOrNull(body: Buffer, mediaType: MediaType): Buffer | null {
  const prepared = prepareBody(body, mediaType, decodeLimits);
  const [group] = prepared.path === "otlp" ? prepared.groups : [];
  return group && "batch" in group ? group.batch.bytes : null;
}
