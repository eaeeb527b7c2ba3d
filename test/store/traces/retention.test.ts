// Retention: which traces are deleted, what stays, and that a changed setting counts from its answer on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startJob } from "../../../src/jobs/job.ts";
import { type RetainDeps, retain } from "../../../src/jobs/retain.ts";
import { openLog } from "../../../src/log.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import type { Database } from "../../../src/store/db.ts";
import { deleteTracesOf } from "../../../src/store/delete-traces.ts";
import { holdLease, releaseLease } from "../../../src/store/leases.ts";
import { idAt } from "../../../src/store/listing.ts";
import { expireTraces, listAgentsToExpire, saveRetention } from "../../../src/store/traces/retention.ts";
import { eventually } from "../../support/eventually.ts";
import { failStatements } from "../../support/failing-trigger.ts";
import { makeAgentRow, makeProject } from "../../support/rows.ts";
import { storeTrace, storeTraces } from "../../support/stored-traces.ts";
import { begun } from "../locks.ts";
import { openTwice } from "./make-write.ts";

let db: Database;
let other: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, other, close } = await openTwice());
});
after(() => close());

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);
const log = openLog("silent", { write: () => {} });

async function makeAgentWith(days: number | null): Promise<{ projectId: string; agentId: string }> {
  const projectId = await makeProject(db);
  await saveRetention(db, projectId, days);
  return { projectId, agentId: await makeAgentRow(db, { projectId }) };
}

async function left(table: string, agentId: string): Promise<number> {
  const { rows } = await db.pool.query(`select from ${table} where agent_id = $1`, [agentId]);
  return rows.length;
}

const limits = { serverDays: null, tracesMax: 100 };
const isToExpire = async (agentId: string, serverDays: number | null) =>
  (await listAgentsToExpire(db, serverDays)).some(({ id }) => id === agentId);

test("the shorter of the project's and the server's time counts, by the arrival of a trace", async () => {
  const cases: [own: number | null, serverDays: number | null, kept: number[]][] = [
    [null, null, [1, 6, 8, 29, 31]],
    [7, null, [1, 6]],
    [30, null, [1, 6, 8, 29]],
    [null, 30, [1, 6, 8, 29]],
    [7, 30, [1, 6]],
    [30, 7, [1, 6]],
  ];
  for (const [own, serverDays, kept] of cases) {
    const { agentId } = await makeAgentWith(own);
    const ids = new Map<string, number>();
    for (const age of [1, 6, 8, 29, 31]) {
      ids.set(await storeTrace(db, agentId, { receivedAt: daysAgo(age), run: { state: "completed" } }), age);
    }
    const name = `own ${own}, server ${serverDays}`;
    assert.equal(await isToExpire(agentId, serverDays), kept.length < 5, name);
    assert.equal(await expireTraces(db, agentId, { serverDays, tracesMax: 100 }), 5 - kept.length, name);
    const { rows } = await db.pool.query("select id from traces where agent_id = $1 order by id desc", [
      agentId,
    ]);
    assert.deepEqual(
      rows.map(({ id }) => ids.get(id)),
      kept,
      name,
    );
    assert.equal(await left("runs", agentId), kept.length, name);
    assert.equal(await isToExpire(agentId, serverDays), false, name);
    await deleteTracesOf(db, [agentId]);
  }
});

test("the oldest are deleted first, a few at a time, and one that somebody changes is left", async () => {
  const { agentId } = await makeAgentWith(5);
  const ids: string[] = [];
  for (const age of [10, 9, 8, 7]) ids.push(await storeTrace(db, agentId, { receivedAt: daysAgo(age) }));
  const client = await begun(await placeOf(other, agentId));
  await client.query("select from traces where id = $1 for update", [ids[1]]);
  assert.equal(await expireTraces(db, agentId, { serverDays: null, tracesMax: 2 }), 2);
  const { rows } = await db.pool.query("select id from traces where agent_id = $1 order by id", [agentId]);
  assert.deepEqual(
    rows.map(({ id }) => id),
    [ids[1], ids[3]],
  );
  await client.rollback();
  assert.equal(await expireTraces(db, agentId, limits), 2);
});

