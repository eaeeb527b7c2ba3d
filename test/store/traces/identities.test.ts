// Identities of traces: what stays of a trace whose retention time is over, what goes with a deletion, and lookups while old
// ones are filled.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { eraseIdentities } from "../../../src/eraser/identities.ts";
import { type Database, openDatabase } from "../../../src/store/db.ts";
import { hasPendingKeys, settleLargeKeys, settleSmallKeys } from "../../../src/store/keys.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { expireTraces, saveRetention } from "../../../src/store/traces/retention.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { emptyDatabase } from "../../support/postgres.ts";
import { makeScratch } from "../../support/scratch.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { begun, waiting } from "../locks.ts";
import { migrationsBefore, restore } from "../upgrades.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite, type Sender } from "./make-write.ts";

const log = pino({ level: "silent" });
const scratch = makeScratch();
let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTwice());
});
after(async () => {
  await close();
  rmSync(scratch, { recursive: true, force: true });
});

const old = new Date(Date.now() - 6 * 86_400_000);
const expiry = { serverDays: 5, tracesMax: 100 };

async function identitiesOf(of: Database, agentId: string): Promise<string[]> {
  const { rows } = await of.pool.query<{ name: string }>(
    `select external_id as name from trace_identities where agent_id = $1 order by external_id collate "C"`,
    [agentId],
  );
  return rows.map(({ name }) => name);
}

const tracesOf = async (of: Database, agentId: string) =>
  (await of.pool.query("select from traces where agent_id = $1", [agentId])).rowCount;

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
  for (const table of ["traces", "trace_batches", "runs"]) {
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
  await db.pool.query("delete from traces where id = $1", [traceId]);
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

/** A database of the version before, with traces that have no identities yet. */
async function before044(names: string[]): Promise<{ url: string; drop(): Promise<void>; sender: Sender }> {
  const database = await emptyDatabase();
  await migrate(database.url, migrationsBefore("044", scratch));
  const opened = openDatabase(database.url);
  const sender = await makeSender(opened);
  for (const [at, name] of names.entries()) {
    await opened.pool.query(
      `insert into traces (id, agent_id, external_id, kind, path, received_at, batch_spans, batch_bytes,
         derived_revision, name, failed, span_count)
       select id_at(at, gen_random_uuid()), $1, $2, 'live', 'otlp', at, 1, 1, 1, 'n', false, 1
       from (select now() - $3::int * interval '1 day' as at) made`,
      [sender.agentId, name, names.length - at],
    );
  }
  await opened.close();
  await migrate(database.url);
  await settleSmallKeys(database.url, log);
  return { ...database, sender };
}

const settle = (url: string) => settleLargeKeys(url, log, new AbortController().signal);

test("while old identities are filled, lookups are right: merged, deleted, expired, new", async () => {
  const { url, drop, sender } = await before044(["old", "expired", "deleted", "merged"]);
  const opened = openDatabase(url);
  const writer = new TraceWriter(opened, limits);
  const { agentId } = sender;
  const write = (externalId: string) => writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
  assert.deepEqual(await identitiesOf(opened, agentId), []);
  assert.equal((await write("merged")).state, "merged");
  assert.equal((await write("new")).state, "created");
  await opened.pool.query("delete from traces where external_id = 'deleted'");
  assert.equal((await write("deleted")).state, "created");
  await saveRetention(opened, sender.projectId, 2);
  assert.equal(await expireTraces(opened, agentId, { serverDays: null, tracesMax: 100 }), 2);
  assert.equal((await write("expired")).evaluation, "none");
  assert.deepEqual(await identitiesOf(opened, agentId), ["deleted", "expired", "new", "old"]);

  // Somebody deletes a trace that is being filled.
  const deleting = await begun(opened);
  await deleting.query("delete from traces where external_id = $1", ["merged"]);
  const settling = settle(url);
  await waiting(opened, "newest as materialized");
  await deleting.commit();
  assert.equal(await settling, true);
  assert.equal(await hasPendingKeys(opened), false);
  assert.deepEqual(await identitiesOf(opened, agentId), ["deleted", "expired", "new", "old"]);
  assert.equal((await write("merged")).state, "created");
  for (const name of ["old", "expired", "deleted", "new", "merged"])
    assert.equal((await write(name)).state, "merged", name);
  assert.equal(await tracesOf(opened, agentId), 3);
  const { rowCount } = await opened.pool.query("select from pg_constraint where conname = 'traces_identity'");
  assert.equal(rowCount, 0);
  await opened.close();
  await drop();
});

test("a backup that was made while old identities were filled is restored with all of them", async () => {
  const { url, drop, sender } = await before044(["one", "two"]);
  const into = await emptyDatabase();
  await restore(url, into.url);
  const restored = openDatabase(into.url);
  assert.deepEqual(await identitiesOf(restored, sender.agentId), ["one", "two"]);
  const writer = new TraceWriter(restored, limits);
  assert.equal((await writer.write(otlpWrite(sender, { externalId: "one" }))).state, "merged");
  const { rowCount } = await restored.pool.query("select from backfills where name = 'trace_identities'");
  assert.equal(rowCount, 0);
  await restored.close();
  await Promise.all([drop(), into.drop()]);
});
