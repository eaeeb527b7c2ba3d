// A trace that a manual run waits for belongs to the test run on both paths, and is not live traffic.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  openTwice,
  otlpWrite,
  type Sender,
} from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sender = await makeSender(db);

async function expectTrace({ agentId }: Sender, externalId: string): Promise<void> {
  await db.pool.query(
    "insert into expected_traces (agent_id, external_id, run_id, turn) values ($1, $2, $3, 1)",
    [agentId, externalId, randomUUID()],
  );
}

async function kindOf(traceId: string): Promise<string> {
  const { rows } = await db.pool.query("select kind from traces where id = $1", [traceId]);
  return rows[0].kind;
}

async function countRuns(traceId: string): Promise<number> {
  return (await db.pool.query("select from queue where trace_id = $1", [traceId])).rowCount!;
}

for (const [path, make] of [
  ["canonical", canonicalWrite],
  ["OTLP", otlpWrite],
] as const) {
  test(`an expected trace by the ${path} path belongs to the test run, and schedules no evaluation`, async () => {
    const externalId = `run-${randomUUID()}`;
    await expectTrace(sender, externalId);
    const stored = await writer.write(make(sender, { externalId }));
    assert.equal(await kindOf(stored.traceId), "test_run");
    assert.equal(stored.evaluation, "none");
    assert.equal(await countRuns(stored.traceId), 0);
  });

  test(`later batches of an expected trace by the ${path} path schedule no evaluation either`, async () => {
    const externalId = `run-${randomUUID()}`;
    await expectTrace(sender, externalId);
    const { traceId } = await writer.write(make(sender, { externalId }));
    const more = await writer.write(make(sender, { externalId, spans: ["b"] }));
    assert.deepEqual([more.traceId, more.evaluation], [traceId, "none"]);
    // Not even once the identity is no longer expected.
    await db.pool.query("delete from expected_traces where external_id = $1", [externalId]);
    assert.equal((await writer.write(make(sender, { externalId, spans: ["c"] }))).evaluation, "none");
    assert.equal(await countRuns(traceId), 0);
    assert.equal(await kindOf(traceId), "test_run");
  });

  test(`next to an expected trace, another by the ${path} path in the same commit is live and evaluated`, async () => {
    const externalId = `run-${randomUUID()}`;
    await expectTrace(sender, externalId);
    const [expected, live] = await Promise.all(
      [externalId, randomUUID()].map(one => writer.write(make(sender, { externalId: one }))),
    );
    assert.equal(await kindOf(expected!.traceId), "test_run");
    assert.equal(await kindOf(live!.traceId), "live");
    assert.equal(live!.evaluation, "scheduled");
  });
}

test("an identity that another agent's run expects has no effect", async () => {
  const other = await makeSender(db);
  const externalId = `run-${randomUUID()}`;
  await expectTrace(other, externalId);
  const stored = await writer.write(canonicalWrite(sender, { externalId }));
  assert.equal(await kindOf(stored.traceId), "live");
  assert.equal(stored.evaluation, "scheduled");
});
