// Properties of stored batches, for generated bodies of both paths: what redaction changes, and what it leaves byte for byte.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { prepareAgain, prepareBody } from "../../../src/ingest/prepare.ts";
import type { PreparedBatch } from "../../../src/ingest/prepared.ts";
import { readByNothing } from "../../../src/model/agent/read-by.ts";
import type { StoringRules } from "../../../src/model/privacy.ts";
import { isRecord } from "../../../src/model/record.ts";
import { decodeLimits } from "../../../src/wire/limits.ts";
import { exportOf, newSpanId, newTraceId } from "../../support/bodies.ts";
import { canaries } from "../../support/canaries.ts";
import { decodeBatch } from "../../support/decode-batch.ts";

const seed = Number(process.env["REDACTION_SEED"] ?? 4_711);
const runs = { numRuns: Number(process.env["REDACTION_RUNS"] ?? 1_000), seed };

const storing: StoringRules = {
  projectId: "generated",
  revision: 1,
  rules: {
    builtIn: ["*"],
    rules: [
      { name: "order", pattern: "ZQ-\\d{7}" },
      { name: "word", pattern: "\\bje\\w+" },
    ],
    pseudonyms: ["tenant"],
  },
  pseudonymKey: "key",
};
const noRules: StoringRules = { ...storing, revision: 2, rules: { builtIn: [], rules: [], pseudonyms: [] } };

const piece = fc.oneof(
  fc.constantFrom(...canaries.map(({ said }) => said)),
  fc.constantFrom(
    ...'[email]|⟦email⟧|⟦x|⟧|[unchecked]|jenny|tel|password|=|:|@|+|-|/| |\n|\\|\\n|"|{|}|[|]|,|0|12|é|密码|😀|\ud800'.split(
      "|",
    ),
  ),
  fc.string({ maxLength: 8 }),
);
const text = fc.array(piece, { maxLength: 8 }).map(pieces => pieces.join(""));
const keys = fc.oneof(
  fc.constantFrom(
    "user.id",
    "session.id",
    "tenant",
    "gen_ai.prompt",
    "db.password",
    "text",
    "jane@example.com",
  ),
  fc.string({ minLength: 1, maxLength: 5 }),
);
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.integer(),
    fc.boolean(),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(keys, tie("value"), { maxKeys: 3 }),
    tie("value").map(inner => JSON.stringify(inner)),
  ),
})) as { value: fc.Arbitrary<unknown> };
const attributes = fc.dictionary(keys, value, { maxKeys: 4 });

const span = fc.record({
  attributes,
  scope: attributes,
  message: text,
  traceState: text,
  events: fc.array(attributes, { maxLength: 2 }),
});
type GeneratedSpan = typeof span extends fc.Arbitrary<infer One> ? One : never;
type GeneratedTrace = { spans: GeneratedSpan[]; metadata: object };
const trace = fc.record({ spans: fc.array(span, { minLength: 1, maxLength: 4 }), metadata: attributes });

const canonical = ({ spans, metadata }: GeneratedTrace) => ({
  metadata,
  spans: spans.map((one, index) => ({
    ...{ span_id: String(index), name: "jane@example.com", attributes: one.attributes },
    status: { code: 2, message: one.message },
    events: [...one.events.map(attributes => ({ name: "e", attributes })), one.message],
  })),
});

type Any = Record<string, unknown>;
const listed = (attributes: object): Any[] =>
  Object.entries(attributes).map(([key, one]) => ({ key, value: anyValue(one) }));
function anyValue(one: unknown): Any {
  if (typeof one === "string") return { stringValue: one };
  if (typeof one === "number") return { intValue: String(one) };
  if (typeof one === "boolean") return { boolValue: one };
  if (Array.isArray(one)) return { arrayValue: { values: one.map(anyValue) } };
  return { kvlistValue: { values: listed(one as object) } };
}

function exported({ spans, metadata }: GeneratedTrace): object {
  const traceId = newTraceId();
  const body = exportOf(
    spans.map(one => ({
      ...{ traceId, spanId: newSpanId(), name: "jane@example.com", traceState: one.traceState },
      attributes: listed(one.attributes),
      status: { code: 2, message: one.message },
      events: one.events.map(event => ({ name: "e", attributes: listed(event) })),
      links: [{ traceId, spanId: newSpanId(), attributes: listed(one.scope) }],
    })),
  ) as { resourceSpans: { resource: { attributes: Any[] }; scopeSpans: Any[] }[] };
  body.resourceSpans[0]!.resource.attributes.push(...listed(metadata));
  body.resourceSpans[0]!.scopeSpans[0]!["scope"] = { name: "s", attributes: listed(spans[0]!.scope) };
  return body;
}

