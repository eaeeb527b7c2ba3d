// Repeated batches are told apart from changes: only a change raises the revision.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite } from "./make-write.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sender = await makeSender(db);
let identities = 0;
const newIdentity = () => `repetition ${++identities}`;

async function batchesOf(traceId: string): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(
    "select count(*) from trace_batches where trace_id = $1",
    [traceId],
  );
  return rows[0]!.count;
}

suite("a batch that is sent again", () => {
  test("is not stored twice and does not raise the revision", async () => {
    const externalId = newIdentity();
    const first = await writer.write(otlpWrite(sender, { externalId, spans: ["a"] }));
    await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    for (const spans of [["a"], ["b"], ["a"]]) {
      const again = await writer.write(otlpWrite(sender, { externalId, spans }));
      assert.deepEqual([again.state, again.revision, again.traceId], ["merged", 2, first.traceId]);
    }
    assert.equal(await batchesOf(first.traceId), 2);
  });

  test("counts as newer content if another batch changed its spans in between", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(otlpWrite(sender, { externalId, text: "one" }));
    await writer.write(otlpWrite(sender, { externalId, text: "two" }));
    const { revision } = await writer.write(otlpWrite(sender, { externalId, text: "one" }));
    assert.equal(revision, 3);
    assert.equal(await batchesOf(traceId), 3);
  });

  test("counts as newer content even if that other batch arrives at the same moment", async () => {
    const externalId = newIdentity();
    await writer.write(otlpWrite(sender, { externalId, text: "one" }));
    const stored = await Promise.all([
      writer.write(otlpWrite(sender, { externalId, text: "two" })),
      writer.write(otlpWrite(sender, { externalId, text: "one" })),
    ]);
    assert.deepEqual(
      stored.map(({ revision }) => revision),
      [2, 3],
    );
  });

  test("under another trace's identity is not a repetition", async () => {
    const spans = ["a"];
    await writer.write(otlpWrite(sender, { externalId: newIdentity(), spans }));
    const other = await writer.write(otlpWrite(sender, { externalId: newIdentity(), spans }));
    assert.deepEqual([other.state, other.revision], ["created", 1]);
  });
});

suite("a canonical trace that is sent again", () => {
  test("is answered as replaced and does not raise the revision", async () => {
    const externalId = newIdentity();
    await writer.write(canonicalWrite(sender, { externalId, text: "one" }));
    const again = await writer.write(canonicalWrite(sender, { externalId, text: "one" }));
    assert.deepEqual([again.state, again.revision, again.evaluation], ["replaced", 1, "none"]);
    const changed = await writer.write(canonicalWrite(sender, { externalId, text: "two" }));
    assert.deepEqual([changed.state, changed.revision], ["replaced", 2]);
  });

  test("replaces everything that was merged into it", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(canonicalWrite(sender, { externalId, spans: ["a"] }));
    await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    const again = await writer.write(canonicalWrite(sender, { externalId, spans: ["a"] }));
    assert.deepEqual([again.state, again.revision], ["replaced", 3]);
    assert.equal(await batchesOf(traceId), 1);
  });
});
