// Which traces an erasure deletes: those that still match after the dry run, by IDs as they were sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { begun, waiting } from "../store/locks.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan, newSpanId, newTraceId } from "../support/bodies.ts";
import { eraseAll, startErasure } from "../support/erasing.ts";
import { callSpan, logsOf, questionRecord } from "../support/log-records.ts";
import { send, traceIdOf } from "../support/send.ts";
import { world } from "../support/world.ts";
import { resourceSpans } from "../wire/make-body.ts";

const service = world();

const erasing = () => ({ client: service.client, projectId: service.projectId });

/** Stores or replaces the trace of this request. */
async function sendUser(requestId: string, user: string): Promise<string> {
  const spans = [canonicalSpan({ attributes: { "user.id": user } })];
  const body = canonicalBody(service.agent.id, { spans });
  return traceIdOf(await send(service, { body, headers: { "x-request-id": requestId } }));
}

const remaining = async (): Promise<string[]> => {
  const { rows } = await service.db.pool.query<{ id: string }>("select id from traces order by id");
  return rows.map(({ id }) => id);
};

test("a trace that was replaced after the dry run is erased only if it still matches, or is named by its ID", async () => {
  const leaves = await sendUser("over-1", "jane-1");
  for (const criterion of [{ userId: "jane-1" }, { text: "jane-1" }]) {
    await sendUser("over-1", "jane-1");
    const stays = await sendUser("over-2", "jane-1");
    assert.equal((await startErasure(erasing(), { ...criterion, dryRun: true })).matched, 2);
    assert.equal(await sendUser("over-1", "bob-1"), leaves, "replaced");
    assert.equal(await sendUser("over-2", "jane-1"), stays);
    const { state, matched, erased } = await startErasure(erasing(), { ...criterion, confirm: 2 });
    assert.deepEqual([state, matched, erased], ["done", 1, 1]);
    assert.deepEqual(await remaining(), [leaves]);
  }
  const traceIds = [leaves];
  await startErasure(erasing(), { traceIds, dryRun: true });
  await sendUser("over-1", "carol-1");
  assert.equal((await startErasure(erasing(), { traceIds, confirm: 1 })).erased, 1);
  assert.deepEqual(await remaining(), []);
});

test("a trace that is replaced just before it would be deleted is read again, and stays if it no longer matches", async () => {
  const leaves = await sendUser("late-1", "jane-2");
  await sendUser("late-2", "jane-2");
  const other = await sendUser("late-3", "bob-2");
  const criterion = { userId: "jane-2" };
  assert.equal((await startErasure(erasing(), { ...criterion, dryRun: true })).matched, 2);
  const place = await placeOf(service.db, service.agent.id);
  const replacing = await begun(place);
  await replacing.query(
    `update traces set user_id = case when id = $1 then 'bob-2' else user_id end, revision = revision + 1, updated_at = now()
     where id <> $2`,
    [leaves, other],
  );
  await replacing.query(
    `update trace_batches b set spans = o.spans, span_keys = o.span_keys, raw_length = o.raw_length
     from trace_batches o where b.trace_id = $1 and o.trace_id = $2`,
    [leaves, other],
  );
  const erased = startErasure(erasing(), { ...criterion, confirm: 2 });
  await waiting(place, "chosen as materialized");
  await replacing.commit();
  const erasure = await erased;
  assert.deepEqual([erasure.state, erasure.matched, erasure.erased], ["done", 2, 1]);
  assert.deepEqual(await remaining(), [leaves, other]);
  assert.equal((await startErasure(erasing(), { userId: "bob-2", dryRun: true })).matched, 2);
  assert.equal((await startErasure(erasing(), { userId: "bob-2", confirm: 2 })).erased, 2);
});

test("an OTLP trace ID is found in upper case, as it was sent, and an x-request-id in its own case alone", async () => {
  const traceId = newTraceId().toUpperCase();
  const requestId = newTraceId().toUpperCase();
  const body = {
    resourceSpans: [resourceSpans("support-agent", [callSpan({ traceId, spanId: newSpanId() })])],
  };
  assert.equal((await send(service, { body })).status, 200);
  await sendUser(requestId, "jane");
  const matched = async (criterion: object) =>
    (await startErasure(erasing(), { ...criterion, dryRun: true })).matched;
  for (const kind of ["externalId", "text"]) {
    for (const id of [traceId, traceId.toLowerCase(), requestId]) {
      assert.equal(await matched({ [kind]: id }), 1, `${kind} ${id}`);
    }
    assert.equal(await matched({ [kind]: requestId.toLowerCase() }), 0);
  }
  for (const externalId of [traceId, requestId]) {
    assert.equal((await startErasure(erasing(), { externalId, confirm: 1 })).erased, 1);
  }
  assert.deepEqual(await remaining(), []);
});

test("a log record that joins its trace while waiting ones are deleted is a 409 that says what may be gone, and its erasure stays", async () => {
  const text = "asked during the erasure";
  const agent = await makeAgent(service.owner, { otlpServiceName: "joining" });
  await service.client.patch(`/api/agents/${agent.id}`, { conventions: ["*"] }).expect(200);
  const assertions = [{ type: "response_time", max_ms: 1000 }];
  await makeTest(service.owner, agent.id, { passiveBehavior: "always_run", assertions });
  const ids = { traceId: newTraceId(), spanId: newSpanId() };
  for (const span of [
    callSpan({ traceId: newTraceId(), spanId: newSpanId() }, { note: text }),
    callSpan(ids),
  ]) {
    const body = { resourceSpans: [resourceSpans("joining", [span])] };
    assert.equal((await send(service, { body })).status, 200);
  }
  assert.equal((await startErasure(erasing(), { text, dryRun: true })).matched, 1);

  // Joining locks the record before the pending run of its trace.
  const place = await placeOf(service.db, agent.id);
  const run = await begun(place);
  const { rowCount } = await run.query(
    `select from queue r join traces t on t.agent_id = r.agent_id and t.id = r.trace_id
     where t.external_id = $1 and r.state = 'pending' for update of r`,
    [ids.traceId],
  );
  assert.equal(rowCount, 1);
  const body = logsOf([questionRecord(ids, text)], "joining");
  const joined = send(service, { path: "/public/logs", body });
  await waiting(place, "update queue set due_at");
  const path = `/api/projects/${service.projectId}/erasures` as const;
  const confirmed = service.client.post(path, { text, confirm: 1 }).expect(409);
  const [refused] = await Promise.all([
    confirmed,
    waiting(place, "delete from waiting_records w").then(() => run.commit()),
  ]);
  assert.equal((await joined).status, 200);

  assert.equal(refused.body.code, "CONFLICT");
  assert.equal(
    refused.body.message,
    "2 traces match by now, and 1 was confirmed. No trace was erased, at most log records that waited for their span.",
  );
  assert.deepEqual(
    refused.body.issues!.map((issue: { path: string }) => issue.path),
    ["confirm"],
  );
  const { items } = await service.client.read(path);
  const { state, matched, erased, error } = items[0]!;
  assert.deepEqual([state, matched, erased], ["failed", 2, 0]);
  assert.match(error!, /^No trace was erased, at most log records/);
  assert.equal((await eraseAll(erasing(), { text })).erasure.erased, 2);
});