function prepared(body: Buffer, rules: StoringRules | null): PreparedBatch {
  const readers = rules && { agents: [], only: null, storing: rules };
  const made = prepareBody(body, "json", decodeLimits, readers);
  if (made.path === "canonical") return made.batch;
  const [group] = made.groups;
  assert.ok(group && "batch" in group);
  return group.batch;
}

/** Every body once: ids are random. */
const bodies = (of: GeneratedTrace): Buffer[] =>
  [canonical(of), exported(of)].map(body => Buffer.from(JSON.stringify(body)));

const placeholders = /⟦(?:email|phone|card|iban|ip|ssn|secret|order|word)⟧|\[unchecked\]|p_[\w-]{22}/g;

/** The text stored in place of the one sent: what is not a placeholder is as it was, in order, from its start to its end. */
function assertLike(stored: string, arrived: string): void {
  assert.ok(stored.length <= 2 * arrived.length + 1_000);
  // One that came with the text has brackets in its place.
  const sent = arrived.replace(/⟦([a-z0-9_-]{1,32})⟧/g, "[$1]");
  const kept = stored.split(placeholders);
  assert.ok(sent.startsWith(kept[0]!) && sent.endsWith(kept.at(-1)!), `${JSON.stringify([stored, sent])}`);
  let from = 0;
  for (const one of kept) {
    const at = sent.indexOf(one, from);
    assert.notEqual(at, -1, JSON.stringify([stored, sent]));
    from = at + one.length;
  }
  // An ID is one value, whatever it looks like.
  if (/^"?p_[\w-]{22}"?$/.test(stored)) return;
  const shape = shapeOf(sent);
  if (shape !== null && stored !== "[unchecked]") assert.deepEqual(shapeOf(stored), shape);
}

/** Of JSON in a text: its keys, and its values except texts; null for any other text. */
function shapeOf(json: string): unknown {
  if (!/^\s*[[{]/.test(json)) return null;
  const withoutTexts = (any: unknown): unknown => {
    if (typeof any === "string") return "";
    if (Array.isArray(any)) return any.map(withoutTexts);
    return isRecord(any) ? Object.entries(any).map(([key, inner]) => [key, withoutTexts(inner)]) : any;
  };
  try {
    return withoutTexts(JSON.parse(json));
  } catch {
    return null;
  }
}

/** The same keys, lists, numbers, names and times, and texts as above. */
function assertSameButTexts(stored: unknown, sent: unknown, key = ""): void {
  if (typeof sent === "string") {
    assert.equal(typeof stored, "string");
    if (key === "name" || key.endsWith("_id")) assert.equal(stored, sent);
    if (stored !== sent) assertLike(stored as string, sent);
  } else if (Array.isArray(sent)) {
    assert.ok(Array.isArray(stored) && stored.length === sent.length);
    for (const [at, one] of sent.entries()) assertSameButTexts(stored[at], one, key);
  } else if (isRecord(sent)) {
    assert.ok(isRecord(stored));
    assert.deepEqual(Object.keys(stored), Object.keys(sent));
    for (const name of Object.keys(sent)) assertSameButTexts(stored[name], sent[name], name);
  } else if (typeof sent === "number" && typeof stored === "string") {
    assert.match(stored, /^p_[\w-]{22}$/);
  } else assert.deepEqual(stored, sent);
}

test("without rules, and where rules find nothing, bytes are stored as they would be", () => {
  fc.assert(
    fc.property(trace, of => {
      for (const body of bodies(of)) {
        const plain = prepared(body, null);
        assert.deepEqual(prepared(body, noRules).bytes, plain.bytes);
        const redacted = prepared(body, storing);
        if (redacted.redactions) assert.notDeepEqual(redacted.bytes, plain.bytes);
        else if (!body.includes("⟦")) assert.deepEqual(redacted.bytes, plain.bytes);
      }
    }),
    runs,
  );
});

test("only texts change, within their bound, outside what was found not at all, and JSON stays JSON", () => {
  fc.assert(
    fc.property(trace, of => {
      for (const body of bodies(of)) {
        const [redacted, plain] = [prepared(body, storing), prepared(body, null)];
        const { redactions, ...stored } = decodeBatch(redacted.bytes);
        assert.deepEqual(redactions, redacted.redactions);
        assertSameButTexts(stored, decodeBatch(plain.bytes));
      }
    }),
    runs,
  );
});

test("a batch that is prepared again by the same rules is the same, and so is one that is sent again", () => {
  fc.assert(
    fc.property(trace, of => {
      for (const [at, body] of bodies(of).entries()) {
        const first = prepared(body, storing);
        assert.deepEqual(prepared(body, storing), first);
        const path = at === 0 ? "canonical" : "otlp";
        const by = readByNothing;
        const again = prepareAgain({ batch: first, resource: null, path, by, isForgotten: false, storing });
        assert.deepEqual(decodeBatch(again.batch.bytes), decodeBatch(first.bytes));
      }
    }),
    runs,
  );
});
