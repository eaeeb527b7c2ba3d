// Large bodies are prepared on a thread, with the same result as on the main thread and without harming other requests.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type PreparedBody, prepareBody } from "../../src/ingest/prepare.ts";
import { Preparer, type PreparerOptions } from "../../src/ingest/preparer.ts";
import { Refusal } from "../../src/model/refusal.ts";
import { preparingHeapMb } from "../../src/threads/heap.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import type { MediaType } from "../../src/wire/media-type.ts";
import { repeatedBytesMax } from "../../src/wire/otlp-groups.ts";
import { canonicalSpan, encodings, exportedSpan, exportOf } from "../support/bodies.ts";
import { hostileBodies } from "../support/hostile-bodies.ts";
import { fixture, resourceSpans } from "../wire/make-body.ts";

const opened: Preparer[] = [];
after(() => Promise.all(opened.map(preparer => preparer.close())));

/** A preparer that sends every body to a thread. */
function threaded(options: Partial<PreparerOptions> = {}): Preparer {
  const preparer = new Preparer({ limits: decodeLimits, inlineBytesMax: 0, ...options });
  opened.push(preparer);
  return preparer;
}

const mixed = {
  resourceSpans: [
    resourceSpans("one", [exportedSpan(), exportedSpan()]),
    resourceSpans(null, [exportedSpan()]),
    resourceSpans("two", [exportedSpan({ spanId: "" })]),
  ],
};
const long = { key: "long", value: { stringValue: "x".repeat(10_000) } };
const sharing = { resourceSpans: [resourceSpans("one", [exportedSpan(), exportedSpan()], [long])] };
const canonical = {
  spans: [canonicalSpan({ attributes: { a: "\0\ud800" } })],
  platformId: "hint",
  metadata: {},
};

const bodies: [what: string, mediaType: MediaType, bytes: Buffer][] = [
  ["a canonical body", "json", Buffer.from(JSON.stringify(canonical))],
  ["an OTLP export of which a part is refused", "json", encodings.json(mixed).body],
  ["an OTLP export in protobuf", "protobuf", encodings.protobuf(exportOf([exportedSpan()])).body],
  ["traces that share a resource", "json", encodings.json(sharing).body],
  ["what an exporter sent", "protobuf", fixture("11-vercel-ai-v7-otel-tool-loop.pb")],
];

for (const [what, mediaType, bytes] of bodies) {
  test(`a thread prepares ${what} exactly as the main thread does`, async () => {
    const here = prepareBody(bytes, mediaType, decodeLimits);
    const there: PreparedBody = await threaded().prepare(Buffer.from(bytes), mediaType);
    assert.deepEqual(there, here);
    const batches =
      there.path === "canonical"
        ? [there.batch]
        : there.groups.flatMap(group => ("batch" in group ? group.batch : []));
    for (const batch of batches) assert.ok(Buffer.isBuffer(batch.bytes) && Buffer.isBuffer(batch.spanKeys));
  });
}

for (const [what, mediaType, text] of [
  ["no JSON", "json", "{"],
  ["a bad span", "json", '{"spans":[{"name":1}]}'],
  ["no span", "protobuf", ""],
  ["no protobuf", "protobuf", "\u0001"],
] as const) {
  test(`a thread refuses ${what} exactly as the main thread does`, async () => {
    const thrown = (error: unknown) => error;
    const there = await threaded().prepare(Buffer.from(text), mediaType).catch(thrown);
    const here = await new Preparer({ limits: decodeLimits })
      .prepare(Buffer.from(text), mediaType)
      .catch(thrown);
    assert.ok(there instanceof Refusal && here instanceof Refusal);
    for (const field of ["code", "status", "message", "hint", "issues"] as const) {
      assert.deepEqual(there[field], here[field]);
    }
  });
}

test("more bodies than there are threads are all prepared, each with its own result", async () => {
  const preparer = threaded();
  const prepared = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      preparer.prepare(Buffer.from(JSON.stringify({ spans: [canonicalSpan({ name: `n${at}` })] })), "json"),
    ),
  );
  assert.deepEqual(
    prepared.map(body => body.path === "canonical" && body.batch.columns.name),
    Array.from({ length: 20 }, (_, at) => `n${at}`),
  );
});

for (const [where, inlineBytesMax] of [
  ["the main thread", 1_000_000],
  ["threads", 0],
] as const) {
  test(`on ${where}, accounts and their keys take turns, whichever was first and has more`, async () => {
    const preparer = threaded({ inlineBytesMax });
    const done: string[] = [];
    const prepare = async (owners: [string, string]) => {
      await preparer.prepare(Buffer.from(JSON.stringify(canonical)), "json", null, owners);
      done.push(owners[1]);
    };
    const greedy = Array.from({ length: 20 }, () => prepare(["a", "greedy"]));
    await Promise.all([...greedy, prepare(["b", "other"]), prepare(["a", "second"])]);
    // Up to two bodies are on threads before anybody else asks.
    const first = done.slice(0, 6);
    assert.ok(first.includes("other") && first.includes("second"), done.join());
  });
}

test("bodies that wait for their turn are counted", async () => {
  const preparer = new Preparer({ limits: decodeLimits });
  opened.push(preparer);
  const body = () => preparer.prepare(Buffer.from(JSON.stringify(canonical)), "json");
  const bodies = [body(), body(), body()];
  assert.equal(preparer.waiting, 3);
  await Promise.race(bodies);
  assert.equal(preparer.waiting, 2);
  await Promise.all(bodies);
  assert.equal(preparer.waiting, 0);
});

// On Node 24, a heap that fills up inside a builtin ends this process, and every test in this file with it.
for (const [what, body] of Object.entries(hostileBodies)) {
  test(`${what} are prepared without crashing the process`, async () => {
    const preparer = new Preparer({ limits: decodeLimits });
    opened.push(preparer);
    const { mediaType, bytes } = body();
    assert.ok(bytes.length <= 31_457_280);
    const prepared = await preparer.prepare(bytes, mediaType);
    await preparer.close();
    assert.equal(prepared.path === "otlp" && prepared.groups.some(group => "refusal" in group), false);
  });
}

test("a body that outgrows the heap of its thread is 413, and the next one is prepared", async () => {
  // Protobuf is decoded in plain JavaScript, where only the thread ends.
  const preparer = threaded({ threadHeapMb: 24 });
  const { mediaType, bytes } = hostileBodies["objects that have an index for a key"]!();
  await assert.rejects(preparer.prepare(bytes, mediaType), { code: "PAYLOAD_TOO_LARGE" });
  const body = await preparer.prepare(Buffer.from(JSON.stringify(canonical)), "json");
  assert.equal(body.path, "canonical");
});

test("the heap of a thread grows with the number of elements that a request may have", () => {
  const body = { bytes: 31_457_280, elements: 2_000_000 };
  const heapMb = preparingHeapMb(body, repeatedBytesMax);
  assert.ok(heapMb > 566 * 1.5, "half as much again as the costliest body was measured to need");
  assert.ok(preparingHeapMb({ ...body, elements: 20_000_000 }, repeatedBytesMax) > 8 * (heapMb - 300));
});
