// A database of the release before gets all its keys, and ranges of batches, while traces are stored, and loses nothing.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { pino } from "pino";
import { KeyBuilder } from "../src/key-builder.ts";
import { backfillBatchAgents } from "../src/load/backfill.ts";
import { RangeKeeper } from "../src/range-keeper.ts";
import { openDatabase } from "../src/store/db.ts";
import { hasPendingKeys, settleSmallKeys } from "../src/store/keys.ts";
import { migrate } from "../src/store/migrate.ts";
import { isDivided } from "../src/store/ranges/catalog.ts";
import { loadBatches } from "../src/store/traces/batches.ts";
import { TraceWriter } from "../src/store/traces/writer.ts";
import { limits, otlpWrite } from "./store/traces/make-write.ts";
import { emptyDatabase, freshDatabase } from "./support/postgres.ts";

const log = pino({ level: "silent" });

/** Unique indexes and those of due runs by agent, checks of keys, and foreign keys, as the database says them. */
async function constraintsOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(
    `select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as text
       from pg_constraint where contype <> 'n' and connamespace = 'public'::regnamespace
     union all select indexdef from pg_indexes where schemaname = 'public'
       and (indexdef like '%UNIQUE%' or indexname like 'runs\\_%by\\_agent') order by 1`,
  );
  return rows.map(({ text }) => text);
}

test("a dump of the release before gets all its keys and ranges while traces are stored and merged, and loses nothing", async () => {
  const [old, fresh] = [await emptyDatabase(), await freshDatabase()];
  const client = new pg.Client(old.url);
  await client.connect();
  const dump = join(import.meta.dirname, "fixtures/upgrade/dump.sql.gz");
  await client.query(gunzipSync(readFileSync(dump)).toString());
  await client.query("set search_path to public"); // pg_dump empties it
  const counts = async () =>
    (
      await client.query<Record<string, number>>(
        `select (select count(*) from traces)::int as traces, (select count(*) from trace_batches)::int as batches,
           (select count(*) from runs)::int as runs, (select count(*) from judge_calls)::int as calls`,
      )
    ).rows[0]!;
  const before = await counts();
  assert.ok(before["batches"]! > 3 && before["runs"]! > 3 && before["calls"]! > 0, JSON.stringify(before));
  const { rows: known } = await client.query<{ id: string; agentId: string; externalId: string }>(
    `select id, agent_id as "agentId", external_id as "externalId" from traces where path = 'otlp' limit 3`,
  );
  const { rows: keys } = await client.query<{ id: string; projectId: string }>(
    `select id, project_id as "projectId" from keys limit 1`,
  );
  await migrate(old.url);
  await settleSmallKeys(old.url, log);

  const db = openDatabase(old.url);
  const writer = new TraceWriter(db, limits);
  const builder = new KeyBuilder({ db, directUrl: old.url, log, pauseMs: 20 });
  const keeper = new RangeKeeper({ db, directUrl: old.url, log, serverDays: null, pauseMs: 20 });
  const sender = { projectId: keys[0]!.projectId, keyId: keys[0]!.id, agentId: known[0]!.agentId };
  let written = 0;
  while ((await hasPendingKeys(db)) || !(await isDivided(db.pool))) {
    const externalId = `during-${written++}`;
    const merged = known[written % known.length]!;
    await Promise.all([
      writer.write(otlpWrite(sender, { externalId })),
      writer.write(
        otlpWrite(
          { ...sender, agentId: merged.agentId },
          { externalId: merged.externalId, spans: [`${written}`] },
        ),
      ),
      backfillBatchAgents(db),
    ]);
    await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
  }
  await Promise.all([builder.stop(), keeper.stop()]);
  assert.ok(written > 0);

  const { runs, calls, ...stored } = await counts();
  assert.deepEqual(stored, {
    traces: before["traces"]! + written,
    batches: before["batches"]! + 3 * written,
  });
  assert.ok(runs! >= before["runs"]! && calls === before["calls"]);
  const { loaded, left } = await loadBatches(
    db,
    known.map(({ id }) => id),
  );
  assert.deepEqual([loaded.size, left], [known.length, []]);
  const { rows: wrong } = await client.query(
    "select from trace_batches b join traces t on t.id = b.trace_id where b.agent_id <> t.agent_id",
  );
  assert.equal(wrong.length, 0);
  const { rows: unnamed } = await client.query(
    `select from traces t full join trace_identities i
       on i.agent_id = t.agent_id and i.external_id = t.external_id and i.trace_id = t.id
     where t.id is null or i.trace_id is null`,
  );
  assert.equal(unnamed.length, 0);
  const other = new pg.Client(fresh.url);
  await other.connect();
  assert.deepEqual(await constraintsOf(client), await constraintsOf(other));
  await Promise.all([client.end(), other.end(), db.close()]);
  await Promise.all([old.drop(), fresh.drop()]);
});
