// Batches in ranges of time: made ahead, whatever comes while one is missing, and dropped with what retention left in them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { eraseIdentities } from "../../../src/jobs/erase/identities.ts";
import { startJob } from "../../../src/jobs/job.ts";
import { ranges } from "../../../src/jobs/ranges.ts";
import { retain } from "../../../src/jobs/retain.ts";
import { deleteAgent } from "../../../src/store/accounts/agents.ts";
import { deleteProject } from "../../../src/store/accounts/projects.ts";
import { openRefill } from "../../../src/store/backup/refill.ts";
import { openSnapshot } from "../../../src/store/backup/snapshot.ts";
import { openDatabase } from "../../../src/store/db.ts";
import { idAt, oldest, timeOfId } from "../../../src/store/listing.ts";
import { prepareDatabase } from "../../../src/store/prepare.ts";
import { listRanges, nameFrom, type Range, rangeLengthMs } from "../../../src/store/ranges/catalog.ts";
import { joinRanges } from "../../../src/store/ranges/join.ts";
import { keepRanges } from "../../../src/store/ranges.ts";
import { loadBatches } from "../../../src/store/traces/batches.ts";
import { expireTraces } from "../../../src/store/traces/retention.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { deleteAllTraces } from "../../support/delete-all-traces.ts";
import { emptyDatabase, freshDatabase } from "../../support/postgres.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { limits, makeSender, otlpWrite } from "./make-write.ts";

const dayMs = 86_400_000;
const log = pino({ level: "silent" });
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

const open: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of open.toReversed()) await close();
});

/** A divided database of its own; `bounds`: the ends of its ranges, in days ago. */
async function makeDatabase(bounds?: number[]) {
  const database = await freshDatabase();
  open.push(() => database.drop());
  const db = openDatabase(database.url);
  open.push(() => db.close());
  if (bounds) {
    await db.pool.query("drop table trace_batches_first");
    let from = "minvalue";
    for (const [at, days] of bounds.entries()) {
      const to = `'${idAt(daysAgo(days).getTime())}'`;
      await db.pool.query(
        `create table batches_${at} partition of trace_batches for values from (${from}) to (${to})`,
      );
      from = to;
    }
  }
  const keep = (serverDays: number | null) =>
    keepRanges(database.url, { serverDays, log, signal: new AbortController().signal });
  const ranges = () => listRanges(db.pool);
  const names = async () => (await ranges()).map(({ name }) => name);
  const count = async (table: string) => (await db.pool.query(`select from ${table}`)).rowCount;
  return { url: database.url, db, keep, ranges, names, count };
}

type Made = Awaited<ReturnType<typeof makeDatabase>>;

/** A trace of that time with one batch. */
async function storeOld({ db }: Made, agentId: string, days: number, resourceId: string | null = null) {
  const id = await storeTrace(db, agentId, { receivedAt: daysAgo(days), run: { state: "completed" } });
  await db.pool.query(
    `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, spans, resource_id)
     values ($1, $2, 1, 10, '', 'spans', $3)`,
    [agentId, id, resourceId],
  );
  return id;
}

function assertGapless(ranges: Range[]): void {
  for (const [at, { from }] of ranges.entries()) if (at > 0) assert.equal(from, ranges[at - 1]!.to);
}

test("ranges are an eighth of the retention time, at least a day, else a quarter of a year, and reach days ahead", async () => {
  for (const [serverDays, days] of [
    [null, 91],
    [1, 1],
    [15, 1],
    [30, 3],
    [365, 45],
  ] as const) {
    assert.equal(rangeLengthMs(serverDays), days * dayMs, `${serverDays}`);
    const { keep, ranges } = await makeDatabase([0.5]);
    await keep(serverDays);
    await keep(serverDays);
    const [, ...made] = await ranges();
    assertGapless(await ranges());
    assert.ok(timeOfId(made.at(-1)!.to) >= Date.now() + 3 * dayMs);
    for (const { from, to } of made) assert.equal(timeOfId(to) - timeOfId(from), days * dayMs);
  }
});

test("a new database has one range, up to some days ahead", async () => {
  const { keep, ranges, names } = await makeDatabase();
  const [first] = await ranges();
  assert.equal(first!.from, oldest);
  assert.ok(timeOfId(first!.to) >= Date.now() + 3 * dayMs);
  await keep(null);
  assert.deepEqual(await names(), ["trace_batches_first"]);
});

