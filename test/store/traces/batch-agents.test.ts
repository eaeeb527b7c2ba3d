// The agents of batches: written with every batch, and filled for batches from before.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { backfillBatchAgents } from "../../../src/load/backfill.ts";
import { idAt, newest } from "../../../src/store/listing.ts";
import { fillBatchAgents } from "../../../src/store/traces/batch-agents.ts";
import { storeRecords } from "../../../src/store/traces/records.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { eventually } from "../../support/eventually.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  openTwice,
  otlpWrite,
  questions,
  type Sender,
} from "./make-write.ts";

const { db, other, close } = await openTwice();
after(close);
// As it is until all batches have an agent.
await db.pool.query(`alter table trace_batches drop constraint trace_batches_pkey, alter column agent_id drop not null,
  add constraint trace_batches_pkey primary key (trace_id, seq)`);
const writer = new TraceWriter(db, limits);

type Batch = { seq: number; agent: string | null };

async function batchesOf(sender: Sender): Promise<Batch[]> {
  const { rows } = await db.pool.query<Batch>(
    `select b.seq, b.agent_id as agent from trace_batches b join traces t on t.id = b.trace_id
     where t.agent_id = $1 order by t.id, b.seq`,
    [sender.agentId],
  );
  return rows;
}

test("a new trace, a replacement, a merge and log records write the agent of their batch", async () => {
  const sender = await makeSender(db);
  const agent = sender.agentId;
  await writer.write(canonicalWrite(sender, { externalId: "canonical" }));
  await writer.write(canonicalWrite(sender, { externalId: "canonical", text: "again" }));
  const otlpTraceId = "0af7651916cd43dd8448eb211c80319c";
  await writer.write(otlpWrite(sender, { externalId: otlpTraceId, spans: ["a"] }));
  await writer.write(otlpWrite(sender, { externalId: otlpTraceId, spans: ["b"] }));
  await storeRecords(db, questions(sender, otlpTraceId, "a", "Hello"), limits);
  assert.deepEqual(await batchesOf(sender), [
    { seq: 1, agent },
    { seq: 1, agent },
    { seq: 2, agent },
    { seq: 3, agent },
  ]);
});

test("batches from before get the agents of their traces, newest first, a few traces at a time", async () => {
  const senders = [await makeSender(db), await makeSender(db)];
  for (let at = 0; at < 6; at++) {
    const sender = senders[at % 2]!;
    await writer.write(otlpWrite(sender, { externalId: `old ${at}`, spans: ["a"] }));
    await writer.write(otlpWrite(sender, { externalId: `old ${at}`, spans: ["b"] }));
  }
  await db.pool.query("update trace_batches set agent_id = null");
  const filled = async () =>
    (await Promise.all(senders.map(batchesOf))).flat().filter(({ agent }) => agent !== null).length;
  const through = await fillBatchAgents(db, newest, 2);
  assert.equal(await filled(), 4);
  assert.equal(typeof through, "string");
  const left =
    "insert into backfills (name, below, lease_until) values ('batch_agents', $1, now() + interval '1 day')";
  await db.pool.query(left, [through]);
  assert.equal(await backfillBatchAgents(db), false, "another process has the lease");
  await db.pool.query("update backfills set lease_until = now() where name = 'batch_agents'");
  while (await backfillBatchAgents(db));
  for (const sender of senders) {
    const agents = new Set((await batchesOf(sender)).map(({ agent }) => agent));
    assert.deepEqual(agents, new Set([sender.agentId]));
  }
  assert.equal((await db.pool.query("select from trace_batches where agent_id is null")).rowCount, 0);
  assert.equal((await db.pool.query("select from backfills where name = 'batch_agents'")).rowCount, 0);
  assert.equal(await fillBatchAgents(db, idAt(0), 2), null);
});

test("a trace that is being merged is waited for, and its new batch keeps its agent", async () => {
  const sender = await makeSender(db);
  await writer.write(otlpWrite(sender, { externalId: "merging", spans: ["a"] }));
  await db.pool.query("update trace_batches set agent_id = null");
  const client = await other.pool.connect();
  await client.query("begin");
  await client.query("select from traces where agent_id = $1 for update", [sender.agentId]);
  const filling = fillBatchAgents(db, newest, 1);
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%update trace_batches%'`;
  await eventually(async () => assert.equal((await other.pool.query(waiting)).rowCount, 1));
  await client.query(
    `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, spans)
     select agent_id, id, 2, 1, '', '' from traces where agent_id = $1`,
    [sender.agentId],
  );
  await client.query("commit");
  client.release();
  await filling;
  const agent = sender.agentId;
  assert.deepEqual(await batchesOf(sender), [
    { seq: 1, agent },
    { seq: 2, agent },
  ]);
});