test("the values of a minute and of an hour go once no trace is left in them", async () => {
  const { agentId } = await makeAgentWith(5);
  const { pool } = await placeOf(db, agentId);
  const hour = Math.floor(daysAgo(10).getTime() / 3_600_000) * 60;
  // Two traces in the tenth minute of an hour, one in the twentieth, and one in the next hour.
  const ids: string[] = [];
  for (const minute of [10, 10.5, 20, 70])
    ids.push(await storeTrace(db, agentId, { receivedAt: new Date((hour + minute) * 60_000) }));
  for (const [kind, minute] of [
    ["tool", 10],
    ["model", 10],
    ["tool", 20],
    ["outcome", 0],
    ["version", 0],
    ["tool", 70],
    ["outcome", 60],
  ] as const)
    await pool.query("insert into trace_values (agent_id, kind, value, minute) values ($1, $2, 'one', $3)", [
      agentId,
      kind,
      hour + minute,
    ]);
  const values = async () => {
    const { rows } = await pool.query<{ text: string }>(
      "select kind || ' ' || minute - $2::int as text from trace_values where agent_id = $1 order by minute, kind",
      [agentId, hour],
    );
    return rows.map(({ text }) => text);
  };
  const client = await begun(await placeOf(other, agentId));
  await client.query("select from traces where id = $1 for update", [ids[1]]);
  assert.equal(await expireTraces(db, agentId, { serverDays: null, tracesMax: 2 }), 2);
  assert.deepEqual(await values(), [
    "outcome 0",
    "version 0",
    "model 10",
    "tool 10",
    "outcome 60",
    "tool 70",
  ]);
  await client.rollback();
  assert.equal(await expireTraces(db, agentId, { serverDays: null, tracesMax: 1 }), 1);
  assert.deepEqual(await values(), ["outcome 60", "tool 70"]);
  assert.equal(await expireTraces(db, agentId, limits), 1);
  assert.deepEqual(await values(), []);
});

test("a trace that the wrong clock of a process made old is kept", async () => {
  const { agentId } = await makeAgentWith(5);
  const id = await storeTrace(db, agentId, { receivedAt: daysAgo(400) });
  await db.pool.query("update traces set received_at = now() where id = $1", [id]);
  assert.equal(await isToExpire(agentId, null), false);
  assert.equal(await expireTraces(db, agentId, limits), 0);
  await db.pool.query("update traces set received_at = now() - interval '6 days' where id = $1", [id]);
  assert.equal(await expireTraces(db, agentId, limits), 1);
});

test("a longer time waits for the deletion in progress, and nothing is deleted by the former one after it", async () => {
  const { projectId, agentId } = await makeAgentWith(5);
  await storeTrace(db, agentId, { receivedAt: daysAgo(6) });
  // Holds up the deletion in its transaction, after the setting was read.
  const place = await placeOf(other, agentId);
  const client = await begun(place);
  await client.query("lock table runs in access exclusive mode");
  const deleting = expireTraces(db, agentId, limits);
  const waiting =
    "select from pg_locks where not granted and locktype = $1 and database = (select oid from pg_database where datname = current_database())";
  await eventually(async () => assert.equal((await place.pool.query(waiting, ["relation"])).rowCount, 1));
  let saved = false;
  const saving = saveRetention(other, projectId, null).then(() => {
    saved = true;
  });
  const blocked = "select from pg_locks where not granted and locktype in ('transactionid', 'tuple')";
  await eventually(async () => assert.notEqual((await place.pool.query(blocked)).rowCount, 0));
  assert.equal(saved, false);
  await client.rollback();
  assert.equal(await deleting, 1);
  await saving;
  await storeTrace(db, agentId, { receivedAt: daysAgo(6) });
  assert.equal(await expireTraces(db, agentId, limits), 0);
});

