// Tools and models of traces, and rules that redacted in them: kept on the rows and by minute, and gone with the last trace that has them.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readByNothing } from "../../../src/model/agent/read-by.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { idAt, newest } from "../../../src/store/listing.ts";
import { listTraces } from "../../../src/store/trace-lists/list.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { listStale, updateColumns } from "../../../src/store/traces/stale.ts";
import type { TraceWrite } from "../../../src/store/traces/write.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { begun, waiting } from "../locks.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite, type Sender } from "./make-write.ts";

const { db, other, close } = await openTwice();
after(close);

const writer = new TraceWriter(db, limits);

async function valuesOf({ agentId }: Sender): Promise<string[]> {
  const { rows } = await db.pool.query<{ text: string }>(
    "select kind || ' ' || value as text from trace_values where agent_id = $1 order by kind, value, minute",
    [agentId],
  );
  return rows.map(({ text }) => text);
}

/** Ids that the store takes have a time near the database's. */
const minute = idAt(Math.floor(Date.now() / 60_000) * 60_000).slice(0, 14);
let ids = 0;

/** A trace that calls these tools, with an id of the same minute as the others, however long the test takes. */
function call(sender: Sender, tools: string[], externalId?: string) {
  const write = canonicalWrite(sender, {
    text: tools.join(" "),
    ...(externalId && { externalId }),
    attributes: { "gen_ai.request.model": "m-1" },
  });
  const id = `${minute}7000-8000-${String(++ids).padStart(12, "0")}`;
  return { ...write, traceId: id, columns: { ...write.columns, tools } };
}

test("a value has one row in a minute, and goes with the last trace that has it", async () => {
  const sender = await makeSender(db, { judged: false });
  const [first, second] = [call(sender, ["search", "refund"]), call(sender, ["search"])];
  await Promise.all([first, second].map(write => writer.write(write)));
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool refund", "tool search"]);
  await deleteTrace(db, first.traceId);
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool search"]);
  await deleteTrace(db, second.traceId);
  assert.deepEqual(await valuesOf(sender), []);
});

test("a replaced trace loses the tools that it no longer calls", async () => {
  const sender = await makeSender(db, { judged: false });
  await writer.write(call(sender, ["search", "refund"], "x"));
  await writer.write(call(sender, ["search", "ask"], "x"));
  const { rows } = await db.pool.query("select tools, models from traces where agent_id = $1", [
    sender.agentId,
  ]);
  assert.deepEqual(rows, [{ tools: ["search", "ask"], models: ["m-1"] }]);
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool ask", "tool search"]);
});

test("the tools of a merged trace are those of all its batches once its columns are updated", async () => {
  const sender = await makeSender(db, { judged: false });
  const write = otlpWrite(sender, { externalId: "merged", spans: ["a"] });
  await writer.write({ ...write, columns: { ...write.columns, tools: ["search"] } });
  await writer.write(otlpWrite(sender, { externalId: "merged", spans: ["b"] }));
  const [stale] = await listStale(db, { agentId: sender.agentId, limit: 10 });
  const columns = { ...write.columns, tools: ["lookup"], models: ["m-2"] };
  await updateColumns(db, [
    { traceId: stale!.id, revision: stale!.revision, columns, readBy: readByNothing },
  ]);
  assert.deepEqual(await valuesOf(sender), ["model m-2", "tool lookup"]);
});

test("columns are updated in two processes at once without a deadlock", async () => {
  const sender = await makeSender(db, { judged: false });
  const writes = Array.from({ length: 8 }, () => call(sender, ["search", "refund"]));
  await Promise.all(writes.map(write => writer.write(write)));
  const withTools = (...tools: string[]) =>
    writes.map(({ traceId, columns }) => {
      return { traceId, revision: 1, columns: { ...columns, tools }, readBy: readByNothing };
    });
  for (let round = 0; round < 20; round++) {
    const [one, two] = [withTools("search", `a${round}`), withTools("refund", `b${round}`)];
    // Other traces with the same values, then the same traces in another order.
    await Promise.all([updateColumns(db, one.slice(0, 4)), updateColumns(other, two.slice(4))]);
    await Promise.all([updateColumns(db, one), updateColumns(other, two.toReversed())]);
  }
  await updateColumns(db, withTools("search"));
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool search"]);
});

