// Resources that several traces of an agent share: stored once, read with each trace, and deleted with the last one.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, suite, test } from "node:test";
import { deleteKey } from "../../../src/store/accounts/keys.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { newId } from "../../../src/store/new-id.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import type { SharedResource, TraceWrite } from "../../../src/store/traces/write.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { encodeResource, encodeWithoutResource } from "../../../src/wire/batch.ts";
import { makeBatch } from "../../model/make-trace.ts";
import { loadTrace } from "../../support/loaded-trace.ts";
import { begun, waiting } from "../locks.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite, type Sender } from "./make-write.ts";

const { db, other, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const otherWriter = new TraceWriter(other, limits);

const resourceOf = (version: string) => ({ "service.name": "agent", version });
const shared = (version = "1"): SharedResource & { hash: string } => ({
  ...encodeResource(resourceOf(version)),
  id: randomUUID(),
});

/** A write of a new trace, or of one with this identity, whose resource is stored apart. */
function sharing(
  sender: Sender,
  resource: SharedResource & { hash: string },
  sent: Parameters<typeof otlpWrite>[1] = {},
): TraceWrite {
  const write = otlpWrite(sender, sent);
  const spans = (sent.spans ?? ["a"]).map(id => ({
    ...span,
    span_id: id.padStart(16, "0"),
    name: sent.text ?? "",
  }));
  const { bytes, rawLength } = encodeWithoutResource(makeBatch(spans), resource.hash);
  return { ...write, bytes, rawLength: rawLength + 100, resource };
}

const span = {
  span_id: "",
  parent_span_id: null,
  name: "a",
  attributes: {},
  start_time_unix_nano: null,
  end_time_unix_nano: null,
  status: null,
  events: [],
};

const store = (writes: TraceWrite[]) => Promise.all(writes.map(write => writer.write(write)));

/** The stored resources of the agent, and the transaction that wrote each. */
async function stored({ agentId }: Sender): Promise<string[]> {
  const { rows } = await db.pool.query<{ row: string }>(
    "select id || ' ' || xmin as row from shared_resources where agent_id = $1 order by id",
    [agentId],
  );
  return rows.map(({ row }) => row);
}

const resourceRead = async (traceId: string) => (await loadTrace(db, traceId)).trace.resource;

suite("a resource that traces share", () => {
  test("is stored once, by the first of several transactions, and read with every trace", async () => {
    const sender = await makeSender(db);
    const resource = shared();
    const first = await store([sharing(sender, resource), sharing(sender, resource), otlpWrite(sender)]);
    const rows = await stored(sender);
    assert.equal(rows.length, 1);
    const second = await store([sharing(sender, resource), sharing(sender, shared("2"))]);
    assert.ok((await stored(sender)).includes(rows[0]!), "the row is not written again");
    const read = await Promise.all([...first, ...second].map(({ traceId }) => resourceRead(traceId)));
    const [one, two] = [resourceOf("1"), resourceOf("2")];
    assert.deepEqual(read, [one, one, { "service.name": "agent" }, one, two]);
  });

  test("stays while one of its traces is stored, and goes with the last", async () => {
    const sender = await makeSender(db);
    const resource = shared();
    const traces = await store([1, 2, 3].map(() => sharing(sender, resource)));
    const [last, ...before] = traces.map(({ traceId }) => traceId);
    for (const traceId of before) await deleteTrace(db, traceId);
    assert.equal((await stored(sender)).length, 1);
    assert.deepEqual(await resourceRead(last!), resourceOf("1"));
    await deleteTrace(db, last!);
    assert.deepEqual(await stored(sender), []);
  });

  test("goes with the agent, and not with another agent that sent the same", async () => {
    const [gone, there] = [await makeSender(db), await makeSender(db)];
    await store([gone, there].flatMap(sender => [shared()].map(resource => sharing(sender, resource))));
    await db.pool.query("delete from agents where id = $1", [gone.agentId]);
    assert.deepEqual([(await stored(gone)).length, (await stored(there)).length], [0, 1]);
  });

  test("goes when its last trace is replaced, or its last batch superseded", async () => {
    const sender = await makeSender(db);
    const [one, two, three] = [shared("1"), shared("2"), shared("3")];
    const [replaced, merged] = [randomUUID(), randomUUID()];
    await store([
      sharing(sender, one, { externalId: replaced }),
      sharing(sender, two, { externalId: merged }),
    ]);
    await writer.write(canonicalWrite(sender, { externalId: replaced }));
    const tight = new TraceWriter(db, { ...limits, traceSpansMax: 1 });
    const { traceId } = await tight.write(sharing(sender, three, { externalId: merged, text: "newer" }));
    assert.deepEqual(
      (await stored(sender)).map(row => row.split(" ")[0]),
      [three.id],
    );
    assert.deepEqual(await resourceRead(traceId), resourceOf("3"));
  });

  test("is merged into a stored trace, and a repeated batch stores nothing", async () => {
    const sender = await makeSender(db);
    const externalId = randomUUID();
    const resource = shared();
    await writer.write(otlpWrite(sender, { externalId, spans: ["a"] }));
    const batch = sharing(sender, resource, { externalId, spans: ["b"] });
    const { traceId, revision } = await writer.write(batch);
    assert.equal((await writer.write({ ...batch, traceId: newId() })).revision, revision);
    const { trace } = await loadTrace(db, traceId);
    assert.equal(trace.spans[1]!.resource?.["version"], "1");
  });

  test("is not stored for a trace that is rejected", async () => {
    const sender = await makeSender(db);
    await deleteKey(db, sender.keyId);
    await assert.rejects(writer.write(sharing(sender, shared())), { code: "UNAUTHORIZED" });
    assert.deepEqual(await stored(sender), []);
  });
});

suite("concurrent transactions", () => {
  test("that delete the last two traces of a resource leave nothing", async () => {
    const sender = await makeSender(db);
    const resource = shared();
    const traces = await store([sharing(sender, resource), sharing(sender, resource)]);
    const first = await begun(await placeOf(other, sender.agentId));
    await first.query("select delete_traces(array[$1::uuid])", [traces[0]!.traceId]);
    const second = deleteTrace(db, traces[1]!.traceId);
    await waiting(await placeOf(db, sender.agentId), "delete_traces");
    await first.commit();
    await second;
    assert.deepEqual(await stored(sender), []);
  });

  test("that store a trace while the last one is deleted leave a trace with its resource", async () => {
    const sender = await makeSender(db);
    const resource = shared();
    const [gone] = await store([sharing(sender, resource)]);
    const deleting = await begun(await placeOf(other, sender.agentId));
    await deleting.query("select delete_traces(array[$1::uuid])", [gone!.traceId]);
    const storing = writer.write(sharing(sender, resource));
    await waiting(await placeOf(db, sender.agentId), "for key share");
    await deleting.commit();
    assert.deepEqual(await resourceRead((await storing).traceId), resourceOf("1"));
  });

  test("leave every stored trace with its resource and no resource without a trace", async () => {
    const sender = await makeSender(db);
    const resources = [shared("1"), shared("2")];
    const kept: string[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let round = 0; round < 25; round++) {
          const by = worker % 2 === 0 ? writer : otherWriter;
          const { traceId } = await by.write(sharing(sender, resources[(worker + round) % 2]!));
          if (round % 10 === worker) kept.push(traceId);
          else await deleteTrace(worker % 2 === 0 ? other : db, traceId);
        }
      }),
    );
    for (const traceId of kept) assert.ok((await resourceRead(traceId))?.["version"]);
    for (const traceId of kept) await deleteTrace(db, traceId);
    assert.deepEqual(await stored(sender), []);
  });
});
