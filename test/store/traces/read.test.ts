// Reading traces: filtered lists, whole batches, and columns that a merge left out of date.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { refreshStale } from "../../../src/load/stale.ts";
import { readByNothing } from "../../../src/model/agent/read-by.ts";
import { loadBatches } from "../../../src/store/traces/batches.ts";
import { findTrace } from "../../../src/store/traces/read.ts";
import { listStale, updateColumns } from "../../../src/store/traces/stale.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { decodeBatch } from "../../support/decode-batch.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite } from "./make-write.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sender = await makeSender(db);

suite("batches", () => {
  test("are loaded in the order in which they were stored", async () => {
    const externalId = "ordered";
    let traceId = "";
    for (const text of ["one", "two", "three"]) {
      ({ traceId } = await writer.write(otlpWrite(sender, { externalId, text })));
    }
    const { batches, revision } = (await loadBatches(db, [traceId])).loaded.get(traceId)!;
    assert.equal(revision, 3);
    assert.deepEqual(
      batches.map(batch => decodeBatch(batch.spans).spans[0]!.attributes["gen_ai.response.text"]),
      ["one", "two", "three"],
    );
  });

  test("of an unknown trace are missing, without hiding the others", async () => {
    const { traceId } = await writer.write(canonicalWrite(sender));
    const { loaded } = await loadBatches(db, [crypto.randomUUID(), traceId]);
    assert.deepEqual([...loaded.keys()], [traceId]);
  });

  test("are loaded smallest first, up to a total size, and for at least one trace", async () => {
    const sizes = [3_000, 1_000, 2_000];
    const [large, small, middle] = await Promise.all(
      sizes.map(async size => {
        const text = "x".repeat(size);
        return (await writer.write(otlpWrite(sender, { externalId: `size ${size}`, text }))).traceId;
      }),
    );
    const all = [large!, small!, middle!];
    const keys = async (ids: string[], bytesMax: number) => {
      const { loaded, left } = await loadBatches(db, ids, bytesMax);
      return { loaded: [...loaded.keys()], left };
    };
    const { rows } = await db.pool.query<{ bytes: number }>(
      "select sum(batch_bytes)::float8 as bytes from traces where id = any ($1)",
      [[small, middle]],
    );
    const two = rows[0]!.bytes;
    assert.deepEqual(await keys(all, two), { loaded: [small, middle], left: [large] });
    assert.deepEqual(await keys(all, two - 1), { loaded: [small], left: [middle, large] });
    assert.deepEqual(await keys(all, 1), { loaded: [small], left: [middle, large] });
    assert.deepEqual(await keys([large!], 1), { loaded: [large], left: [] });
  });
});

suite("columns that a merge left out of date", () => {
  async function merged(...texts: string[]): Promise<string> {
    const externalId = crypto.randomUUID();
    let traceId = "";
    for (const [at, text] of texts.entries()) {
      const spans = at === 0 ? ["a"] : ["a", `b${at}`];
      ({ traceId } = await writer.write(otlpWrite(sender, { externalId, spans, text })));
    }
    return traceId;
  }

  test("are listed by latest change and brought up to date from all batches", async () => {
    await refreshStale(db, {});
    const traceIds = [await merged("old", "new"), await merged("old", "newer")];
    const stale = await listStale(db, { agentId: sender.agentId, limit: 10 });
    assert.deepEqual(
      stale.map(({ id }) => id),
      traceIds.toReversed(),
    );
    assert.equal((await findTrace(db, traceIds[0]!))!.responseText, "old");
    assert.equal(await refreshStale(db, { agentId: sender.agentId }), 2);
    const row = (await findTrace(db, traceIds[0]!))!;
    assert.deepEqual([row.responseText, row.spanCount, row.revision, row.derivedRevision], ["new", 2, 2, 2]);
    assert.deepEqual(await listStale(db, { agentId: sender.agentId, limit: 10 }), []);
  });

  test("are left alone while more batches may arrive", async () => {
    await merged("old", "new");
    assert.deepEqual(await listStale(db, { quietMs: 60_000, limit: 10 }), []);
  });

  test("are never overwritten by values derived from an earlier revision", async () => {
    const traceId = await merged("old", "new");
    const { columns } = otlpWrite(sender, { text: "derived too early" });
    await updateColumns(db, [{ traceId, revision: 1, columns, readBy: readByNothing }]);
    assert.equal((await findTrace(db, traceId))!.responseText, "old");
    await updateColumns(db, [{ traceId, revision: 2, columns, readBy: readByNothing }]);
    assert.equal((await findTrace(db, traceId))!.responseText, "derived too early");
  });

  test("are exact immediately for a replaced trace", async () => {
    const externalId = "exact";
    await writer.write(otlpWrite(sender, { externalId, text: "before" }));
    const { traceId } = await writer.write(canonicalWrite(sender, { externalId, text: "after" }));
    const { responseText, derivedRevision, revision } = (await findTrace(db, traceId))!;
    assert.deepEqual([responseText, derivedRevision, revision], ["after", 2, 2]);
  });
});
