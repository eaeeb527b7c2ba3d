// Tools and models of traces: kept on the rows and by minute, and gone with the last trace that has them.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { listStale, updateColumns } from "../../../src/store/traces/stale.ts";
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

let ids = 0;

/** A trace that calls these tools, with an id of the same minute as the others, however long the test takes. */
function call(sender: Sender, tools: string[], externalId?: string) {
  const write = canonicalWrite(sender, {
    text: tools.join(" "),
    ...(externalId && { externalId }),
    attributes: { "gen_ai.request.model": "m-1" },
  });
  const id = `01900000-0000-7000-8000-${String(++ids).padStart(12, "0")}`;
  return { ...write, traceId: id, columns: { ...write.columns, tools } };
}

it("a value has one row in a minute, and goes with the last trace that has it", async () => {
  const sender = await makeSender(db, { judged: false });
  const [first, second] = [call(sender, ["search", "refund"]), call(sender, ["search"])];
  await Promise.all([first, second].map(write => writer.write(write)));
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool refund", "tool search"]);
  await deleteTrace(db, first.traceId);
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool search"]);
  await deleteTrace(db, second.traceId);
  assert.deepEqual(await valuesOf(sender), []);
});

it("a replaced trace loses the tools that it no longer calls", async () => {
  const sender = await makeSender(db, { judged: false });
  await writer.write(call(sender, ["search", "refund"], "x"));
  await writer.write(call(sender, ["search", "ask"], "x"));
  const { rows } = await db.pool.query("select tools, models from traces where agent_id = $1", [
    sender.agentId,
  ]);
  assert.deepEqual(rows, [{ tools: ["search", "ask"], models: ["m-1"] }]);
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool ask", "tool search"]);
});

it("the tools of a merged trace are those of all its batches once its columns are updated", async () => {
  const sender = await makeSender(db, { judged: false });
  const write = otlpWrite(sender, { externalId: "merged", spans: ["a"] });
  await writer.write({ ...write, columns: { ...write.columns, tools: ["search"] } });
  await writer.write(otlpWrite(sender, { externalId: "merged", spans: ["b"] }));
  const [stale] = await listStale(db, { agentId: sender.agentId, limit: 10 });
  const columns = { ...write.columns, tools: ["lookup"], models: ["m-2"] };
  await updateColumns(db, [{ traceId: stale!.id, revision: stale!.revision, columns }]);
  assert.deepEqual(await valuesOf(sender), ["model m-2", "tool lookup"]);
});

it("a name keeps no character that would make it two, and an empty list is known to be empty", async () => {
  const sender = await makeSender(db, { judged: false });
  const write = call(sender, []);
  await writer.write({ ...write, columns: { ...write.columns, models: [] } });
  const { rows } = await db.pool.query("select tools, models from traces where agent_id = $1", [
    sender.agentId,
  ]);
  assert.deepEqual(rows, [{ tools: [], models: [] }]);
  assert.deepEqual(await valuesOf(sender), []);
});

it("a value is kept whose last trace is deleted while another one is stored", async () => {
  const sender = await makeSender(db, { judged: false });
  for (let round = 0; round < 20; round++) {
    const [old, next] = [call(sender, ["search"]), call(sender, ["search"])];
    await writer.write(old);
    await Promise.all([deleteTrace(other, old.traceId), writer.write(next)]);
    assert.deepEqual(await valuesOf(sender), ["model m-1", "tool search"]);
    await deleteTrace(db, next.traceId);
  }
});

it("storing a trace waits for a deletion that found its value unused, and adds it again", async () => {
  const sender = await makeSender(db, { judged: false });
  const [old, next] = [call(sender, ["search"]), call(sender, ["search"])];
  await writer.write(old);
  const deletion = await begun(other);
  await deletion.query("delete from traces where id = $1", [old.traceId]);
  const stored = writer.write(next);
  await waiting(db, ", item as materialized");
  await deletion.commit();
  await stored;
  assert.deepEqual(await valuesOf(sender), ["model m-1", "tool search"]);
});
