// Log records in the store: whichever of records and span is committed last joins them, within limits, each once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type pg from "pg";
import { readByNothing } from "../../../src/model/agent/read-by.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import type { Session } from "../../../src/store/db.ts";
import { loadBatches } from "../../../src/store/traces/batches.ts";
import { JoinRetry } from "../../../src/store/traces/join-retry.ts";
import type { NamedTrace } from "../../../src/store/traces/otlp-ids.ts";
import { expireRecords, storeRecords } from "../../../src/store/traces/records.ts";
import type { SentRecords } from "../../../src/store/traces/waiting-records.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { newTraceId } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { limits, makeSender, openTwice, otlpWrite, questions, type Sender } from "./make-write.ts";

let opened: Awaited<ReturnType<typeof openTwice>>;
let writer: TraceWriter;
let retry: JoinRetry;
before(async () => {
  opened = await openTwice();
  retry = new JoinRetry({ db: opened.db, limits, log: console, onJoined() {}, onRefused() {} });
  writer = new TraceWriter(opened.db, { ...limits, retryJoin });
});
after(async () => {
  await retry.close();
  await opened.close();
});

/** On a busy machine, a join may find no connection in time. */
const retryJoin = (traces: NamedTrace[]) => retry.add(traces);

const spansOf = (sender: Sender, externalId: string, ...spans: string[]) => ({
  ...otlpWrite(sender, { externalId, spans }),
  readBy: { conventions: ["*"], conventionRules: [] },
});

/** The trace's revision and batches, and how many rows wait for it. */
async function stateOf(traceId: string): Promise<[revision: number, batches: number, waiting: number]> {
  const { rows } = await opened.db.pool.query(
    `select t.revision, t.batch_count as batches,
        (select count(*)::int from waiting_records w where w.agent_id = t.agent_id) as waiting
      from traces t where t.external_id = $1`,
    [traceId],
  );
  return [rows[0].revision, rows[0].batches, rows[0].waiting];
}

test("records and spans that are committed at the same time find each other", async () => {
  const sender = await makeSender(opened.db);
  const ids = Array.from({ length: 40 }, newTraceId);
  await Promise.all(
    ids.flatMap(id => [
      storeRecords(opened.other, questions(sender, id, "a", "Hello"), limits, retryJoin),
      writer.write(spansOf(sender, id, "a")),
    ]),
  );
  for (const id of ids) await eventually(async () => assert.deepEqual(await stateOf(id), [2, 2, 0]));
});

test("the same records are stored once, from one request or several at the same time", async () => {
  const sender = await makeSender(opened.db);
  const id = newTraceId();
  await writer.write(spansOf(sender, id, "a"));
  const send = () => storeRecords(opened.other, questions(sender, id, "a", "One", "Two"), limits, retryJoin);
  await Promise.all([send(), send(), send()]);
  await eventually(async () => assert.deepEqual(await stateOf(id), [2, 2, 0]));
  await storeRecords(opened.db, questions(sender, id, "a", "Two", "Three"), limits);
  assert.deepEqual(await stateOf(id), [3, 3, 0]);
});

test("the same record about two spans of a trace is kept for each, and stored once for each", async () => {
  const sender = await makeSender(opened.db);
  const id = newTraceId();
  await writer.write(spansOf(sender, id, "a", "b"));
  for (const span of ["a", "b", "a", "b"]) {
    await storeRecords(opened.db, questions(sender, id, span, "Hello"), limits);
  }
  assert.deepEqual(await stateOf(id), [3, 3, 0]);
});

test("records of several traces, spans and agents join their own alone", async () => {
  const [sender, other] = [await makeSender(opened.db), await makeSender(opened.db)];
  const id = newTraceId();
  await writer.write(spansOf(sender, id, "a"));
  await storeRecords(opened.db, questions(other, id, "a", "Hello"), limits);
  await storeRecords(opened.db, questions(sender, id, "b", "Hello"), limits);
  assert.deepEqual(await stateOf(id), [1, 1, 1]);
  await writer.write(spansOf(sender, id, "b"));
  assert.deepEqual(await stateOf(id), [3, 3, 0]);
});

test("a trace has no room for more records than its limits, and the spans of a full trace replace no records", async () => {
  const sender = await makeSender(opened.db);
  const id = newTraceId();
  await writer.write(spansOf(sender, id, "a"));
  const few = { ...limits, traceSpansMax: 2 };
  const { refused } = await storeRecords(opened.db, questions(sender, id, "a", "1", "2", "3"), few);
  assert.equal(refused, 3);
  assert.deepEqual(await stateOf(id), [1, 1, 0]);
  await storeRecords(opened.db, questions(sender, id, "a", "1"), few);
  const narrow = new TraceWriter(opened.db, few);
  for (let sent = 0; sent < 4; sent++) {
    await narrow.write({
      ...otlpWrite(sender, { externalId: id, spans: ["a"], text: String(sent) }),
      readBy: readByNothing,
    });
  }
  const { rows } = await opened.db.pool.query(
    "select count(*)::int as rows from trace_batches where trace_id = (select id from traces where external_id = $1) and record_keys is not null",
    [id],
  );
  assert.deepEqual(rows, [{ rows: 1 }]);
});

