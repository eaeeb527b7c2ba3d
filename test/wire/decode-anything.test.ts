// Whatever arrives, a body decodes or is refused: no other error, and nothing leaks into JavaScript's own objects.
import assert from "node:assert/strict";
import { afterEach, suite, test } from "node:test";
import fc from "fast-check";
import { Refusal } from "../../src/model/refusal.ts";
import { encodeBatch } from "../../src/wire/batch.ts";
import { decodeBody } from "../../src/wire/body.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import type { MediaType } from "../../src/wire/media-type.ts";
import { decodeBatch } from "../support/decode-batch.ts";
import { field } from "./encode-otlp.ts";
import { fixture } from "./make-body.ts";

/** Decodes or is refused, group by group; what it decodes to can be stored. */
function decodesOrRefuses(bytes: Buffer, mediaType: MediaType): void {
  try {
    const body = decodeBody(bytes, mediaType, decodeLimits);
    const batches = body.path === "canonical" ? [body.batch] : body.groups.map(group => group.batch);
    for (const batch of batches) assert.deepEqual(decodeBatch(encodeBatch(batch).bytes), batch);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert.ok([400, 413].includes(error.status));
  }
}

const jsonSeeds = [
  "01-otel-proto-example-trace.json",
  "02-rust-two-spans-child-first.json",
  "05-java-all-anyvalue-kinds.json",
  "14-js-edge-values.json",
].map(name => fixture(name).toString());
const canonicalSeed = JSON.stringify({
  spans: [
    {
      span_id: "a",
      parent_span_id: null,
      name: "step",
      attributes: { "gen_ai.prompt": "hi", n: [1, 2.5] },
      start_time_unix_nano: "1795206705954000000",
      status: { code: 2, message: "m" },
      events: [{}],
    },
  ],
  metadata: { svc: { platform_id: "x" } },
  platformId: "y",
});

/** What is put in the place of some token of a JSON text. */
const token = fc.constantFrom(
  ...'null true 0 5 1e400 -1.5 12345678901234567890 [] {} [null] {} "" "x" "__proto__"'.split(" "),
  '{"stringValue":5}',
  '{"arrayValue":[]}',
  '"\\ud800\\u0000"',
  "[[[[]]]]",
  "",
  ",",
  "}",
);
const jsonTokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[[\]{},:]/g;
const mutatedJson = fc
  .tuple(
    fc.constantFrom(...jsonSeeds, canonicalSeed),
    fc.array(fc.tuple(fc.nat(), token), { minLength: 1, maxLength: 4 }),
  )
  .map(([seed, changes]) => {
    const tokens = seed.match(jsonTokens)!;
    for (const [at, replacement] of changes) tokens[at % tokens.length] = replacement;
    return tokens.join("");
  });

const protobufSeed = fixture("11-vercel-ai-v7-otel-tool-loop.pb");
const mutatedProtobuf = fc
  .array(fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom("set", "insert", "cut", "double")), {
    minLength: 1,
    maxLength: 5,
  })
  .map(changes => {
    let bytes = protobufSeed;
    for (const [position, byte, how] of changes) {
      const at = position % bytes.length;
      const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
      if (how === "set") bytes = Buffer.concat([head, Buffer.from([byte]), tail.subarray(1)]);
      else if (how === "insert") bytes = Buffer.concat([head, Buffer.from([byte]), tail]);
      else if (how === "cut") bytes = Buffer.concat([head, tail.subarray(byte)]);
      else bytes = Buffer.concat([head, tail.subarray(0, byte), tail]);
    }
    return bytes;
  });

/** Messages in messages, whose lengths are right whatever is in them. */
const { message } = fc.letrec<{ message: Buffer }>(tie => ({
  message: fc
    .array(
      fc.tuple(
        fc.integer({ min: 1, max: 16 }),
        fc.oneof(
          { depthSize: "large", withCrossShrink: true },
          fc.uint8Array({ maxLength: 16 }).map(bytes => Buffer.from(bytes)),
          tie("message") as fc.Arbitrary<Buffer>,
        ),
      ),
      { maxLength: 4 },
    )
    .map(fields => Buffer.concat(fields.map(([number, content]) => field(number, content)))),
}));

suite("any body at all", () => {
  afterEach(() => assert.deepEqual(Object.keys(Object.prototype), []));

  test("of random bytes decodes or is refused, in either encoding", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom("json", "protobuf"),
        (bytes, mediaType) => decodesOrRefuses(Buffer.from(bytes), mediaType as MediaType),
      ),
      { numRuns: 2_000 },
    );
  });

  test("of any JSON at all decodes or is refused", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom("", "spans", "resourceSpans"), (json, key) =>
        decodesOrRefuses(Buffer.from(key === "" ? json : `{"${key}":${json}}`), "json"),
      ),
      { numRuns: 1_000 },
    );
  });

  test("of JSON like a real request decodes or is refused", () => {
    fc.assert(
      fc.property(mutatedJson, text => decodesOrRefuses(Buffer.from(text), "json")),
      { numRuns: 3_000 },
    );
  });

  test("of protobuf like a real request decodes or is refused", () => {
    fc.assert(
      fc.property(mutatedProtobuf, bytes => decodesOrRefuses(bytes, "protobuf")),
      { numRuns: 2_000 },
    );
  });

  test("of well-formed protobuf without sense decodes or is refused", () => {
    fc.assert(
      fc.property(message, bytes => decodesOrRefuses(bytes, "protobuf")),
      { numRuns: 2_000 },
    );
  });
});