test("batches on both sides of a bound are stored, merged and read", async () => {
  const made = await makeDatabase([0.0001]);
  await made.keep(8);
  const sender = await makeSender(made.db);
  const [, range] = await made.ranges();
  const writer = new TraceWriter(made.db, limits);
  // Within the ten minutes by which clocks may differ.
  const below = idAt(timeOfId(range!.from)).replace(/.$/, "0");
  const writes = [below, `${idAt(timeOfId(below) - 1).slice(0, -12)}ffffffffffff`].map(traceId => ({
    ...otlpWrite(sender, { spans: ["a"] }),
    traceId,
  }));
  for (const write of writes) assert.equal((await writer.write(write)).state, "created");
  for (const { externalId } of writes) {
    const merged = await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    assert.equal(merged.state, "merged");
    const again = await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    assert.equal(again.revision, 2, "a repetition is found");
  }
  const ids = writes.map(({ traceId }) => traceId);
  const { loaded } = await loadBatches(made.db, ids);
  assert.deepEqual(
    ids.map(id => loaded.get(id)?.batches.length),
    [2, 2],
  );
  assert.deepEqual([await made.count("batches_0"), await made.count(range!.name)], [2, 2]);
});

test("what comes while a range is missing is stored, and becomes a range of its own while more comes", async () => {
  const made = await makeDatabase([1]);
  const sender = await makeSender(made.db);
  const writer = new TraceWriter(made.db, limits);
  await writer.write(otlpWrite(sender));
  assert.equal(await made.count("trace_batches_rest"), 1);
  let kept = false;
  const keeping = made.keep(30).then(() => (kept = true));
  let written = 1;
  while (!kept) {
    await writer.write(otlpWrite(sender));
    written++;
  }
  await keeping;
  await writer.write(otlpWrite(sender));
  assert.deepEqual(
    [await made.count("trace_batches_rest"), await made.count("trace_batches")],
    [0, written + 1],
  );
  assertGapless(await made.ranges());
  assert.ok((await made.names()).length >= 2);
});

test("a range goes once no trace is left in it, with the resources of nothing else; identities stay", async () => {
  const made = await makeDatabase([20, 10, -5]);
  const { db, keep, names, count } = made;
  const { agentId } = await makeSender(db);
  const [own, shared] = [randomUUID(), randomUUID()];
  for (const id of [own, shared])
    await db.pool.query("insert into shared_resources (agent_id, id, resource) values ($1, $2, 'r')", [
      agentId,
      id,
    ]);
  for (const days of [30, 25, 15]) await storeOld(made, agentId, days, own);
  await storeOld(made, agentId, 15, shared);
  const left = await storeOld(made, agentId, 5, shared);
  await keep(8);
  assert.deepEqual((await names()).slice(0, 3), ["batches_0", "batches_1", "batches_2"], "traces are left");

  assert.equal(await expireTraces(db, agentId, { serverDays: 8, tracesMax: 2 }), 2);
  assert.equal(await count("batches_0"), 2, "its batches are left to the drop");
  await keep(8);
  assert.deepEqual((await names()).slice(0, 2), ["batches_1", "batches_2"]);
  assert.equal(await expireTraces(db, agentId, { serverDays: 8, tracesMax: 100 }), 2);
  await keep(8);
  assert.equal((await names())[0], "batches_2");
  assert.deepEqual((await db.pool.query("select trace_id from trace_batches")).rows, [{ trace_id: left }]);
  assert.deepEqual((await db.pool.query("select id from shared_resources")).rows, [{ id: shared }]);
  assert.deepEqual([await count("traces"), await count("runs")], [1, 1]);
  assert.equal(await count("trace_identities"), 5);
  assert.equal(await count("range_drops"), 0);
  // Rows of other ages are deleted with their traces, as before.
  await deleteAllTraces(db);
  assert.deepEqual([await count("trace_batches"), await count("shared_resources")], [0, 0]);
});

test("batches of the range that is being emptied are left to its drop, unless it ends much later", async () => {
  for (const [ends, leaves] of [
    [7.5, true],
    [6, false],
    [-5, false],
  ] as const) {
    const made = await makeDatabase(ends === -5 ? [-5] : [20, ends, -5]);
    const { agentId } = await makeSender(made.db);
    await storeOld(made, agentId, 8.5);
    await made.keep(8);
    assert.equal(await expireTraces(made.db, agentId, { serverDays: 8, tracesMax: 9 }), 1);
    await made.keep(8);
    assert.equal(await made.count("trace_batches"), leaves ? 1 : 0, `${ends}`);
    assert.equal((await made.names()).includes("batches_1"), ends !== -5);
  }
});

test("a project's own, shorter time deletes batches with their traces, also from a range that is being emptied", async () => {
  const made = await makeDatabase([20, 7.5, -5]);
  const { agentId, projectId } = await makeSender(made.db);
  await made.db.pool.query("update projects set retention_days = 7 where id = $1", [projectId]);
  await storeOld(made, agentId, 7.8);
  await made.keep(8);
  assert.equal(await made.count("range_drops"), 1);
  assert.equal(await expireTraces(made.db, agentId, { serverDays: 8, tracesMax: 9 }), 1);
  assert.equal(await made.count("trace_batches"), 0);
});