test("rules that redacted are added with a trace, replaced, filled by a merge, and gone with the last trace", async () => {
  const sender = await makeSender(db, { judged: false });
  const { agentId } = sender;
  const ruled = async () => (await valuesOf(sender)).filter(value => value.startsWith("redacted "));
  const listed = async (redacted: string) => {
    const { rows } = await listTraces(db, agentId, { redacted }, { before: newest, rowsMax: 9 });
    return rows.map(row => [row.externalId, row.redacted]);
  };
  const redactedBy = (write: TraceWrite, redacted: string[]) => ({
    ...write,
    columns: { ...write.columns, redacted },
  });
  await writer.write(redactedBy(call(sender, [], "x"), ["email", "phone"]));
  await writer.write(redactedBy(call(sender, [], "y"), ["email"]));
  await writer.write(call(sender, [], "z"));
  assert.deepEqual(await ruled(), ["redacted email", "redacted phone"]);
  const both = [
    ["y", ["email"]],
    ["x", ["email", "phone"]],
  ];
  assert.deepEqual(await listed("email"), both);
  assert.deepEqual(await listed("phone"), both.slice(1));
  const { rows: nulls } = await db.pool.query(
    "select external_id as id from traces where agent_id = $1 and redacted is null",
    [agentId],
  );
  assert.deepEqual(nulls, [{ id: "z" }]);

  await writer.write(redactedBy(call(sender, ["search"], "x"), ["phone"]));
  await writer.write(call(sender, ["search"], "y"));
  assert.deepEqual(await ruled(), ["redacted phone"]);
  assert.deepEqual(await listed("email"), []);

  const first = otlpWrite(sender, { externalId: "merged", spans: ["a"] });
  await writer.write(redactedBy(first, ["card"]));
  await writer.write(otlpWrite(sender, { externalId: "merged", spans: ["b"] }));
  const [stale] = await listStale(db, { agentId, limit: 10 });
  const columns = { ...first.columns, redacted: ["card", "iban"] };
  await updateColumns(db, [
    { traceId: stale!.id, revision: stale!.revision, columns, readBy: readByNothing },
  ]);
  assert.deepEqual(await listed("iban"), [["merged", ["card", "iban"]]]);
  assert.deepEqual(await ruled(), ["redacted card", "redacted iban", "redacted phone"]);

  const [x] = (await listTraces(db, agentId, { redacted: "phone" }, { before: newest, rowsMax: 9 })).rows;
  await deleteTrace(db, x!.id);
  await deleteTrace(db, stale!.id);
  assert.deepEqual(await ruled(), []);
});

test("a name keeps no character that would make it two, and an empty list is known to be empty", async () => {
  const sender = await makeSender(db, { judged: false });
  const write = call(sender, []);
  await writer.write({ ...write, columns: { ...write.columns, models: [] } });
  const { rows } = await db.pool.query("select tools, models from traces where agent_id = $1", [
    sender.agentId,
  ]);
  assert.deepEqual(rows, [{ tools: [], models: [] }]);
  assert.deepEqual(await valuesOf(sender), []);
});

test("a value is kept whose last trace is deleted while another one is stored", async () => {
  const sender = await makeSender(db, { judged: false });
  for (let round = 0; round < 20; round++) {
    const [old, next] = [call(sender, ["search"]), call(sender, ["search"])];
    await writer.write(old);
    await Promise.all([deleteTrace(other, old.traceId), writer.write(next)]);
    assert.deepEqual(await valuesOf(sender), ["model m-1", "tool search"]);
    await deleteTrace(db, next.traceId);
  }
});

test("storing a trace waits for a deletion that found its value unused, and adds it again", async () => {
  const sender = await makeSender(db, { judged: false });
  const [old, next] = [call(sender, ["search"]), call(sender, ["search"])];
  await writer.write(old);
  const deletion = await begun(await placeOf(other, sender.agentId));
  await deletion.query("select delete_traces(array[$1::uuid])", [old.traceId]);
  const stored = writer.write(next);
  await waiting(await placeOf(db, sender.agentId), ", item as materialized");
  await deletion.commit();
  await stored;
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool search"]);
});
