// Identities of traces: what stays of a trace whose retention time is over, and what goes with a deletion.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eraseIdentities } from "../../../src/jobs/erase/identities.ts";
import type { Database } from "../../../src/store/db.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { expireTraces } from "../../../src/store/traces/retention.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite } from "./make-write.ts";

const { db, close } = await openTwice();
after(close);

const old = new Date(Date.now() - 6 * 86_400_000);
const expiry = { serverDays: 5, tracesMax: 100 };

async function identitiesOf(of: Database, agentId: string): Promise<string[]> {
  const { rows } = await of.pool.query<{ name: string }>(
    `select external_id as name from trace_identities where agent_id = $1 order by external_id collate "C"`,
    [agentId],
  );
  return rows.map(({ name }) => name);
}

test("a trace whose time is over is not stored again, on either path, and its identity goes with the agent", async () => {
  const sender = await makeSender(db);
  const { agentId } = sender;
  const writer = new TraceWriter(db, limits);
  const ids: string[] = [];
  for (const externalId of ["a", "b"])
    ids.push(await storeTrace(db, agentId, { externalId, receivedAt: old }));
  assert.equal(await expireTraces(db, agentId, expiry), 2);
  assert.deepEqual(await identitiesOf(db, agentId), ["a", "b"]);
  const [merged, replaced, created] = await Promise.all([
    writer.write(otlpWrite(sender, { externalId: "a" })),
    writer.write(canonicalWrite(sender, { externalId: "b" })),
    writer.write(otlpWrite(sender, { externalId: "c" })),
  ]);
  const nothing = { revision: 1, evaluation: "none", isExpired: true };
  assert.deepEqual(merged, { traceId: ids[0], state: "merged", ...nothing });
  assert.deepEqual(replaced, { traceId: ids[1], state: "replaced", ...nothing });
  assert.equal(created.state, "created");
  for (const table of ["traces", "trace_batches", "queue"]) {
    const { rowCount } = await db.pool.query(`select from ${table} where agent_id = $1`, [agentId]);
    assert.equal(rowCount, 1, table);
  }
  await db.pool.query("delete from agents where id = $1", [agentId]);
  assert.deepEqual(await identitiesOf(db, agentId), []);
});

test("a trace that somebody deleted is new when it is sent again", async () => {
  const sender = await makeSender(db);
  const writer = new TraceWriter(db, limits);
  const { traceId } = await writer.write(otlpWrite(sender, { externalId: "a" }));
  await deleteTrace(db, traceId);
  assert.deepEqual(await identitiesOf(db, sender.agentId), []);
  const again = await writer.write(otlpWrite(sender, { externalId: "a" }));
  assert.equal(again.state, "created");
  assert.notEqual(again.traceId, traceId);
});

test("an erasure takes the identities of traces that are gone, by what it is about", async () => {
  const { agentId, projectId } = await makeSender(db);
  const names = ["order of Ann", "order of ann", "other", "third"];
  const ids: string[] = [];
  for (const externalId of names) ids.push(await storeTrace(db, agentId, { externalId, receivedAt: old }));
  await expireTraces(db, agentId, expiry);
  const kept = await storeTrace(db, agentId, { externalId: "order of Ann, new" });
  const erase = async (kind: "text" | "externalId" | "traceIds" | "userId", ...values: string[]) => {
    const { signal } = new AbortController();
    let cursor: string | null = null;
    do {
      cursor = await eraseIdentities(db, { projectId, criterion: { kind, values }, cursor }, signal);
    } while (cursor !== null);
    return identitiesOf(db, agentId);
  };
  const stays = "order of Ann, new";
  assert.deepEqual(await erase("userId", "other"), ["order of Ann", stays, "order of ann", "other", "third"]);
  assert.deepEqual(await erase("externalId", "other"), ["order of Ann", stays, "order of ann", "third"]);
  assert.deepEqual(await erase("traceIds", ids[3]!, kept), ["order of Ann", stays, "order of ann"]);
  assert.deepEqual(await erase("text", "of Ann"), [stays, "order of ann"]);
});