test("in the background, all old traces of all agents go, the counts stay, and a process waits for the lease of another", async () => {
  const twoDaysAgo = daysAgo(2);
  const [one, two] = [await makeAgentWith(1), await makeAgentWith(1)];
  for (const { agentId } of [one, two]) {
    await storeTraces(db, agentId, 150);
    const { rows } = await db.pool.query("select id from traces where agent_id = $1 order by id limit 120", [
      agentId,
    ]);
    const old = rows.map(({ id }) => id);
    for (const [table, column] of [
      ["runs", "trace_id"],
      ["traces", "id"],
    ]) {
      await (await placeOf(db, agentId)).pool.query(
        `update ${table} set ${column} = id_at($2, ${column}) where ${column} = any ($1::uuid[])`,
        [old, twoDaysAgo],
      );
    }
    await db.pool.query("update traces set received_at = $2 where agent_id = $1 and id < $3", [
      agentId,
      twoDaysAgo,
      idAt(daysAgo(1).getTime()),
    ]);
    await db.pool.query(
      `insert into agent_hours (agent_id, hour, runs, passed, failed, skipped, missing_instrumentation, routing_unavailable,
         input_tokens, output_tokens, durations) values ($1, '2026-01-01', 120, 120, 0, 0, 0, 0, 0, 0, '{}')`,
      [agentId],
    );
  }
  const lease = { name: "retain", holder: one.agentId };
  assert.equal(await holdLease(db, lease, 60_000), true);
  let deleted = 0;
  const onDeleted = (count: number) => {
    deleted += count;
  };
  const processes = [retaining({ db, onDeleted }), retaining({ db: other, onDeleted })];
  const asked =
    "select from pg_stat_activity where datname = current_database() and query like 'insert into leases%'";
  await eventually(async () => assert.notEqual((await db.pool.query(asked)).rowCount, 0));
  assert.equal(deleted, 0, "another process has the lease");
  await releaseLease(db, lease);
  await eventually(() => assert.equal(deleted, 240));
  await Promise.all(processes.map(process => process.stop()));
  for (const { agentId } of [one, two]) {
    assert.deepEqual([await left("traces", agentId), await left("runs", agentId)], [30, 30]);
    assert.equal(await left("agent_hours", agentId), 1);
  }
});

function retaining(deps: Omit<RetainDeps, "serverDays">) {
  return startJob({ ...retain({ ...deps, serverDays: null }), everyMs: 10 }, { ...deps, log });
}

/** Deletes in the background until an agent has no traces left. */
async function untilNoneLeft(agentId: string): Promise<void> {
  const retention = retaining({ db });
  try {
    await eventually(async () => assert.equal(await left("traces", agentId), 0));
  } finally {
    await retention.stop();
  }
}

test("traces that cannot be deleted do not keep those of other agents", async () => {
  const agents = [await makeAgentWith(1), await makeAgentWith(1)].map(({ agentId }) => agentId);
  agents.sort((a, b) => (a < b ? -1 : 1));
  for (const agentId of agents) await storeTrace(db, agentId, { receivedAt: daysAgo(2) });
  const repair = await failStatements(db, agents[0]!, {
    ...{ table: "traces", when: "before delete", raise: "'damaged'" },
  });
  await untilNoneLeft(agents[1]!);
  assert.equal(await left("traces", agents[0]!), 1);
  await repair();
  await untilNoneLeft(agents[0]!);
});

test("where as many traces as before cannot be deleted at once, such as within the timeout, fewer are", async () => {
  const { agentId } = await makeAgentWith(1);
  for (let count = 0; count < 12; count++) await storeTrace(db, agentId, { receivedAt: daysAgo(2) });
  const rows = "coalesce(nullif(current_setting('test.rows', true), ''), '0')::int + 1";
  const repair = await failStatements(db, agentId, {
    ...{ table: "traces", when: "before delete", raise: "'too slow' using errcode = '57014'" },
    unless: `set_config('test.rows', (${rows})::text, true)::int <= 5`,
  });
  await untilNoneLeft(agentId);
  await repair();
});