test("joining the ranges deletes what retention left to their drop, and nothing else", async () => {
  const made = await makeDatabase([20, 7.5, -5]);
  const { agentId } = await makeSender(made.db);
  await storeOld(made, agentId, 8.5);
  const kept = await storeOld(made, agentId, 3);
  await made.keep(8);
  assert.equal(await expireTraces(made.db, agentId, { serverDays: 8, tracesMax: 9 }), 1);
  assert.equal(await made.count("trace_batches"), 2);
  await joinRanges(made.db.pool);
  const { rows } = await made.db.pool.query("select trace_id from trace_batches");
  assert.deepEqual(rows, [{ trace_id: kept }]);
  assert.equal(await made.count("range_drops"), 0);
});

test("a start drops a check whose bound has passed, which a stopped process left and which would refuse every trace", async () => {
  for (const [days, isDropped] of [
    [1, true],
    [-10, false],
  ] as const) {
    const { url, db } = await makeDatabase([30]);
    const bound = idAt(daysAgo(days).getTime());
    await db.pool.query(
      `alter table trace_batches_rest add constraint trace_batches_bounds
         check (trace_id >= '${oldest}' and trace_id < '${bound}') not valid`,
    );
    const writer = new TraceWriter(db, limits);
    const sender = await makeSender(db);
    if (isDropped) await assert.rejects(writer.write(otlpWrite(sender)), { code: "23514" });
    await prepareDatabase({ url, directUrl: url, pooled: false }, log);
    assert.equal((await writer.write(otlpWrite(sender))).state, "created");
    const { rows } = await db.pool.query(
      "select from pg_constraint where conrelid = 'trace_batches_rest'::regclass and conname = 'trace_batches_bounds'",
    );
    assert.equal(rows.length, isDropped ? 0 : 1);
  }
});

test("an erasure takes along what is left of traces that are gone", async () => {
  const made = await makeDatabase([20, 7.5, -5]);
  const { db } = made;
  const { agentId, projectId } = await makeSender(db);
  await storeOld(made, agentId, 8.5);
  const left = await storeOld(made, agentId, 5);
  await made.keep(8);
  await expireTraces(db, agentId, { serverDays: 8, tracesMax: 9 });
  assert.equal(await made.count("trace_batches"), 2);
  const criterion = { kind: "userId" as const, values: ["u1"] };
  let cursor: string | null = null;
  do {
    cursor = await eraseIdentities(db, { projectId, criterion, cursor }, new AbortController().signal);
  } while (cursor !== null);
  assert.deepEqual((await db.pool.query("select trace_id from trace_batches")).rows, [{ trace_id: left }]);
  assert.equal(await made.count("trace_identities"), 2);
});

test("the deletion of an agent or a project takes along what is left of its traces that are gone", async () => {
  for (const remove of [deleteAgent, deleteProject]) {
    const made = await makeDatabase([20, 7.5, -5]);
    const { db } = made;
    const [deleted, other] = [await makeSender(db), await makeSender(db)];
    const left: string[] = [];
    for (const { agentId } of [deleted, other]) {
      for (const days of [8.5, 3]) {
        const id = await storeOld(made, agentId, days);
        if (agentId === other.agentId) left.push(id);
      }
    }
    await made.keep(8);
    for (const { agentId } of [deleted, other]) {
      assert.equal(await expireTraces(db, agentId, { serverDays: 8, tracesMax: 9 }), 1);
    }
    assert.equal(await made.count("trace_batches"), 4);
    await remove(db, remove === deleteAgent ? deleted.agentId : deleted.projectId);
    const { rows } = await db.pool.query("select trace_id from trace_batches order by trace_id");
    assert.deepEqual(
      rows.map(row => row.trace_id),
      left,
    );
    assert.equal(await made.count("trace_identities"), 2);
  }
});

test("a retention time that becomes longer keeps a range, and what deletions left in it of gone traces goes", async () => {
  for (const serverDays of [null, 60]) {
    const made = await makeDatabase([20, -5]);
    const { db, keep, names } = made;
    const { agentId } = await makeSender(db);
    await storeOld(made, agentId, 30);
    const left = await storeOld(made, agentId, 25);
    await keep(8);
    assert.equal(await expireTraces(db, agentId, { serverDays: 8, tracesMax: 1 }), 1);
    assert.equal(await made.count("trace_batches"), 2);
    await keep(serverDays);
    assert.equal((await names())[0], "batches_0");
    assert.deepEqual((await db.pool.query("select trace_id from trace_batches")).rows, [{ trace_id: left }]);
    await db.pool.query("update projects set retention_days = 8");
    assert.equal(await expireTraces(db, agentId, { serverDays: null, tracesMax: 1 }), 1);
    assert.equal(await made.count("trace_batches"), 0);
  }
});