test("records that waited for a trace without room are reported by who sent them, whichever request joins them", async () => {
  const sender = await makeSender(opened.db);
  const few = { ...limits, traceSpansMax: 2 };
  const { projectId, agentId, keyId } = sender;
  const by = { id: undefined, projectId, agentId, keyId, serviceName: "agent" };
  const told: SentRecords[] = [];
  const withoutId = (one: SentRecords) => ({ ...one, id: undefined });
  const onRecordsRefused = (refused: SentRecords[]) => void told.push(...refused);
  const narrow = new TraceWriter(opened.db, { ...few, onRecordsRefused });
  const id = newTraceId();
  await opened.db.pool.query("update agents set otlp_service_name = 'agent' where id = $1", [sender.agentId]);
  await storeRecords(opened.db, questions(sender, id, "a", "1", "2", "3"), few);
  await narrow.write(spansOf(sender, id, "a"));
  assert.deepEqual(told.map(withoutId), [{ ...by, records: 3 }]);
  assert.deepEqual(await stateOf(id), [1, 1, 0]);
  // The writer looks for no records of this span, so they wait until the next request.
  await storeRecords(opened.db, questions(sender, id, "b", "1", "2", "3", "4"), few);
  await narrow.write({ ...spansOf(sender, id, "b"), readBy: readByNothing });
  const outcome = await storeRecords(opened.db, questions(sender, id, "a", "5", "6", "7"), few);
  assert.deepEqual([outcome.refused, outcome.dropped.map(withoutId)], [3, [{ ...by, records: 4 }]]);
  assert.deepEqual(await stateOf(id), [2, 2, 0]);
});

test("records whose joining was interrupted are joined before they would be dropped", async () => {
  const sender = await makeSender(opened.db);
  const id = newTraceId();
  await writer.write({ ...spansOf(sender, id, "a"), readBy: readByNothing });
  const [late, lost] = [questions(sender, id, "a", "Hello"), questions(sender, id, "b", "Hello", "Again")];
  await storeRecords(opened.db, lost, limits);
  await opened.db.pool.query("update trace_identities set external_id = 'hidden' where external_id = $1", [
    id,
  ]);
  await storeRecords(opened.db, late, limits);
  await opened.db.pool.query("update trace_identities set external_id = $1 where external_id = 'hidden'", [
    id,
  ]);
  assert.deepEqual(await stateOf(id), [1, 1, 2]);
  assert.deepEqual(await expireRecords(opened.db, limits), { joined: [], refused: [], expired: [] });
  const { joined, expired } = await expireRecords(opened.db, limits, 0);
  assert.deepEqual(
    joined.map(one => one.agentId),
    [sender.agentId],
  );
  const own = expired.filter(one => one.agentId === sender.agentId);
  assert.deepEqual(
    own.map(({ keyId, records }) => [keyId, records]),
    [[sender.keyId, 2]],
  );
  assert.deepEqual(await stateOf(id), [2, 2, 0]);
});

test("records of a key that was revoked meanwhile are not stored", async () => {
  const sender = await makeSender(opened.db);
  await opened.db.pool.query("delete from keys where id = $1", [sender.keyId]);
  await assert.rejects(storeRecords(opened.db, questions(sender, newTraceId(), "a", "Hello"), limits), {
    code: "UNAUTHORIZED",
  });
});

test("traces of agents without conventions ask for no records, and others once for all that are stored together", async () => {
  const sender = await makeSender(opened.db);
  const asked: string[] = [];
  const place = await placeOf(opened.db, sender.agentId);
  const query = (statement: pg.QueryConfig) => {
    asked.push(statement.name ?? "");
    return place.pool.query(statement);
  };
  const watched = new TraceWriter({ ...place, pool: { query: query as Session["query"] } }, limits);
  const write = (conventions: string[]) =>
    watched.write({ ...spansOf(sender, newTraceId(), "a"), readBy: { conventions, conventionRules: [] } });
  await Promise.all([write([]), write([]), write([])]);
  assert.deepEqual(asked, ["insert_traces"]);
  asked.length = 0;
  await Promise.all([write(["*"]), write([]), write(["*"])]);
  assert.deepEqual(asked, ["insert_traces", "list_waiting"]);
});

test("a stored trace loads with its records", async () => {
  const sender = await makeSender(opened.db);
  const id = newTraceId();
  const { traceId } = await writer.write(spansOf(sender, id, "a"));
  await storeRecords(opened.db, questions(sender, id, "a", "Hello"), limits);
  const { loaded } = await loadBatches(opened.db, [traceId]);
  assert.equal(loaded.get(traceId)!.batches.length, 2);
});

test("records move the pending run of their trace, also before their span arrives", async () => {
  const sender = await makeSender(opened.db);
  const id = newTraceId();
  await writer.write(spansOf(sender, id, "a"));
  for (const [span, text] of [
    ["a", "Hello"],
    ["b", "Hello"],
    ["b", "Again"],
  ] as const) {
    await opened.db.pool.query("update queue set due_at = now() where agent_id = $1", [sender.agentId]);
    await storeRecords(opened.db, questions(sender, id, span, text), limits);
    const { rows } = await opened.db.pool.query(
      "select extract(epoch from due_at - now()) > 1 as moved from queue where agent_id = $1",
      [sender.agentId],
    );
    assert.deepEqual(rows, [{ moved: true }], span);
  }
});
