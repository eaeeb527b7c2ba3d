// Span keys tell which spans a trace contains, exactly as the spans themselves would.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { transaction } from "../../../src/store/db.ts";
import { findAdded, findSuperseded } from "../../../src/store/traces/span-keys.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite, type Sender } from "./make-write.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sender = await makeSender(db, { judged: false });
const place = await placeOf(db, sender.agentId);
let traces = 0;

const spanSet = fc.uniqueArray(fc.constantFrom(..."123456789abc"), { minLength: 1, maxLength: 6 });

/** Stores a trace from these batches, one after the other. */
async function stored(batches: string[][]): Promise<string> {
  const externalId = `trace ${++traces}`;
  let traceId = "";
  // Different content each time, because a repetition would not be stored.
  for (const [at, spans] of batches.entries()) {
    ({ traceId } = await writer.write(otlpWrite(sender, { externalId, spans, text: `batch ${at}` })));
  }
  return traceId;
}

test("a batch adds to a trace exactly when one of its spans is not stored yet", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(spanSet, { minLength: 1, maxLength: 4 }), spanSet, async (batches, next) => {
      const traceId = await stored(batches);
      const { spanKeys } = otlpWrite(sender, { spans: next });
      const added = await transaction(place, client => findAdded(client, [{ traceId, spanKeys }]));
      assert.equal(
        added.has(traceId),
        next.some(span => !batches.flat().includes(span)),
      );
    }),
    { numRuns: 60 },
  );
});

test("batches are superseded exactly when all their spans arrive again later", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(spanSet, { minLength: 1, maxLength: 5 }), spanSet, async (batches, next) => {
      const traceId = await stored(batches);
      const { spanKeys } = otlpWrite(sender, { spans: next });
      const found = await transaction(place, client => findSuperseded(client, traceId, spanKeys));
      const expected = batches.flatMap((spans, at) => {
        const later = [...batches.slice(at + 1), next].flat();
        return spans.every(span => later.includes(span)) ? [at + 1] : [];
      });
      assert.deepEqual(new Set(found.superseded), new Set(expected));
      const beside = new Set(batches.flat().filter(span => !next.includes(span)));
      assert.equal(found.spans, beside.size);
    }),
    { numRuns: 60 },
  );
});

test("span ids of any form are distinguished", async () => {
  const ids = ["a", "A", "a ", "\u0000", "\ud800", "\udfff", "é", "e\u0301", "0".repeat(16), "0".repeat(17)];
  const externalId = "any ids";
  const first: Sender = sender;
  const { traceId } = await writer.write(canonicalWrite(first, { externalId, spans: ids.slice(1) }));
  for (const [id, isNew] of [...ids.slice(1).map(id => [id, false] as const), [ids[0]!, true] as const]) {
    const { spanKeys } = canonicalWrite(first, { spans: [id] });
    const added = await transaction(place, client => findAdded(client, [{ traceId, spanKeys }]));
    assert.equal(added.has(traceId), isNew, JSON.stringify(id));
  }
});