test("a reader of batches holds up a drop, but no request", async () => {
  const made = await makeDatabase([20, -5]);
  const { db, keep, names } = made;
  const sender = await makeSender(db);
  await storeOld(made, sender.agentId, 30);
  await keep(8);
  assert.equal(await expireTraces(db, sender.agentId, { serverDays: 8, tracesMax: 1 }), 1);
  const reader = new pg.Client(made.url);
  await reader.connect();
  await reader.query("begin; lock table trace_batches in access share mode");
  const keeping = keep(8);
  const writer = new TraceWriter(db, limits);
  const begun = Date.now();
  for (let at = 0; at < 20 || Date.now() < begun + 500; at++)
    assert.equal((await writer.write(otlpWrite(sender))).state, "created");
  assert.equal((await names())[0], "batches_0");
  await reader.query("commit");
  await reader.end();
  await keeping;
  assert.equal((await names())[0], "batches_1");
});

test("in the background, old traces go with their range while others are stored, and nothing of those is lost", async () => {
  const made = await makeDatabase([20, 10, -5]);
  const { db, names, count } = made;
  const sender = await makeSender(db);
  for (let at = 0; at < 60; at++) await storeOld(made, sender.agentId, at % 2 ? 30 : 15);
  await made.keep(8);
  const deps = { db, log, serverDays: 8, directUrl: made.url };
  let deleted = 0;
  const jobs = [retain({ ...deps, onDeleted: traces => (deleted += traces) }), ranges(deps)].map(job =>
    startJob({ ...job, everyMs: 10 }, deps),
  );
  const writer = new TraceWriter(db, limits);
  let written = 0;
  for (const begun = Date.now(); (await names())[0] !== "batches_2"; written++) {
    assert.ok(Date.now() < begun + 60_000, "the ranges are dropped");
    assert.equal((await writer.write(otlpWrite(sender))).state, "created");
  }
  await Promise.all(jobs.map(job => job.stop()));
  assert.deepEqual(
    [deleted, await count("traces"), await count("trace_batches"), await count("trace_identities")],
    [60, written, written, 60 + written],
  );
});

test("a backup has the ranges", async () => {
  const made = await makeDatabase([20, -5]);
  const { agentId } = await makeSender(made.db);
  const ids = [await storeOld(made, agentId, 30), await storeOld(made, agentId, 5)];
  const into = await emptyDatabase();
  open.push(() => into.drop());
  await restore(made.url, into.url);
  const db = openDatabase(into.url);
  open.push(() => db.close());
  // Named as the service names them, whatever they were called.
  const named = (await made.ranges()).map(range => ({ ...range, name: nameFrom(range.from) }));
  assert.deepEqual(await listRanges(db.pool), named);
  const { rows } = await db.pool.query("select trace_id from trace_batches order by 1");
  assert.deepEqual(
    rows.map(row => row.trace_id),
    ids,
  );
  const { rows: options } = await db.pool.query(
    "select relname from pg_class where relname ~ '^(trace_)?batches[^.]*$' and relkind = 'r' and reloptions is null",
  );
  assert.deepEqual(options, []);
  await deleteAllTraces(db);
  assert.equal((await db.pool.query("select from trace_batches")).rowCount, 0);
});

/** Fills an empty database with a backup of another. */
async function restore(from: string, into: string): Promise<void> {
  const snapshot = await openSnapshot(from);
  const refill = await openRefill(into, snapshot);
  for (const table of snapshot.tables) {
    const rows: Buffer[] = [];
    await snapshot.read(table, async some => void rows.push(some));
    await refill.fill(table, Readable.from(rows));
  }
  await refill.commit();
  await Promise.all([snapshot.close(), refill.close()]);
}

test("a check that was left on what is in no range is replaced when its bound is near", async () => {
  const made = await makeDatabase([30]);
  const { agentId } = await makeSender(made.db);
  await storeOld(made, agentId, 1);
  const near = idAt(Date.now() + 6 * dayMs);
  await made.db.pool.query(
    `alter table trace_batches_rest add constraint trace_batches_bounds
       check (trace_id >= '${oldest}' and trace_id < '${near}') not valid`,
  );
  await made.keep(null);
  const [, second] = await made.ranges();
  assert.ok(timeOfId(second!.to) >= Date.now() + 14 * dayMs);
  const { rows } = await made.db.pool.query(
    "select conname from pg_constraint where conname = 'trace_batches_bounds'",
  );
  assert.deepEqual(rows, []);
});
